"""RuntimeStore in one SQLite file (WAL): one writer thread with group commit, pooled readers."""

import asyncio
import os
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from inglenook.errors import LeaseLost, StoreError
from inglenook.events import RunStarted, Status
from inglenook.messages import Label
from inglenook.store import approval_table, cache_table, inbox_table, run_table
from inglenook.store.base import (
    ApprovalRow,
    ApprovalStatus,
    CacheEntry,
    CacheVector,
    ChainReport,
    Claim,
    Committed,
    FamilyEntry,
    InboxItem,
    InboxKind,
    RunRow,
    StoredEvent,
)
from inglenook.store.chain import GENESIS, load_key
from inglenook.store.columns import stamp
from inglenook.store.connections import Connections
from inglenook.store.migrations import migrate
from inglenook.store.run_log import (
    NO_LIMIT,
    Append,
    Head,
    LogQueue,
    SqliteRunLog,
    erase_payloads,
    insert_events,
    last_event,
    read_events,
)
from inglenook.store.verify import verify_chain
from inglenook.store.writer import GroupWriter, explain


class SqliteStore:
    def __init__(self, folder: Path, *, fsync: Callable[[int], None] = os.fsync) -> None:
        """Opens (and creates) `folder`/inglenook.db; call inside the event loop.

        Args:
            fsync: Puts an open file on the disk; SQLite's own commits do not go through it.

        Raises:
            StoreError: The file cannot be opened, or a newer version wrote it.
        """
        path = folder / "inglenook.db"
        loop = asyncio.get_running_loop()
        self._connections = Connections(path, fsync=fsync)
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._key = load_key(folder / "key", may_make=not path.exists())
            db = self._connections.connect()
            migrate(db)
            db.close()
        except OSError as error:
            raise StoreError(f"the home {str(folder)!r} cannot be used: {error}") from error
        except sqlite3.Error as error:
            raise StoreError(explain(error)) from error
        path.chmod(0o600)
        self._read = self._connections.read
        self._writer = GroupWriter(self._connections.connect, self._connections.sync_commits, loop)
        self._queue = LogQueue(self._writer, loop, self._key)

    # --- runs ------------------------------------------------------------------------------

    async def create_run(
        self, row: RunRow, started: RunStarted, *, idempotency_key: str | None = None
    ) -> RunRow:
        row = replace(row, labels=started.labels)
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
        return await self._read(lambda db: run_table.find(db, run_id))

    async def list_runs(
        self,
        *,
        status: Status | None = None,
        session: str | None = None,
        user: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> tuple[list[RunRow], str | None]:
        return await self._read(
            lambda db: run_table.page(
                db, status=status, session=session, user=user, limit=limit, cursor=cursor
            )
        )

    async def unfinished_runs(self) -> list[RunRow]:
        return await self._read(run_table.unfinished)

    async def session_labels(self, session: str, *, user: str | None = None) -> tuple[Label, ...]:
        return await self._read(lambda db: run_table.labels_of_session(db, session, user))

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
            return row, read_events(db, run_id, -1, NO_LIMIT), last_event(db, run_id)

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
        return await self._read(lambda db: read_events(db, run_id, after, count))

    def flush(self) -> None:
        """Hand over what is in line for the log, and wait for nothing."""
        self._queue.flush()

    # --- inbox -----------------------------------------------------------------------------

    async def post(self, run_id: str, kind: InboxKind, payload: dict[str, object]) -> None:
        await self._writer.call(lambda db: inbox_table.insert(db, run_id, kind, payload))

    async def take(self, run_ids: Sequence[str]) -> list[InboxItem]:
        ids = await self._read(lambda db: inbox_table.ids_of(db, run_ids))
        if not ids:
            return []
        return await self._writer.call(lambda db: inbox_table.take(db, ids))

    # --- approvals -------------------------------------------------------------------------

    async def ask_approval(self, row: ApprovalRow) -> ApprovalRow:
        return await self._writer.call(lambda db: approval_table.ask(db, row))

    async def get_approval(self, run_id: str, call_id: str) -> ApprovalRow | None:
        return await self._read(lambda db: approval_table.find(db, run_id, call_id))

    async def list_approvals(
        self,
        status: ApprovalStatus | None = None,
        *,
        root_id: str | None = None,
        user: str | None = None,
    ) -> list[ApprovalRow]:
        return await self._read(
            lambda db: approval_table.listed(db, status=status, root_id=root_id, user=user)
        )

    async def decide_approval(
        self,
        run_id: str,
        call_id: str,
        *,
        status: ApprovalStatus,
        arguments: dict[str, object] | None = None,
        by: str | None = None,
        now: datetime,
    ) -> ApprovalRow:
        return await self._writer.call(
            lambda db: approval_table.decide(
                db, run_id, call_id, status=status, arguments=arguments, by=by, now=now
            )
        )

    async def due_approvals(self, now: datetime) -> list[ApprovalRow]:
        return await self._read(lambda db: approval_table.due(db, now))

    # --- the web's cache -------------------------------------------------------------------

    async def cache_get(self, kind: str, key: str, *, since: datetime) -> CacheEntry | None:
        return await self._read(lambda db: cache_table.find(db, kind, key, since))

    async def cache_put(
        self,
        kind: str,
        key: str,
        value: bytes,
        *,
        fetched_at: datetime,
        labels: Sequence[Label],
        max_bytes: int,
        since: datetime,
        family: str | None = None,
    ) -> None:
        def run(db: sqlite3.Connection) -> None:
            cache_table.put(
                db, kind, key, value, fetched_at=fetched_at, labels=labels, family=family
            )
            cache_table.shrink(db, max_bytes=max_bytes, since=since)

        await self._writer.call(run, sync=False)

    async def cache_family(
        self, kind: str, family: str, *, since: datetime, limit: int
    ) -> list[FamilyEntry]:
        return await self._read(lambda db: cache_table.of_family(db, kind, family, since, limit))

    async def cache_unembedded(
        self, kind: str, model: str, limit: int
    ) -> list[tuple[bytes, bytes]]:
        return await self._read(lambda db: cache_table.without_vector(db, kind, model, limit))

    async def cache_put_vectors(
        self, kind: str, model: str, vectors: Sequence[CacheVector]
    ) -> None:
        at = stamp(datetime.now(UTC))
        await self._writer.call(
            lambda db: cache_table.put_vectors(db, kind, model, vectors, at), sync=False
        )

    async def cache_vectors(
        self, kind: str, model: str, keys: Sequence[bytes]
    ) -> list[CacheVector]:
        return await self._read(lambda db: cache_table.vectors_of(db, kind, model, keys))

    # --- erasing and checking --------------------------------------------------------------

    async def erase(self, run_id: str) -> int:
        """
        Raises:
            StoreError: What was removed from the tables still lies on the disk.
        """

        def run(db: sqlite3.Connection) -> int:
            run_table.erase_words(db, run_id)
            approval_table.erase_words(db, run_id)
            cache_table.erase_of_run(db, run_id)
            return erase_payloads(db, run_id)

        erased = await self._writer.call(run)
        if not await self._connections.forget_old_pages():
            raise StoreError(
                f"{erased} events were erased, but another program reads the database, so that "
                "their text still lies in its write-ahead log; close it and erase again"
            )
        return erased

    async def verify(self, run_id: str | None = None) -> ChainReport:
        return await self._read(lambda db: verify_chain(db, self._key, run_id))

    async def close(self) -> None:
        self.flush()
        await self._writer.close()
        self._connections.close()
