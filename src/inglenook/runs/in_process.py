"""The default engine: runs are tasks of this process, and the store is what survives it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from inglenook.errors import RuntimeFault
from inglenook.runs.supervisor import RunSupervisor
from inglenook.store.base import RunRow, RuntimeStore
from inglenook.store.locks import Owners

logger = logging.getLogger(__name__)

INBOX_INTERVAL_S = 0.5
"""How soon a cancel from another process is seen; a stop must take effect within 3 s."""
RENEW_INTERVAL_S = 10.0


class InProcessEngine:
    """Use as `async with engine:`; leaving it stops the tasks, whose runs stay unfinished."""

    def __init__(self, *, store: RuntimeStore, supervisor: RunSupervisor, owners: Owners) -> None:
        self._store = store
        self._supervisor = supervisor
        self._owners = owners
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._begun: set[str] = set()
        """Runs whose task has had its first turn: before that, cancelling it leaves no trace."""
        self._group = asyncio.TaskGroup()
        self._timers: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> "InProcessEngine":
        await self._group.__aenter__()
        self._timers = [
            self._group.create_task(self._every(INBOX_INTERVAL_S, self._read_inbox)),
            self._group.create_task(self._every(RENEW_INTERVAL_S, self._renew)),
        ]
        return self

    async def __aexit__(self, *exception: object) -> None:
        for task in (*self._timers, *self._tasks.values()):
            task.cancel()
        await self._group.__aexit__(None, None, None)

    async def submit(self, run_id: str) -> None:
        if run_id in self._tasks:
            return
        task = self._group.create_task(self._execute(run_id), name=run_id)
        self._tasks[run_id] = task
        task.add_done_callback(lambda _: self._forget(run_id))

    async def _execute(self, run_id: str) -> None:
        self._begun.add(run_id)
        await self._supervisor.execute(run_id)

    def _forget(self, run_id: str) -> None:
        self._tasks.pop(run_id, None)
        self._begun.discard(run_id)

    async def join(self, run_id: str) -> None:
        if task := self._tasks.get(run_id):
            await asyncio.wait([task])

    async def cancel(self, run_id: str) -> bool:
        task = self._tasks.get(run_id)
        if task is None:
            return False
        if run_id not in self._begun:
            task.cancel()
            return False  # nobody holds it now
        if self._supervisor.mark_cancelled(run_id):
            task.cancel()
        return True

    async def recover(self) -> int:
        taken = 0
        for row in await self._store.unfinished_runs():
            if row.parent is not None:
                await self._recover_child(row)
                continue
            expired = row.lease_until is not None and row.lease_until < datetime.now(UTC)
            if row.owner is None or expired or not self._owners.is_alive(row.owner):
                await self.submit(row.id)
                taken += 1
        return taken

    async def _recover_child(self, row: RunRow) -> None:
        """A child is its parent's to find again; one whose parent has ended is ended, too."""
        parent = await self._store.get_run(row.parent or "")
        if parent is None or parent.finished_at is not None:
            await self._supervisor.end_orphan(row.id)

    async def _read_inbox(self) -> None:
        for item in await self._store.take(list(self._tasks)) if self._tasks else ():
            if item.kind == "cancel":
                await self.cancel(item.run_id)

    async def _renew(self) -> None:
        if self._tasks:
            await self._store.renew(self._owners.id)

    async def _every(self, interval_s: float, act: Callable[[], Awaitable[None]]) -> None:
        while True:
            await asyncio.sleep(interval_s)
            try:
                await act()
            except RuntimeFault as error:
                logger.warning("%s", error)
