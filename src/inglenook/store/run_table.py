"""The `runs` table: each run's index card, and the lease of whoever works on it.

The log is the run; what stands here is kept in step with it, in the same transactions. Nothing here
knows threads: each function does its work on the connection that it is handed.
"""

import json
import sqlite3
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from inglenook.events import (
    ENDED,
    ReportReused,
    RunEvent,
    RunFinished,
    RunResumed,
    RunWaiting,
    Status,
    ToolFinished,
)
from inglenook.messages import Label
from inglenook.store import approval_table
from inglenook.store.base import RunRow
from inglenook.store.columns import stamp, storable

LEASE_S = 30.0
_EVENTS_OF_THE_ROW = (RunFinished, RunWaiting, RunResumed, ToolFinished, ReportReused)
_COLUMNS = (
    "id, session, parent, user, title, model, strategy, status, reason, explanation, "
    "created_at, finished_at, owner, epoch, lease_until, labels"
)


def changes_row(event: RunEvent) -> bool:
    """The run's index card changes with this event, in the same transaction."""
    if not isinstance(event, _EVENTS_OF_THE_ROW):
        return False
    return not isinstance(event, ToolFinished) or bool(event.labels)


def insert(db: sqlite3.Connection, row: RunRow, idempotency_key: str | None) -> None:
    db.execute(
        f"INSERT INTO runs ({_COLUMNS}, idempotency_key)"  # noqa: S608 (a constant)
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            row.id, row.session, row.parent, row.user, storable(row.title), row.model,
            row.strategy, row.status, row.reason, row.explanation, stamp(row.created_at), None,
            None, row.epoch, None, json.dumps(sorted(row.labels)), idempotency_key,
        ),
    )  # fmt: skip


def find(db: sqlite3.Connection, run_id: str) -> RunRow | None:
    found = db.execute(
        f"SELECT {_COLUMNS} FROM runs WHERE id = ?",  # noqa: S608 (a constant)
        (run_id,),
    ).fetchone()
    return _row(found) if found else None


def find_by_key(db: sqlite3.Connection, user: str | None, idempotency_key: str) -> RunRow | None:
    found = db.execute(
        f"SELECT {_COLUMNS} FROM runs"  # noqa: S608 (a constant)
        " WHERE ifnull(user, '') = ? AND idempotency_key = ?",
        (user or "", idempotency_key),
    ).fetchone()
    return _row(found) if found else None


def page(
    db: sqlite3.Connection,
    *,
    status: Status | None,
    session: str | None,
    user: str | None,
    limit: int,
    cursor: str | None,
) -> tuple[list[RunRow], str | None]:
    """Newest first, top-level runs only; the cursor is the last id of the page before."""
    where, values = ["parent IS NULL"], list[Any]()
    for column, value in (("status", status), ("session", session), ("user", user)):
        if value is not None:
            where.append(f"{column} = ?")
            values.append(value)
    if cursor is not None:
        where.append("id < ?")  # ids begin with their time
        values.append(cursor)
    found = db.execute(
        f"SELECT {_COLUMNS} FROM runs WHERE {' AND '.join(where)}"  # noqa: S608 (constants)
        " ORDER BY id DESC LIMIT ?",
        (*values, limit + 1),
    ).fetchall()
    rows = [_row(values) for values in found[:limit]]
    return rows, rows[-1].id if len(found) > limit else None


def unfinished(db: sqlite3.Connection) -> list[RunRow]:
    found = db.execute(
        f"SELECT {_COLUMNS} FROM runs"  # noqa: S608 (a constant)
        " WHERE status IN ('queued', 'running') ORDER BY id"
    )
    return [_row(values) for values in found]


def take_lease(db: sqlite3.Connection, run_id: str, owner: str) -> None:
    db.execute(
        "UPDATE runs SET owner = ?, epoch = epoch + 1, lease_until = ?, explanation = NULL,"
        " status = CASE status WHEN 'queued' THEN 'running' ELSE status END"
        " WHERE id = ?",
        (owner, _lease_end(), run_id),
    )


def renew_leases(db: sqlite3.Connection, owner: str) -> None:
    db.execute(
        "UPDATE runs SET lease_until = ? WHERE owner = ? AND status = 'running'",
        (_lease_end(), owner),
    )


def release_lease(db: sqlite3.Connection, run_id: str, epoch: int, explanation: str) -> None:
    db.execute(
        "UPDATE runs SET owner = NULL, lease_until = NULL, explanation = ?"
        " WHERE id = ? AND epoch = ? AND finished_at IS NULL",
        (storable(explanation), run_id, epoch),
    )


def keep_in_step(db: sqlite3.Connection, run_id: str, event: RunEvent, at: str) -> None:
    """Note an event that `changes_row`; with the end of a run its inbox goes, too, and nobody is
    asked for an approval any more."""
    if isinstance(event, RunFinished):
        assert event.status in ENDED
        db.execute(
            "UPDATE runs SET status = ?, reason = ?, explanation = ?, finished_at = ?,"
            " owner = NULL, lease_until = NULL WHERE id = ?",
            (event.status, event.reason, storable(event.explanation), at, run_id),
        )
        db.execute("DELETE FROM inbox WHERE run_id = ?", (run_id,))
        approval_table.expire(db, run_id, at)
    elif isinstance(event, RunWaiting):
        db.execute(
            "UPDATE runs SET status = 'waiting', reason = ?, owner = NULL, lease_until = NULL"
            " WHERE id = ?",
            (event.reason, run_id),
        )
    elif isinstance(event, RunResumed):
        db.execute("UPDATE runs SET status = 'running', reason = NULL WHERE id = ?", (run_id,))
    elif isinstance(event, ToolFinished | ReportReused):
        stored = db.execute("SELECT labels FROM runs WHERE id = ?", (run_id,))
        labels = _union(stored, event.labels)
        db.execute("UPDATE runs SET labels = ? WHERE id = ?", (json.dumps(labels), run_id))


def labels_of_session(db: sqlite3.Connection, session: str, user: str | None) -> tuple[Label, ...]:
    """What the runs of a conversation have read, their children included."""
    of_user, values = ("", (session,)) if user is None else (" AND user = ?", (session, user))
    return _union(
        db.execute(
            f"SELECT DISTINCT labels FROM runs WHERE session = ?{of_user}",  # noqa: S608
            values,
        )
    )


def _union(stored: Iterable[tuple[str]], more: Iterable[Label] = ()) -> tuple[Label, ...]:
    labels: set[Label] = set(more)
    for (column,) in stored:
        labels.update(json.loads(column))
    return tuple(sorted(labels))


def erase_words(db: sqlite3.Connection, run_id: str) -> None:
    """Take what was asked and said off the cards of a run and its children."""
    db.execute(
        "UPDATE runs SET title = '', explanation = NULL WHERE id = ?1 OR parent = ?1", (run_id,)
    )


def _lease_end() -> str:
    return stamp(datetime.now(UTC) + timedelta(seconds=LEASE_S))


def _row(values: tuple[Any, ...]) -> RunRow:
    (
        id, session, parent, user, title, model, strategy, status, reason, explanation,
        created_at, finished_at, owner, epoch, lease_until, labels,
    ) = values  # fmt: skip
    return RunRow(
        id=id,
        session=session,
        parent=parent,
        user=user,
        title=title,
        model=model,
        strategy=strategy,
        status=status,
        reason=reason,
        explanation=explanation,
        created_at=datetime.fromisoformat(created_at),
        finished_at=datetime.fromisoformat(finished_at) if finished_at else None,
        owner=owner,
        epoch=epoch,
        lease_until=datetime.fromisoformat(lease_until) if lease_until else None,
        labels=tuple(json.loads(labels)),
    )
