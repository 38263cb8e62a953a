"""RuntimeStore in one SQLite file (WAL): one writer thread with group commit, pooled readers."""

import asyncio
import json
import os
import sqlite3
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from inglenook.errors import LeaseLost, StoreError
from inglenook.events import RunStarted, Status
from inglenook.store import run_table
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
from inglenook.store.columns import stamp
from inglenook.store.migrations import migrate
from inglenook.store.run_log import (
    Append,
    Head,
    LogQueue,
    SqliteRunLog,
    insert_events,
    last_event,
)
from inglenook.store.verify import verify_chain
from inglenook.store.writer import GroupWriter, explain

BUSY_TIMEOUT_MS = 10_000
READERS = 2
CACHE_KB = 512
"""Pages that each connection keeps. A log is written at its end and read in one go; SQLite's own
2 MB would be a third of what 64 runs at once need."""
NO_LIMIT = -1

T = TypeVar("T")


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
                known = run_table.find_by_key(db, row.user, idempotency_key)
                if known is not None:
                    return known
            run_table.insert(db, row, idempotency_key)
            insert_events(db, row.id, row.epoch, [first])
            return row

        return await self._writer.call(run, sync=False)

    async def get_run(self, run_id: str) -> RunRow | None:
        return await self._in_reader(lambda db: run_table.find(db, run_id))

    async def list_runs(
        self,
        *,
        status: Status | None = None,
        session: str | None = None,
        user: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> tuple[list[RunRow], str | None]:
        return await self._in_reader(
            lambda db: run_table.page(
                db, status=status, session=session, user=user, limit=limit, cursor=cursor
            )
        )

    async def unfinished_runs(self) -> list[RunRow]:
        return await self._in_reader(run_table.unfinished)

    # --- leases and the log ----------------------------------------------------------------

    async def claim(
        self, run_id: str, owner: str, committed: Committed, *, epoch: int | None = None
    ) -> Claim | None:
        def run(db: sqlite3.Connection) -> tuple[RunRow, list[StoredEvent], Head] | None:
            row = run_table.find(db, run_id)
            if row is None or row.finished_at is not None:
                return None
            if epoch is not None and epoch != row.epoch:
                raise LeaseLost(f"run {run_id!r} was taken up by another process")
            run_table.take_lease(db, run_id, owner)
            return row, _read_events(db, run_id, -1, NO_LIMIT), last_event(db, run_id)

        claimed = await self._writer.call(run, sync=False)
        if claimed is None:
            return None
        row, events, head = claimed
        log = SqliteRunLog(self._queue, run_id, row.epoch + 1, head, committed)
        return Claim(row=row, events=events, log=log)

    async def release(self, run_id: str, epoch: int, explanation: str) -> None:
        await self._writer.call(
            lambda db: run_table.release_lease(db, run_id, epoch, explanation), sync=False
        )

    async def renew(self, owner: str) -> None:
        await self._writer.call(lambda db: run_table.renew_leases(db, owner), sync=False)

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
            run_table.erase_words(db, run_id)
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
