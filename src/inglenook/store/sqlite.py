"""RuntimeStore in one SQLite file (WAL): one writer thread with group commit, pooled readers."""

import asyncio
import json
import sqlite3
import threading
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from inglenook.errors import LeaseLost, StoreError
from inglenook.events import (
    ENDED,
    RunEvent,
    RunFinished,
    RunResumed,
    RunStarted,
    RunWaiting,
    Status,
    encode,
)
from inglenook.store.base import (
    ChainReport,
    Committed,
    InboxItem,
    InboxKind,
    RunRow,
    StoredEvent,
)
from inglenook.store.chain import GENESIS, link, load_key, payload_digest, seal
from inglenook.store.migrations import migrate
from inglenook.store.verify import verify_chain
from inglenook.store.writer import GroupWriter, Job, explain

LINGER_S = 0.004
"""How long an event may wait for others when nobody waits for it; readers see it that later."""
LEASE_S = 30.0
BUSY_TIMEOUT_MS = 10_000
ROWS_PER_INSERT = 32
READERS = 2

T = TypeVar("T")
_COLUMNS = (
    "id, session, parent, user, title, model, strategy, status, reason, explanation, "
    "created_at, finished_at, owner, epoch, lease_until"
)


def now() -> str:
    return stamp(datetime.now(UTC))


def stamp(at: datetime) -> str:
    """RFC 3339 in UTC with milliseconds: sorts as text."""
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class SqliteStore:
    def __init__(self, folder: Path) -> None:
        """Opens (and creates) `folder`/inglenook.db; call inside the event loop.

        Raises:
            StoreError: The file cannot be opened, or a newer version wrote it.
        """
        self._path = folder / "inglenook.db"
        self._loop = asyncio.get_running_loop()
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._key = load_key(folder / "key")
            db = self._connect()
            migrate(db)
            db.close()
        except OSError as error:
            raise StoreError(f"the home {str(folder)!r} cannot be used: {error}") from error
        except sqlite3.Error as error:
            raise StoreError(explain(error)) from error
        self._path.chmod(0o600)
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="store-reader")
        self._writer = GroupWriter(self._connect, self._loop)
        self._pending: list[_Append] = []
        self._timer: asyncio.TimerHandle | None = None

    # --- runs ------------------------------------------------------------------------------

    async def create_run(
        self, row: RunRow, started: RunStarted, *, idempotency_key: str | None = None
    ) -> RunRow:
        payload = encode(started)

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
            self._insert(db, row.id, -1, GENESIS, [(stamp(row.created_at), started.type, payload)])
            return row

        return await self._writer.call(run)

    async def get_run(self, run_id: str) -> RunRow | None:
        found = await self._read(
            f"SELECT {_COLUMNS} FROM runs WHERE id = ?",  # noqa: S608 (a constant)
            (run_id,),
        )
        return _row(found[0]) if found else None

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

    async def claim(self, row: RunRow, owner: str, committed: Committed) -> "SqliteRunLog":
        until = stamp(datetime.now(UTC) + timedelta(seconds=LEASE_S))

        def run(db: sqlite3.Connection) -> None:
            changed = db.execute(
                "UPDATE runs SET owner = ?, epoch = epoch + 1, lease_until = ?,"
                " status = CASE status WHEN 'queued' THEN 'running' ELSE status END"
                " WHERE id = ? AND epoch = ?",
                (owner, until, row.id, row.epoch),
            )
            if changed.rowcount != 1:
                raise LeaseLost(f"run {row.id!r} was taken up by another process")

        await self._writer.call(run, sync=False)
        return SqliteRunLog(self, row.id, row.epoch + 1, committed)

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
        found = await self._read(
            "SELECT run_id, seq, at, type, payload FROM events"
            " WHERE run_id = ? AND seq > ? ORDER BY seq LIMIT ?",
            (run_id, after, -1 if limit is None else limit),
        )
        return [
            StoredEvent(run_id=run_id, seq=seq, at=at, type=type, payload=payload)
            for run_id, seq, at, type, payload in found
        ]

    def enqueue(self, append: "_Append", *, now: bool, sync: bool) -> None:
        """Put an append in line; `now` hands the line over at once."""
        self._pending.append(append)
        if now:
            self.flush(sync=sync)
        elif self._timer is None:
            self._timer = self._loop.call_later(LINGER_S, self.flush)

    def flush(self, *, sync: bool = False) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self._pending and not sync:
            return
        by_log: dict[SqliteRunLog, list[_Append]] = {}
        for append in self._pending:
            by_log.setdefault(append.log, []).append(append)
        self._pending.clear()
        self._writer.submit([log.job(appends, sync) for log, appends in by_log.items()])

    def insert_under_lease(
        self,
        db: sqlite3.Connection,
        log: "SqliteRunLog",
        appends: "list[_Append]",
    ) -> list[StoredEvent]:
        """The writer's part of an append: check the lease, number, chain, store."""
        epoch = db.execute("SELECT epoch FROM runs WHERE id = ?", (log.run_id,)).fetchone()
        if epoch is None or epoch[0] != log.epoch:
            raise LeaseLost(f"run {log.run_id!r} was taken over by another process; this one stops")
        seq, mac = log.head or _head(db, log.run_id)
        rows = [(append.at, append.event.type, append.payload) for append in appends]
        stored, mac = self._insert(db, log.run_id, seq, mac, rows)
        log.head = (stored[-1].seq, mac)
        for append in appends:
            _update_row(db, log.run_id, append.event, append.at)
            if isinstance(append.event, RunFinished):
                self._seal(db, log.run_id, *log.head)
        return stored

    def _insert(
        self,
        db: sqlite3.Connection,
        run_id: str,
        seq: int,
        mac: bytes,
        rows: Sequence[tuple[str, str, bytes]],
    ) -> tuple[list[StoredEvent], bytes]:
        values: list[Any] = []
        stored: list[StoredEvent] = []
        for at, type, payload in rows:
            seq += 1
            digest = payload_digest(self._key, payload)
            mac = link(self._key, mac, run_id, seq, at, type, digest)
            values += (run_id, seq, at, type, digest, mac, payload)
            stored.append(StoredEvent(run_id=run_id, seq=seq, at=at, type=type, payload=payload))
        for start in range(0, len(rows), ROWS_PER_INSERT):
            part = values[start * 7 : (start + ROWS_PER_INSERT) * 7]
            db.execute(_insert_events(len(part) // 7), part)
        return stored, mac

    def _seal(self, db: sqlite3.Connection, run_id: str, seq: int, mac: bytes) -> None:
        before = db.execute("SELECT mac FROM seals ORDER BY n DESC LIMIT 1").fetchone()
        sealed = seal(self._key, before[0] if before else GENESIS, run_id, seq, mac)
        db.execute("INSERT INTO seals (run_id, seq, mac) VALUES (?, ?, ?)", (run_id, seq, sealed))

    # --- inbox -----------------------------------------------------------------------------

    async def post(self, run_id: str, kind: InboxKind, payload: dict[str, object]) -> None:
        values = (run_id, kind, json.dumps(payload))
        await self._writer.call(
            lambda db: db.execute(
                "INSERT INTO inbox (run_id, kind, payload) VALUES (?, ?, ?)", values
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
            db.execute("UPDATE runs SET title = '', explanation = NULL WHERE id = ?", (run_id,))
            return db.execute(
                "UPDATE events SET payload = NULL WHERE run_id = ? AND payload IS NOT NULL",
                (run_id,),
            ).rowcount

        erased = await self._writer.call(run)
        # Old pages must leave the write-ahead log too, or the text would still lie on the disk.
        await self._in_reader(lambda db: db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone())
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

    def _connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
        db.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA secure_delete = ON")
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


class _Append:
    __slots__ = ("at", "event", "log", "payload")

    def __init__(self, log: "SqliteRunLog", event: RunEvent) -> None:
        self.log = log
        self.event = event
        self.at = now()
        self.payload = encode(event)


class SqliteRunLog:
    """Appends of one lease."""

    def __init__(self, store: SqliteStore, run_id: str, epoch: int, committed: Committed) -> None:
        self._store = store
        self.run_id = run_id
        self.epoch = epoch
        self.head: tuple[int, bytes] | None = None
        """`seq` and MAC of the last event, for the writer's thread; None: ask the database."""
        self._committed = committed
        self._appended = 0
        self._stored = 0
        self._error: Exception | None = None
        self._waiters: list[tuple[int, asyncio.Future[None]]] = []

    def append(self, event: RunEvent) -> None:
        if self._error is not None:
            raise self._error
        self._appended += 1
        self._store.enqueue(_Append(self, event), now=False, sync=False)

    def settle(self, *, sync: bool = False) -> Awaitable[None]:
        future = asyncio.get_running_loop().create_future()
        if self._error is not None:
            future.set_exception(self._error)
        elif self._stored == self._appended and not sync:
            future.set_result(None)
        else:
            self._waiters.append((self._appended, future))
            self._store.flush(sync=sync)
            if self._stored == self._appended:
                self._release()
        return future

    def job(self, appends: list[_Append], sync: bool) -> Job:
        def run(db: sqlite3.Connection) -> list[StoredEvent]:
            return self._store.insert_under_lease(db, self, appends)

        return Job(run, self._done, sync, self._forget_head)

    def _forget_head(self) -> None:
        self.head = None

    def _done(self, stored: list[StoredEvent] | None, error: Exception | None) -> None:
        if error is not None:
            self._error = error
        for event in stored or ():
            self._stored += 1
            self._committed(event)
        self._release()

    def _release(self) -> None:
        waiting: list[tuple[int, asyncio.Future[None]]] = []
        for target, future in self._waiters:
            if future.done():
                continue
            if self._error is not None:
                future.set_exception(self._error)
            elif self._stored >= target:
                future.set_result(None)
            else:
                waiting.append((target, future))
        self._waiters = waiting


@cache
def _insert_events(rows: int) -> str:
    """One statement for several rows: each statement hands the interpreter's lock over and back."""
    row = "(?, ?, ?, ?, ?, ?, ?)"
    return (
        "INSERT INTO events (run_id, seq, at, type, digest, mac, payload)"  # noqa: S608 (constants)
        f" VALUES {', '.join([row] * rows)}"
    )


def _head(db: sqlite3.Connection, run_id: str) -> tuple[int, bytes]:
    return db.execute(
        "SELECT seq, mac FROM events WHERE run_id = ? ORDER BY seq DESC LIMIT 1", (run_id,)
    ).fetchone()


def _update_row(db: sqlite3.Connection, run_id: str, event: RunEvent, at: str) -> None:
    """Keep the run's index card in step with its log, in the same transaction."""
    if isinstance(event, RunFinished):
        assert event.status in ENDED
        db.execute(
            "UPDATE runs SET status = ?, reason = ?, explanation = ?, finished_at = ?,"
            " owner = NULL, lease_until = NULL WHERE id = ?",
            (event.status, event.reason, storable(event.explanation), at, run_id),
        )
    elif isinstance(event, RunWaiting):
        db.execute(
            "UPDATE runs SET status = 'waiting', reason = ?, owner = NULL, lease_until = NULL"
            " WHERE id = ?",
            (event.reason, run_id),
        )
    elif isinstance(event, RunResumed):
        db.execute("UPDATE runs SET status = 'running', reason = NULL WHERE id = ?", (run_id,))


def storable(text: str) -> str:
    """`text` as a column takes it: SQLite's text is UTF-8, which has no lone surrogates."""
    return text.encode(errors="replace").decode()


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
