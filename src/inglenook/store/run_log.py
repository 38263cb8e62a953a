"""The end of a run's log that its holder writes to: numbered, chained, under a lease, in groups.

Events wait a moment for each other, so that many runs share few commits; `settle` hands them over
at once. What has the database as a parameter runs in the writer's thread.
"""

import asyncio
import sqlite3
from collections.abc import Awaitable, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from inglenook.errors import LeaseLost, StoreError
from inglenook.events import RunEvent, RunFinished, encode
from inglenook.store.base import Committed, StoredEvent
from inglenook.store.chain import GENESIS, link, payload_digest, seal
from inglenook.store.columns import now
from inglenook.store.run_table import changes_row, keep_in_step
from inglenook.store.writer import GroupWriter, Job

LINGER_S = 0.004
"""How long an event may wait for others when nobody waits for it; readers see it that later."""
ROWS_PER_INSERT = 32
NO_LIMIT = -1
Head: TypeAlias = tuple[int, bytes]
"""`seq` and MAC of a run's last event."""


class Append:
    """An event as it will be stored, chained to the one before."""

    __slots__ = ("at", "digest", "event", "mac", "payload", "seq")

    def __init__(
        self, key: bytes, run_id: str, head: Head, event: RunEvent, at: str | None = None
    ) -> None:
        seq, mac = head
        self.event = event
        self.seq = seq + 1
        self.at = at or now()
        self.payload = encode(event)
        self.digest = payload_digest(key, self.payload)
        self.mac = link(key, mac, run_id, self.seq, self.at, event.type, self.digest)


class LogQueue:
    """The appends of all runs that this process holds, in line for the writer."""

    def __init__(self, writer: GroupWriter, loop: asyncio.AbstractEventLoop, key: bytes) -> None:
        self.key = key
        self._writer = writer
        self._loop = loop
        self._pending: dict[SqliteRunLog, list[Append]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._is_due = False

    def put(self, log: "SqliteRunLog", append: Append) -> None:
        self._pending.setdefault(log, []).append(append)
        if self._timer is None:
            self._timer = self._loop.call_later(LINGER_S, self._linger_ends)

    def flush_soon(self) -> None:
        """Hand the line over when the event loop comes round: what settles till then shares one
        commit, and the writer does not compete with a request that is just being sent."""
        if not self._is_due:
            self._is_due = True
            self._loop.call_soon(self.flush)

    def flush(self) -> None:
        """Hand the line over now."""
        self._is_due = False
        if self._pending:
            self._hand_over(sync=False)

    def flush_to_disk(self, log: "SqliteRunLog") -> None:
        """Hand the line over, with at least one job of `log`, which is done once all before is on
        the disk itself."""
        self._is_due = False
        self._pending.setdefault(log, [])
        self._hand_over(sync=True)

    def _hand_over(self, *, sync: bool) -> None:
        jobs = [log.job(appends, sync) for log, appends in self._pending.items()]
        self._pending.clear()
        self._writer.submit(jobs)

    def _linger_ends(self) -> None:
        self._timer = None
        self.flush()


class Waiter(NamedTuple):
    """Somebody for whom the first `events` of a lease must be stored; with `sync`, on the disk."""

    events: int
    sync: bool
    settled: asyncio.Future[None]


class SqliteRunLog:
    """Appends of one lease."""

    def __init__(
        self, queue: LogQueue, run_id: str, epoch: int, head: Head, committed: Committed
    ) -> None:
        self._queue = queue
        self.run_id = run_id
        self.epoch = epoch
        self._head = head
        self._has_failed = False
        """For the writer's thread: an append was lost, so nothing may follow it."""
        self._committed = committed
        self._appended = 0
        self._stored = 0
        self._error: Exception | None = None
        self._waiters: list[Waiter] = []

    def append(self, event: RunEvent) -> None:
        if self._error is not None:
            raise self._error
        append = Append(self._queue.key, self.run_id, self._head, event)
        self._head = (append.seq, append.mac)
        self._appended += 1
        self._queue.put(self, append)

    def settle(self, *, sync: bool = False) -> Awaitable[None]:
        future = asyncio.get_running_loop().create_future()
        if self._error is not None:
            future.set_exception(self._error)
        elif sync:  # also where all is stored: those commits may not be on the disk yet
            self._waiters.append(Waiter(self._appended, True, future))
            self._queue.flush_to_disk(self)
        elif self._stored == self._appended:
            future.set_result(None)
        else:
            self._waiters.append(Waiter(self._appended, False, future))
            self._queue.flush_soon()
        return future

    def job(self, appends: list[Append], sync: bool) -> Job:
        of_the_row = [each for each in appends if changes_row(each.event)]
        return Job(
            run=lambda db: self._insert(db, appends, of_the_row),
            done=lambda stored, error: self._done(stored, error, on_disk=sync),
            sync=sync,
            failed=self._fail,
            is_one_statement=len(appends) <= ROWS_PER_INSERT and not of_the_row,
        )

    def _insert(
        self, db: sqlite3.Connection, appends: list[Append], of_the_row: list[Append]
    ) -> list[Append]:
        if self._has_failed:
            raise StoreError(f"an earlier event of run {self.run_id!r} could not be stored")
        insert_events(db, self.run_id, self.epoch, appends)
        for append in of_the_row:
            keep_in_step(db, self.run_id, append.event, append.at)
            if isinstance(append.event, RunFinished):
                _insert_seal(db, self._queue.key, self.run_id, append.seq, append.mac)
        return appends

    def _fail(self) -> None:
        self._has_failed = True

    def _done(self, stored: list[Append] | None, error: Exception | None, *, on_disk: bool) -> None:
        if error is not None:
            self._error = error
        for append in stored or ():
            self._stored += 1
            self._committed(
                StoredEvent(
                    run_id=self.run_id,
                    seq=append.seq,
                    at=append.at,
                    type=append.event.type,
                    payload=append.payload,
                )
            )
        self._release(on_disk)

    def _release(self, on_disk: bool) -> None:
        waiting: list[Waiter] = []
        for waiter in self._waiters:
            if waiter.settled.done():
                continue
            if self._error is not None:
                waiter.settled.set_exception(self._error)
            elif self._stored >= waiter.events and (on_disk or not waiter.sync):
                waiter.settled.set_result(None)
            else:
                waiting.append(waiter)
        self._waiters = waiting


def insert_events(
    db: sqlite3.Connection, run_id: str, epoch: int, appends: Sequence[Append]
) -> None:
    """
    Raises:
        LeaseLost: The run's lease has another epoch by now.
    """
    for start in range(0, len(appends), ROWS_PER_INSERT):
        part = appends[start : start + ROWS_PER_INSERT]
        values: list[Any] = []
        for a in part:
            values += (run_id, a.seq, a.at, a.event.type, a.digest, a.mac, a.payload)
        inserted = db.execute(_insert_statement(len(part)), (*values, run_id, epoch)).rowcount
        if inserted != len(part):
            raise LeaseLost(f"run {run_id!r} was taken over by another process; this one stops")


@cache
def _insert_statement(rows: int) -> str:
    """One statement for several rows and the lease: each statement hands the interpreter's lock
    over and back."""
    row = "(?, ?, ?, ?, ?, ?, ?)"
    return (
        "INSERT INTO events (run_id, seq, at, type, digest, mac, payload)"  # noqa: S608 (constants)
        f" SELECT * FROM (VALUES {', '.join([row] * rows)})"
        " WHERE (SELECT epoch FROM runs WHERE id = ?) = ?"
    )


def last_event(db: sqlite3.Connection, run_id: str) -> Head:
    return db.execute(
        "SELECT seq, mac FROM events WHERE run_id = ? ORDER BY seq DESC LIMIT 1", (run_id,)
    ).fetchone()


def read_events(db: sqlite3.Connection, run_id: str, after: int, limit: int) -> list[StoredEvent]:
    found = db.execute(
        "SELECT seq, at, type, payload FROM events WHERE run_id = ? AND seq > ?"
        " ORDER BY seq LIMIT ?",
        (run_id, after, limit),
    )
    return [
        StoredEvent(run_id=run_id, seq=seq, at=at, type=type, payload=_as_bytes(payload))
        for seq, at, type, payload in found
    ]


def erase_payloads(db: sqlite3.Connection, run_id: str) -> int:
    """How many events of a run and its children lost theirs."""
    return db.execute(
        "UPDATE events SET payload = NULL WHERE payload IS NOT NULL AND"
        " run_id IN (SELECT id FROM runs WHERE id = ?1 OR parent = ?1)",
        (run_id,),
    ).rowcount


def _as_bytes(payload: object) -> bytes | None:
    """Another program may have left text in the column: `verify` says so, reading goes on."""
    if payload is None or isinstance(payload, bytes):
        return payload
    return str(payload).encode(errors="replace")


def _insert_seal(db: sqlite3.Connection, key: bytes, run_id: str, seq: int, mac: bytes) -> None:
    before = db.execute("SELECT mac FROM seals ORDER BY n DESC LIMIT 1").fetchone()
    sealed = seal(key, before[0] if before else GENESIS, run_id, seq, mac)
    db.execute("INSERT INTO seals (run_id, seq, mac) VALUES (?, ?, ?)", (run_id, seq, sealed))
