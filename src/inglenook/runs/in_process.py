"""The default engine: runs are tasks of this process, and the store is what survives it."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from inglenook.errors import RuntimeFault
from inglenook.runs.approval_inbox import time_out_approvals, wake_decided
from inglenook.runs.endings import CANCELLED
from inglenook.runs.supervisor import Outcome, RunSupervisor
from inglenook.store.base import RunRow, RuntimeStore
from inglenook.store.locks import Owners

logger = logging.getLogger(__name__)

INBOX_INTERVAL_S = 0.5
"""How soon a cancel from another process is seen; a stop must take effect within 3 s."""
RENEW_INTERVAL_S = 10.0
RECOVER_INTERVAL_S = 2.0
"""How soon a run is taken up whose process died."""
FIRST_REST_S = 5.0
"""How long a run is left alone that could not go on; twice that after each further try."""
MAX_REST_S = 300.0


@dataclass(frozen=True, kw_only=True)
class Rest:
    """A run that could not go on, and when it may be tried again."""

    length_s: float
    until: float
    """By the engine's clock."""


class InProcessEngine:
    """Use as `async with engine:`; leaving it stops the tasks, whose runs stay unfinished."""

    def __init__(
        self,
        *,
        store: RuntimeStore,
        supervisor: RunSupervisor,
        owners: Owners,
        clock: Callable[[], float] = time.monotonic,
        approval_clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store = store
        self._supervisor = supervisor
        self._owners = owners
        self._clock = clock
        self._approval_clock = approval_clock
        self._resting: dict[str, Rest] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._submitted: dict[str, int] = {}
        """The epoch that each run was last submitted with."""
        self._begun: set[str] = set()
        """Runs whose task has had its first turn: before that, cancelling it leaves no trace."""
        self._group = asyncio.TaskGroup()
        self._timers: list[asyncio.Task[None]] = []
        self._has_recovered = False

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

    async def submit(self, run_id: str, *, epoch: int) -> None:
        if self.executes(run_id):  # with a later epoch: it waited, and its task is on its way out
            self._submitted[run_id] = max(epoch, self._submitted[run_id])
            return
        self._submitted[run_id] = epoch
        self._begun.discard(run_id)
        task = self._group.create_task(self._execute(run_id), name=run_id)
        self._tasks[run_id] = task
        task.add_done_callback(self._forget)

    def executes(self, run_id: str) -> bool:
        return self._task_of(run_id) is not None

    def _task_of(self, run_id: str) -> asyncio.Task[None] | None:
        """None also where the task has ended and the loop has not yet told us."""
        task = self._tasks.get(run_id)
        return None if task is None or task.done() else task

    async def _execute(self, run_id: str) -> None:
        """Try until no later submission is left to do."""
        self._begun.add(run_id)
        tried = None
        while tried != self._submitted[run_id]:
            tried = self._submitted[run_id]
            self._rest(run_id, await self._supervisor.execute(run_id, epoch=tried))

    def _rest(self, run_id: str, outcome: Outcome) -> None:
        if outcome == "stands_still":
            before = self._resting.get(run_id)
            length_s = min(2 * before.length_s, MAX_REST_S) if before else FIRST_REST_S
            self._resting[run_id] = Rest(length_s=length_s, until=self._clock() + length_s)
        else:
            self._resting.pop(run_id, None)

    def _forget(self, task: asyncio.Task[None]) -> None:
        run_id = task.get_name()
        if self._tasks.get(run_id) is task:
            del self._tasks[run_id], self._submitted[run_id]
            self._begun.discard(run_id)

    async def join(self, run_id: str) -> None:
        if task := self._task_of(run_id):
            await asyncio.wait([task])

    async def cancel(self, run_id: str) -> bool:
        task = self._task_of(run_id)
        if task is None:
            return False
        if run_id not in self._begun:
            task.cancel()
            return False  # nobody holds it now
        if self._supervisor.mark_cancelled(run_id):
            task.cancel()
        return True

    async def recover(self) -> int:
        rows = await self._store.unfinished_runs()
        open_ids = {row.id for row in rows}
        self._resting = {id: rest for id, rest in self._resting.items() if id in open_ids}
        taken = 0
        for row in rows:
            if row.parent is not None:
                await self._recover_child(row)
            elif self._is_free(row):
                await self.submit(row.id, epoch=row.epoch)
                taken += 1
        if not self._has_recovered:
            await wake_decided(self._store, self)
            self._has_recovered = True
        await time_out_approvals(self._store, self, self._approval_clock())
        return taken

    async def keep_recovering(
        self, pause: Callable[[float], Awaitable[object]] = asyncio.sleep
    ) -> None:
        """Recover again and again, after a pause each; ends with its task alone."""
        await self._every(RECOVER_INTERVAL_S, self.recover, pause)

    def _is_free(self, row: RunRow) -> bool:
        """Nobody works on it, and it need not rest."""
        if self.executes(row.id):
            return False
        rest = self._resting.get(row.id)
        if rest is not None and self._clock() < rest.until:
            return False
        if row.owner in (None, self._owners.id):  # ours without a task: it stands still
            return True
        is_expired = row.lease_until is not None and row.lease_until < datetime.now(UTC)
        return is_expired or not self._owners.is_alive(row.owner or "")

    async def _recover_child(self, row: RunRow) -> None:
        """A child is its parent's to find again; one whose parent has ended is ended, too."""
        parent = await self._store.get_run(row.parent or "")
        if parent is None or parent.finished_at is not None:
            await self._supervisor.end_orphan(row.id)

    async def _read_inbox(self) -> None:
        for item in await self._store.take(list(self._tasks)) if self._tasks else ():
            if item.kind == "cancel" and not await self.cancel(item.run_id):
                await self._end_unheld(item.run_id)  # it stopped working meanwhile, perhaps to wait

    async def _end_unheld(self, run_id: str) -> None:
        row = await self._store.get_run(run_id)
        if row is not None and row.owner is None:
            await self._supervisor.finish_unheld(row, CANCELLED)

    async def _renew(self) -> None:
        if self._tasks:
            await self._store.renew(self._owners.id)

    async def _every(
        self,
        interval_s: float,
        act: Callable[[], Awaitable[object]],
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        while True:
            await pause(interval_s)
            try:
                await act()
            except RuntimeFault as error:
                logger.warning("%s", error)
