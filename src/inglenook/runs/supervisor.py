"""RunSupervisor: executes one run under a lease, and turns every way it can end into one event."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from inglenook.agent.base import Agent
from inglenook.agent.sources import cited_sources
from inglenook.agent.state import FoldingSink, RunState
from inglenook.agent.strategies import STRATEGIES
from inglenook.errors import (
    ApprovalNeeded,
    CredentialNeeded,
    LeaseLost,
    ProviderBusy,
    StoreError,
)
from inglenook.events import (
    ApprovalDecided,
    EgressStarted,
    PromptBuilt,
    RunFinished,
    RunResumed,
    RunStarted,
    RunWaiting,
    decode,
)
from inglenook.run_context import EgressNumbers, Limits, RunContext, Sources
from inglenook.run_request import RequestLimits
from inglenook.runs.approval_inbox import has_news
from inglenook.runs.broadcast import Broadcast
from inglenook.runs.endings import CANCELLED, ORPHANED, Ending, worked_to_end
from inglenook.runs.sink import RecordingSink
from inglenook.store.base import RunRow, RuntimeStore

logger = logging.getLogger(__name__)


Outcome = Literal["settled", "waits", "stopped", "stands_still"]
"""Settled: it ended, waits for a key, or is another process's now. It waits: for a decision.
Stopped: it ended by its user's wish. It stands still: it has not ended and nobody works on it; a
later try may go on."""


@dataclass(frozen=True, kw_only=True)
class Taken:
    """A run under our lease."""

    state: RunState
    run: RunContext
    epoch: int
    is_patient: bool
    """A model server that is down does not end it, as it was at work before and is said to go on.
    Not so a child: its parent reads of the failure and goes on itself."""


class RunSupervisor:
    def __init__(
        self,
        *,
        store: RuntimeStore,
        broadcast: Broadcast,
        agents: Mapping[str, Agent],
        owner: str,
        default_limits: RequestLimits,
        strategy_limits: Mapping[str, RequestLimits],
        credentials: dict[str, str],
    ) -> None:
        """`agents` and `strategy_limits` by strategy name; `credentials` by run id, filled and
        emptied by the service."""
        self._store = store
        self._broadcast = broadcast
        self._agents = agents
        self._owner = owner
        self._default_limits = default_limits
        self._strategy_limits = strategy_limits
        self._credentials = credentials
        self._cancelled: set[str] = set()
        self._children: dict[str, set[str]] = {}

    def mark_cancelled(self, run_id: str) -> bool:
        """The next cancellation of this run's task is the user's wish, not a shutdown.

        False if that was said before: the task is ending already and must not be disturbed.
        """
        if run_id in self._cancelled:
            return False
        self._cancelled |= {run_id, *self._children.get(run_id, ())}
        return True

    async def execute(self, run_id: str, *, epoch: int | None = None) -> Outcome:
        """Work on a run until it ends, waits, is taken over or cannot go on.

        Raises CancelledError only when this process shuts down: the run then goes on at the next
        start.

        Args:
            epoch: The run is left to whoever took it up since; None: it is taken from them.
        """
        outcome: Outcome = "stands_still"
        try:
            outcome = await self._work_on(run_id, epoch)
        except asyncio.CancelledError:
            if run_id not in self._cancelled:
                raise
            _absorb_cancellation()
            outcome = await self._end_before_work(run_id)
        except LeaseLost as error:
            logger.warning("%s", error)
            self._credentials.pop(run_id, None)
            outcome = "settled"
        except StoreError as error:
            logger.error("run %s stands still: %s", run_id, error)
        except Exception:  # one bad run must not take the others' engine down
            logger.exception("run %s cannot be taken up", run_id)
        finally:
            self._broadcast.end(run_id)
            if outcome != "stands_still":  # else the user's wish is still to be done
                self._cancelled.discard(run_id)
        return outcome

    async def _work_on(self, run_id: str, epoch: int | None) -> Outcome:
        while taken := await self._take_up(run_id, epoch=epoch):
            outcome = await self._work(taken)
            if outcome != "waits" or not await self._goes_on(taken):
                return outcome
            epoch = taken.epoch
        return "settled"

    async def _goes_on(self, taken: Taken) -> bool:
        """Somebody decided while the run was about to wait, and so did not submit it. A child is
        its parent's to find again."""
        is_root = taken.run.root_id == taken.run.run_id
        return is_root and await has_news(self._store, taken.run.run_id)

    async def execute_child(self, run_id: str, parent: str, credential: str | None) -> None:
        """`execute` within the parent's task: what cancels the parent cancels the child."""
        self._children.setdefault(parent, set()).add(run_id)
        if credential is not None:
            self._credentials[run_id] = credential
        try:
            if await self.execute(run_id) == "stopped" or parent in self._cancelled:
                raise asyncio.CancelledError  # it was the parent's too
        finally:
            self._credentials.pop(run_id, None)
            self._children[parent].discard(run_id)
            if not self._children[parent]:
                del self._children[parent]

    async def finish_unheld(self, row: RunRow, ending: Ending) -> None:
        """End a run that nobody executes (it waits, or its holder is gone).

        Raises:
            LeaseLost: Somebody took it up meanwhile.
        """
        if taken := await self._take_up(row.id, epoch=row.epoch):
            await self._finish(taken, ending)

    async def _end_before_work(self, run_id: str) -> Outcome:
        """Record a stop that came while the run was being taken up."""
        try:
            if taken := await self._take_up(run_id):
                await self._finish(taken, CANCELLED)
        except StoreError as error:
            logger.error("run %s was stopped, but that cannot be stored: %s", run_id, error)
            return "stands_still"
        return "stopped"

    async def _take_up(self, run_id: str, *, epoch: int | None = None) -> Taken | None:
        """None where there is no such run or it has ended."""
        claim = await self._store.claim(run_id, self._owner, self._broadcast.committed, epoch=epoch)
        if claim is None:
            self._credentials.pop(run_id, None)
            return None
        events = [decode(event.payload) for event in claim.events if event.payload is not None]
        state = RunState(events)
        assert state.started is not None, "run_started is written with the run's row"
        sink = FoldingSink(RecordingSink(run_id, claim.log, self._broadcast), state)
        was_at_work = len(claim.events) > 1
        if was_at_work:
            sink.emit(RunResumed(by=self._owner, epoch=claim.log.epoch))
        run = RunContext(
            run_id=run_id,
            root_id=await self._root_of(claim.row),
            sink=sink,
            limits=self._limits(state.started, state.prompt),
            permissions=state.started.permissions,
            today=state.started.today,
            sources=Sources(state.sources),
            egress=EgressNumbers(sum(isinstance(event, EgressStarted) for event in events)),
            credential=self._credentials.get(run_id),
            labels=state.reading.labels,
        )
        return Taken(
            state=state,
            run=run,
            epoch=claim.log.epoch,
            is_patient=was_at_work and claim.row.parent is None,
        )

    async def _root_of(self, row: RunRow) -> str:
        while row.parent is not None:
            parent = await self._store.get_run(row.parent)
            if parent is None:
                break
            row = parent
        return row.id

    def _limits(self, started: RunStarted, prompt: PromptBuilt | None) -> Limits:
        """What a run began with holds for all of it, whatever the settings say by now."""
        strategy, default = started.request.strategy, self._default_limits
        asked, own = started.request.limits, self._strategy_limits.get(strategy, RequestLimits())
        steps = asked.steps or own.steps or default.steps or STRATEGIES[strategy].max_steps
        return Limits(
            max_steps=prompt.max_steps if prompt else steps,
            max_seconds=asked.seconds or own.seconds or default.seconds,
            max_output_tokens=asked.output_tokens or own.output_tokens or default.output_tokens,
        )

    async def _work(self, taken: Taken) -> Outcome:
        state, run = taken.state, taken.run
        assert state.started is not None, "run_started is written with the run's row"
        try:
            if run.run_id in self._cancelled:  # a stop whose end could not be stored is left to do
                ending = CANCELLED
            else:
                agent = self._agents[state.started.request.strategy]
                ending = await worked_to_end(agent, state, run, is_patient=taken.is_patient)
        except CredentialNeeded:
            if self._credentials.get(run.run_id) == run.credential:  # not a newer one
                self._credentials.pop(run.run_id, None)
            run.sink.emit(RunWaiting(reason="needs_credential"))
            await run.sink.settle()
            return "settled"
        except ApprovalNeeded:
            run.sink.emit(RunWaiting(reason="approval"))
            await run.sink.settle(sync=True)
            return "waits"
        except ProviderBusy as error:
            logger.warning("run %s stands still: %s", run.run_id, error)
            await run.sink.settle()
            why = f"{str(error).rstrip('.')}. The run is tried again."
            await self._store.release(run.run_id, taken.epoch, why)
            return "stands_still"
        except asyncio.CancelledError:
            if run.run_id not in self._cancelled:
                raise
            _absorb_cancellation()
            ending = CANCELLED
        await self._finish(taken, ending)
        return "stopped" if ending is CANCELLED else "settled"

    async def _finish(self, taken: Taken, ending: Ending) -> None:
        state, run = taken.state, taken.run
        answer = state.answer
        try:
            for child in state.open_children:
                await self.end_orphan(child)
            for asked in state.asked.open():
                run.sink.emit(ApprovalDecided(call=asked.call.id, decision="expired"))
            run.sink.emit(
                RunFinished(
                    status=ending.status,
                    reason=ending.reason,
                    explanation=ending.explanation,
                    answer=answer,
                    sources=cited_sources(answer, state.sources),
                )
            )
            await run.sink.settle(sync=True)
        finally:
            self._broadcast.end(run.run_id)
        self._credentials.pop(run.run_id, None)
        self._cancelled.discard(run.run_id)

    async def end_orphan(self, run_id: str) -> None:
        """End a child whose parent has ended without it."""
        if taken := await self._take_up(run_id):
            await self._finish(taken, ORPHANED)


def _absorb_cancellation() -> None:
    """The cancellation was the user's and has done its work; this task goes on to record it."""
    task = asyncio.current_task()
    assert task is not None
    task.uncancel()
