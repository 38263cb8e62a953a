"""The `approvals` table: what waits for a person, what was decided, and by whom.

Each row is decided once: the statement that decides it holds only for a pending one.
"""

import json
import sqlite3
from datetime import datetime
from typing import Any

from inglenook.errors import NotFound
from inglenook.store.base import AlreadyDecided, ApprovalRow, ApprovalStatus
from inglenook.store.columns import stamp, storable

_COLUMNS = (
    "run_id, call_id, root_id, request, status, sha256, created_at, expires_at, decided_at, "
    "arguments, by"
)
_LATE: frozenset[ApprovalStatus] = frozenset({"timed_out", "expired"})
"""What a call may still become when its time has run out."""


def ask(db: sqlite3.Connection, row: ApprovalRow) -> ApprovalRow:
    db.execute(
        f"INSERT OR IGNORE INTO approvals ({_COLUMNS})"  # noqa: S608 (a constant)
        " SELECT ?, ?, ?, ?, CASE WHEN EXISTS"
        " (SELECT 1 FROM runs WHERE id = ? AND finished_at IS NULL)"
        " THEN 'pending' ELSE 'expired' END, ?, ?, ?, NULL, NULL, NULL",
        (
            row.run_id, row.call_id, row.root_id, json.dumps(row.request), row.run_id, row.sha256,
            stamp(row.created_at), stamp(row.expires_at),
        ),
    )  # fmt: skip
    stored = find(db, row.run_id, row.call_id)
    assert stored is not None, "it was there already or is now"
    return stored


def find(db: sqlite3.Connection, run_id: str, call_id: str) -> ApprovalRow | None:
    found = db.execute(
        f"SELECT {_COLUMNS} FROM approvals WHERE run_id = ? AND call_id = ?",  # noqa: S608
        (run_id, call_id),
    ).fetchone()
    return _row(found) if found else None


def listed(
    db: sqlite3.Connection,
    *,
    status: ApprovalStatus | None,
    root_id: str | None,
    user: str | None,
) -> list[ApprovalRow]:
    where, values = ["1"], list[Any]()
    for condition, value in (
        ("status = ?", status),
        ("root_id = ?", root_id),
        ("root_id IN (SELECT id FROM runs WHERE user = ?)", user),
    ):
        if value is not None:
            where.append(condition)
            values.append(value)
    found = db.execute(
        f"SELECT {_COLUMNS} FROM approvals WHERE {' AND '.join(where)}"  # noqa: S608 (constants)
        " ORDER BY created_at, run_id, call_id",
        values,
    )
    return [_row(values) for values in found]


def due(db: sqlite3.Connection, now: datetime) -> list[ApprovalRow]:
    found = db.execute(
        f"SELECT {_COLUMNS} FROM approvals"  # noqa: S608 (a constant)
        " WHERE status = 'pending' AND expires_at <= ? ORDER BY expires_at",
        (stamp(now),),
    )
    return [_row(values) for values in found]


def decide(
    db: sqlite3.Connection,
    run_id: str,
    call_id: str,
    *,
    status: ApprovalStatus,
    arguments: dict[str, object] | None,
    by: str | None,
    now: datetime,
) -> ApprovalRow:
    """
    Raises:
        AlreadyDecided: It is not pending any more, or its time has run out.
        NotFound: Nobody asked for it.
    """
    at = stamp(now)
    decided = db.execute(
        "UPDATE approvals SET status = ?, arguments = ?, by = ?, decided_at = ?"  # noqa: S608
        " WHERE run_id = ? AND call_id = ? AND status = 'pending' AND (? OR expires_at > ?)"
        f" RETURNING {_COLUMNS}",
        (
            status, None if arguments is None else json.dumps(arguments), by and storable(by), at,
            run_id, call_id, status in _LATE, at,
        ),
    ).fetchone()  # fmt: skip
    if decided is not None:
        return _row(decided)
    present = find(db, run_id, call_id)
    if present is None:
        raise NotFound(f"run {run_id!r} has no call {call_id!r} that waits for an approval")
    raise AlreadyDecided(present)


def expire(db: sqlite3.Connection, run_id: str, at: str) -> None:
    """The run ended before anybody decided on its calls, or on those of its children."""
    db.execute(
        "UPDATE approvals SET status = 'expired', decided_at = ?1"
        " WHERE (run_id = ?2 OR root_id = ?2) AND status = 'pending'",
        (at, run_id),
    )


def erase_words(db: sqlite3.Connection, run_id: str) -> None:
    """Take what was to be sent, and what a person made of it, off a run's and its children's rows.

    The digest goes too: what is short could be guessed from it.
    """
    db.execute(
        "UPDATE approvals SET request = '{}', arguments = NULL, sha256 = ''"
        " WHERE run_id IN (SELECT id FROM runs WHERE id = ?1 OR parent = ?1) OR root_id = ?1",
        (run_id,),
    )


def _row(values: tuple[Any, ...]) -> ApprovalRow:
    (
        run_id, call_id, root_id, request, status, sha256, created_at, expires_at, decided_at,
        arguments, by,
    ) = values  # fmt: skip
    return ApprovalRow(
        run_id=run_id,
        call_id=call_id,
        root_id=root_id,
        request=json.loads(request),
        status=status,
        sha256=sha256,
        created_at=datetime.fromisoformat(created_at),
        expires_at=datetime.fromisoformat(expires_at),
        decided_at=datetime.fromisoformat(decided_at) if decided_at else None,
        arguments=json.loads(arguments) if arguments else None,
        by=by,
    )
