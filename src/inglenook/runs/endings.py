"""Endings: each way in which an agent's work can end, as status, reason and one sentence."""

import asyncio
import logging
from dataclasses import dataclass

from inglenook.agent.base import Agent
from inglenook.agent.state import RunState
from inglenook.errors import (
    ApprovalNeeded,
    CredentialNeeded,
    InvalidRequest,
    ProviderBusy,
    ProviderError,
    Reason,
    RunEnded,
    StoreError,
    ToolError,
)
from inglenook.events import Status
from inglenook.providers.finish_reasons import caveat
from inglenook.run_context import RunContext

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


async def worked_to_end(
    agent: Agent, state: RunState, run: RunContext, *, is_patient: bool
) -> Ending:
    """Have `agent` work on from `state` within the run's time, and say how that ended.

    Args:
        is_patient: A model that cannot be asked now is no end.

    Raises:
        ProviderBusy: The model cannot be asked now, and the run is patient.
        ApprovalNeeded, CredentialNeeded, StoreError: As they came.
    """
    limit = asyncio.timeout(run.limits.max_seconds)
    try:
        async with limit:
            await agent.run(state, run)
    except RunEnded as ended:
        return Ending(status="incomplete", reason=ended.reason, explanation=ended.explanation)
    except (ProviderError, InvalidRequest, ToolError) as error:
        if is_patient and isinstance(error, ProviderBusy):
            raise
        return Ending(status="failed", reason="provider_error", explanation=str(error))
    except (StoreError, CredentialNeeded, ApprovalNeeded):
        raise
    except Exception as error:
        if isinstance(error, TimeoutError) and limit.expired():
            return Ending(
                status="incomplete",
                reason="time_limit",
                explanation=f"The run used all of its {run.limits.max_seconds:g} seconds. Ask for "
                "less, take a faster model, or allow more: `limits.seconds`, for research "
                "`research.timeout_s`.",
            )
        logger.exception("run %s failed", run.run_id)
        return Ending(
            status="failed",
            reason="internal_error",
            explanation="The run failed by a fault of this program; its log has the details.",
        )
    return Ending(status="complete", reason=None, explanation=_summary(state))


def _summary(state: RunState) -> str:
    if state.reused is not None:
        return state.reused.explanation
    calls = f"{state.tool_calls} tool call{'s' if state.tool_calls != 1 else ''}"
    summary = f"Answered after {state.steps} step{'s' if state.steps != 1 else ''} and {calls}."
    note = caveat(state.last_finish_reason)
    return f"{summary} {note}" if note else summary
