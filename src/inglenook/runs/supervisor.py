"""RunSupervisor: executes one run under a lease, and turns every way it can end into one event."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass

from inglenook.agent.base import Agent
from inglenook.agent.sources import cited_sources
from inglenook.agent.state import FoldingSink, RunState
from inglenook.agent.strategies import STRATEGIES
from inglenook.errors import (
    CredentialNeeded,
    InvalidRequest,
    LeaseLost,
    ProviderError,
    Reason,
    RunEnded,
    StoreError,
    ToolError,
)
from inglenook.events import (
    EgressStarted,
    PromptBuilt,
    RunFinished,
    RunResumed,
    RunStarted,
    RunWaiting,
    Status,
    decode,
)
from inglenook.providers.finish_reasons import CUT_OFF_NOTE, is_cut_off
from inglenook.run_context import EgressNumbers, Limits, RunContext, Sources
from inglenook.run_request import RequestLimits
from inglenook.runs.broadcast import Broadcast
from inglenook.runs.sink import RecordingSink
from inglenook.store.base import RunRow, RuntimeStore

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Ending:
    status: Status
    reason: Reason | None
    explanation: str


ORPHANED = Ending(
    status="incomplete", reason="interrupted", explanation="Its parent run ended before it."
)
CANCELLED = Ending(
    status="cancelled", reason="cancelled_by_user", explanation="Stopped by the user."
)


class RunSupervisor:
    def __init__(
        self,
        *,
        store: RuntimeStore,
        broadcast: Broadcast,
        agents: Mapping[str, Agent],
        owner: str,
        default_limits: RequestLimits,
        credentials: dict[str, str],
    ) -> None:
        """`agents` by strategy name; `credentials` by run id, filled and emptied by the service."""
        self._store = store
        self._broadcast = broadcast
        self._agents = agents
        self._owner = owner
        self._default_limits = default_limits
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

    async def execute(self, run_id: str) -> bool:
        """Work on a run until it ends, waits or is taken over; True if its user stopped it.

        Raises CancelledError only when this process shuts down: the run then goes on at the next
        start.
        """
        try:
            taken = await self._take_up(run_id)
            return taken is not None and await self._work(*taken)
        except asyncio.CancelledError:
            if run_id not in self._cancelled:
                raise
            _absorb_cancellation()
            await self._end_before_work(run_id)
            return True
        except LeaseLost as error:
            logger.warning("%s", error)
        except StoreError as error:
            logger.error("run %s stands still: %s", run_id, error)
        except Exception:  # one bad run must not take the others' engine down
            logger.exception("run %s cannot be taken up", run_id)
        finally:
            self._cancelled.discard(run_id)
        return False

    async def execute_child(self, run_id: str, parent: str, credential: str | None) -> None:
        """`execute` within the parent's task: what cancels the parent cancels the child."""
        self._children.setdefault(parent, set()).add(run_id)
        if credential is not None:
            self._credentials[run_id] = credential
        try:
            if await self.execute(run_id) or parent in self._cancelled:
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
        taken = await self._take_up(row.id, epoch=row.epoch)
        if taken is not None:
            await self._finish(*taken, ending)
            self._credentials.pop(row.id, None)

    async def _end_before_work(self, run_id: str) -> None:
        """Record a stop that came while the run was being taken up."""
        try:
            if taken := await self._take_up(run_id):
                await self._finish(*taken, CANCELLED)
        except StoreError as error:
            logger.error("run %s was stopped, but that cannot be stored: %s", run_id, error)

    async def _take_up(
        self, run_id: str, *, epoch: int | None = None
    ) -> tuple[RunState, RunContext] | None:
        """The run under our lease; None where there is none or it has ended."""
        claim = await self._store.claim(run_id, self._owner, self._broadcast.committed, epoch=epoch)
        if claim is None:
            return None
        events = [decode(event.payload) for event in claim.events if event.payload is not None]
        state = RunState(events)
        assert state.started is not None, "run_started is written with the run's row"
        sink = FoldingSink(RecordingSink(run_id, claim.log, self._broadcast), state)
        if len(claim.events) > 1:
            sink.emit(RunResumed(by=self._owner, epoch=claim.log.epoch))
        run = RunContext(
            run_id=run_id,
            sink=sink,
            limits=self._limits(state.started, state.prompt),
            permissions=state.started.permissions,
            user=claim.row.user,
            today=state.started.today,
            sources=Sources(state.sources),
            egress=EgressNumbers(sum(isinstance(event, EgressStarted) for event in events)),
            credential=self._credentials.get(run_id),
        )
        return state, run

    def _limits(self, started: RunStarted, prompt: PromptBuilt | None) -> Limits:
        """What a run began with holds for all of it, whatever the settings say by now."""
        asked, default = started.request.limits, self._default_limits
        steps = asked.steps or default.steps or STRATEGIES[started.request.strategy].max_steps
        return Limits(
            max_steps=prompt.max_steps if prompt else steps,
            max_seconds=asked.seconds or default.seconds,
            max_output_tokens=asked.output_tokens or default.output_tokens,
        )

    async def _work(self, state: RunState, run: RunContext) -> bool:
        assert state.started is not None
        agent = self._agents[state.started.request.strategy]
        try:
            ending = await self._ending_of(agent, state, run)
        except CredentialNeeded:
            run.sink.emit(RunWaiting(reason="needs_credential"))
            await run.sink.settle()
            return False
        except asyncio.CancelledError:
            if run.run_id not in self._cancelled:
                raise
            _absorb_cancellation()
            ending = CANCELLED
        await self._finish(state, run, ending)
        self._credentials.pop(run.run_id, None)
        return ending is CANCELLED

    async def _finish(self, state: RunState, run: RunContext, ending: Ending) -> None:
        for child in state.open_children:
            await self.end_orphan(child)
        answer = state.last_text
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

    async def end_orphan(self, run_id: str) -> None:
        """End a child whose parent has ended without it."""
        if taken := await self._take_up(run_id):
            await self._finish(*taken, ORPHANED)

    async def _ending_of(self, agent: Agent, state: RunState, run: RunContext) -> Ending:
        limit = asyncio.timeout(run.limits.max_seconds)
        try:
            async with limit:
                await agent.run(state, run)
        except RunEnded as ended:
            return Ending(status="incomplete", reason=ended.reason, explanation=ended.explanation)
        except (ProviderError, InvalidRequest, ToolError) as error:
            return Ending(status="failed", reason="provider_error", explanation=str(error))
        except (StoreError, CredentialNeeded):
            raise
        except Exception as error:
            if isinstance(error, TimeoutError) and limit.expired():
                return Ending(
                    status="incomplete",
                    reason="time_limit",
                    explanation=f"The run used all of its {run.limits.max_seconds:g} seconds.",
                )
            logger.exception("run %s failed", run.run_id)
            return Ending(
                status="failed",
                reason="internal_error",
                explanation="The run failed by a fault of this program; its log has the details.",
            )
        return Ending(status="complete", reason=None, explanation=_summary(state))


def _absorb_cancellation() -> None:
    """The cancellation was the user's and has done its work; this task goes on to record it."""
    task = asyncio.current_task()
    assert task is not None
    task.uncancel()


def _summary(state: RunState) -> str:
    calls = f"{state.tool_calls} tool call{'s' if state.tool_calls != 1 else ''}"
    summary = f"Answered after {state.steps} step{'s' if state.steps != 1 else ''} and {calls}."
    return f"{summary} {CUT_OFF_NOTE}" if is_cut_off(state.last_finish_reason) else summary
