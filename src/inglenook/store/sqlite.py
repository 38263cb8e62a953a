"""RuntimeStore in one SQLite file (WAL): one writer thread with group commit, pooled readers."""

import asyncio
import json
import os
import sqlite3
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from inglenook.errors import LeaseLost, StoreError
from inglenook.events import (
    RunStarted,
    Status,
)
from inglenook.store.base import (
    ChainReport,
    Claim,
    Committed,
    InboxItem,
    InboxKind,
    RunRow,
    StoredEvent,
)
from inglenook.store.chain import GENESIS, load_key
from inglenook.store.migrations import migrate
from inglenook.store.run_log import (
    Append,
    Head,
    LogQueue,
    SqliteRunLog,
    insert_events,
    last_event,
    stamp,
    storable,
)
from inglenook.store.verify import verify_chain
from inglenook.store.writer import GroupWriter, explain

LEASE_S = 30.0
BUSY_TIMEOUT_MS = 10_000
READERS = 2
CACHE_KB = 512
"""Pages that each connection keeps. A log is written at its end and read in one go; SQLite's own
2 MB would be a third of what 64 runs at once need."""
NO_LIMIT = -1

T = TypeVar("T")
_COLUMNS = (
    "id, session, parent, user, title, model, strategy, status, reason, explanation, "
    "created_at, finished_at, owner, epoch, lease_until"
)


class SqliteStore:
    def __init__(self, folder: Path, *, fsync: Callable[[int], None] = os.fsync) -> None:
        """Opens (and creates) `folder`/inglenook.db; call inside the event loop.

        Args:
            fsync: Puts an open file on the disk; SQLite's own commits do not go through it.

        Raises:
            StoreError: The file cannot be opened, or a newer version wrote it.
        """
        self._path = folder / "inglenook.db"
        self._fsync = fsync
        self._loop = asyncio.get_running_loop()
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._key = load_key(folder / "key", may_make=not self._path.exists())
            db = self._connect()
            migrate(db)
            db.close()
        except OSError as error:
            raise StoreError(f"the home {str(folder)!r} cannot be used: {error}") from error
        except sqlite3.Error as error:
            raise StoreError(explain(error)) from error
        self._path.chmod(0o600)
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="store-reader")
        self._writer = GroupWriter(self._connect, self._sync_commits, self._loop)
        self._queue = LogQueue(self._writer, self._loop, self._key)

    # --- runs ------------------------------------------------------------------------------

    async def create_run(
        self, row: RunRow, started: RunStarted, *, idempotency_key: str | None = None
    ) -> RunRow:
        first = Append(self._key, row.id, (-1, GENESIS), started, stamp(row.created_at))

        def run(db: sqlite3.Connection) -> RunRow:
            if idempotency_key is not None:
                found = db.execute(
                    f"SELECT {_COLUMNS} FROM runs"  # noqa: S608 (a constant)
                    " WHERE ifnull(user, '') = ? AND idempotency_key = ?",
                    (row.user or "", idempotency_key),
                ).fetchone()
                if found:
                    return _row(found)
            db.execute(
                f"INSERT INTO runs ({_COLUMNS}, idempotency_key)"  # noqa: S608 (a constant)
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    row.id, row.session, row.parent, row.user, storable(row.title), row.model,
                    row.strategy,
                    row.status, row.reason, row.explanation, stamp(row.created_at), None, None,
                    row.epoch, None, idempotency_key,
                ),
            )  # fmt: skip
            insert_events(db, row.id, row.epoch, [first])
            return row

        return await self._writer.call(run, sync=False)

    async def get_run(self, run_id: str) -> RunRow | None:
        return await self._in_reader(lambda db: _get_run(db, run_id))

    async def list_runs(
        self,
        *,
        status: Status | None = None,
        session: str | None = None,
        user: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> tuple[list[RunRow], str | None]:
        where, values = ["parent IS NULL"], list[Any]()
        for column, value in (("status", status), ("session", session), ("user", user)):
            if value is not None:
                where.append(f"{column} = ?")
                values.append(value)
        if cursor is not None:
            where.append("id < ?")  # ids begin with their time
            values.append(cursor)
        found = await self._read(
            f"SELECT {_COLUMNS} FROM runs WHERE {' AND '.join(where)}"  # noqa: S608 (constants)
            " ORDER BY id DESC LIMIT ?",
            (*values, limit + 1),
        )
        rows = [_row(values) for values in found[:limit]]
        return rows, rows[-1].id if len(found) > limit else None

    async def unfinished_runs(self) -> list[RunRow]:
        found = await self._read(
            f"SELECT {_COLUMNS} FROM runs"  # noqa: S608 (a constant)
            " WHERE status IN ('queued', 'running') ORDER BY id",
            (),
        )
        return [_row(values) for values in found]

    # --- leases and the log ----------------------------------------------------------------

    async def claim(
        self, run_id: str, owner: str, committed: Committed, *, epoch: int | None = None
    ) -> Claim | None:
        until = stamp(datetime.now(UTC) + timedelta(seconds=LEASE_S))

        def run(db: sqlite3.Connection) -> tuple[RunRow, list[StoredEvent], Head] | None:
            row = _get_run(db, run_id)
            if row is None or row.finished_at is not None:
                return None
            if epoch is not None and epoch != row.epoch:
                raise LeaseLost(f"run {run_id!r} was taken up by another process")
            db.execute(
                "UPDATE runs SET owner = ?, epoch = epoch + 1, lease_until = ?, explanation = NULL,"
                " status = CASE status WHEN 'queued' THEN 'running' ELSE status END"
                " WHERE id = ?",
                (owner, until, run_id),
            )
            return row, _read_events(db, run_id, -1, NO_LIMIT), last_event(db, run_id)

        claimed = await self._writer.call(run, sync=False)
        if claimed is None:
            return None
        row, events, head = claimed
        log = SqliteRunLog(self._queue, run_id, row.epoch + 1, head, committed)
        return Claim(row=row, events=events, log=log)

    async def release(self, run_id: str, epoch: int, explanation: str) -> None:
        await self._writer.call(
            lambda db: db.execute(
                "UPDATE runs SET owner = NULL, lease_until = NULL, explanation = ?"
                " WHERE id = ? AND epoch = ? AND finished_at IS NULL",
                (storable(explanation), run_id, epoch),
            ),
            sync=False,
        )

    async def renew(self, owner: str) -> None:
        until = stamp(datetime.now(UTC) + timedelta(seconds=LEASE_S))
        await self._writer.call(
            lambda db: db.execute(
                "UPDATE runs SET lease_until = ? WHERE owner = ? AND status = 'running'",
                (until, owner),
            ),
            sync=False,
        )

    async def read(
        self, run_id: str, *, after: int = -1, limit: int | None = None
    ) -> list[StoredEvent]:
        count = NO_LIMIT if limit is None else limit
        return await self._in_reader(lambda db: _read_events(db, run_id, after, count))

    def flush(self) -> None:
        """Hand over what is in line for the log, and wait for nothing."""
        self._queue.flush()

    # --- inbox -----------------------------------------------------------------------------

    async def post(self, run_id: str, kind: InboxKind, payload: dict[str, object]) -> None:
        values = (run_id, kind, json.dumps(payload), run_id)
        await self._writer.call(
            lambda db: db.execute(
                "INSERT INTO inbox (run_id, kind, payload) SELECT ?, ?, ?"
                " WHERE EXISTS (SELECT 1 FROM runs WHERE id = ? AND finished_at IS NULL)",
                values,
            )
        )

    async def take(self, run_ids: Sequence[str]) -> list[InboxItem]:
        wanted = set(run_ids)
        waiting = await self._read("SELECT id, run_id FROM inbox ORDER BY id", ())
        ids = [id for id, run_id in waiting if run_id in wanted]
        if not ids:
            return []

        def run(db: sqlite3.Connection) -> list[tuple[Any, ...]]:
            found: list[tuple[Any, ...]] = []
            for id in ids:
                found += db.execute(
                    "DELETE FROM inbox WHERE id = ? RETURNING id, run_id, kind, payload", (id,)
                ).fetchall()
            return found

        return [
            InboxItem(id=id, run_id=run_id, kind=kind, payload=json.loads(payload))
            for id, run_id, kind, payload in await self._writer.call(run)
        ]

    # --- erasing and checking --------------------------------------------------------------

    async def erase(self, run_id: str) -> int:
        def run(db: sqlite3.Connection) -> int:
            db.execute(
                "UPDATE runs SET title = '', explanation = NULL WHERE id = ?1 OR parent = ?1",
                (run_id,),
            )
            return db.execute(
                "UPDATE events SET payload = NULL WHERE payload IS NOT NULL AND"
                " run_id IN (SELECT id FROM runs WHERE id = ?1 OR parent = ?1)",
                (run_id,),
            ).rowcount

        erased = await self._writer.call(run)
        # Old pages must leave the write-ahead log too, or the text would still lie on the disk.
        busy, *_ = await self._in_reader(
            lambda db: db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        )
        if busy:
            raise StoreError(
                f"{erased} events were erased, but another program reads the database, so that "
                "their text still lies in its write-ahead log; close it and erase again"
            )
        return erased

    async def verify(self, run_id: str | None = None) -> ChainReport:
        return await self._in_reader(lambda db: verify_chain(db, self._key, run_id))

    # --- plumbing --------------------------------------------------------------------------

    async def close(self) -> None:
        self.flush()
        await self._writer.close()
        self._readers.shutdown(wait=True)
        for connection in self._connections:
            connection.close()

    def _sync_commits(self) -> None:
        """SQLite syncs what it commits next, and nothing that lies there already."""
        try:
            descriptor = os.open(f"{self._path}-wal", os.O_RDWR)
        except FileNotFoundError:
            return  # nothing was committed since the last log was taken into the database
        try:
            self._fsync(descriptor)
        finally:
            os.close(descriptor)

    def _connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
        db.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA secure_delete = ON")
        db.execute(f"PRAGMA cache_size = -{CACHE_KB}")
        return db

    def _reader(self) -> sqlite3.Connection:
        if not hasattr(self._local, "db"):
            self._local.db = self._connect()
            self._connections.append(self._local.db)
        return self._local.db

    async def _in_reader(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            return await self._loop.run_in_executor(self._readers, lambda: work(self._reader()))
        except sqlite3.Error as error:
            raise StoreError(explain(error)) from error

    async def _read(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        return await self._in_reader(lambda db: db.execute(sql, values).fetchall())


def _get_run(db: sqlite3.Connection, run_id: str) -> RunRow | None:
    found = db.execute(
        f"SELECT {_COLUMNS} FROM runs WHERE id = ?",  # noqa: S608 (a constant)
        (run_id,),
    ).fetchone()
    return _row(found) if found else None


def _read_events(db: sqlite3.Connection, run_id: str, after: int, limit: int) -> list[StoredEvent]:
    found = db.execute(
        "SELECT seq, at, type, payload FROM events WHERE run_id = ? AND seq > ?"
        " ORDER BY seq LIMIT ?",
        (run_id, after, limit),
    )
    return [
        StoredEvent(run_id=run_id, seq=seq, at=at, type=type, payload=_as_bytes(payload))
        for seq, at, type, payload in found
    ]


def _as_bytes(payload: object) -> bytes | None:
    """Another program may have left text in the column: `verify` says so, reading goes on."""
    if payload is None or isinstance(payload, bytes):
        return payload
    return str(payload).encode(errors="replace")


def _row(values: tuple[Any, ...]) -> RunRow:
    (
        id, session, parent, user, title, model, strategy, status, reason, explanation,
        created_at, finished_at, owner, epoch, lease_until,
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
    )
