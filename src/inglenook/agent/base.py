"""Agent: anything that can carry a run to its answer, from wherever its events say it stands."""

from typing import Protocol

from inglenook.agent.state import RunState
from inglenook.run_context import RunContext


class Agent(Protocol):
    async def run(self, state: RunState, run: RunContext) -> str:
        """Work on from `state` until there is an answer that every guardrail accepts; return it.

        Every change is an event given to `run.sink`, which logs it and folds it into `state`
        (`FoldingSink`), so that the run can be killed anywhere. Cancellation stops the model's
        call and the running tools.

        Raises:
            RunEnded: A limit or guardrail stopped the run; `state` holds what was reached.
            ProviderError: The model could not be reached, retries included.
            CredentialNeeded: A key is missing that only the run's owner has.
            ApprovalNeeded: A call waits for a person; its neighbours have ended.
            LeaseLost, StoreError: The log cannot be written; nothing more may happen.
        """
        ...
