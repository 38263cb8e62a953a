"""Wait for a run on behalf of a caller, but not longer than the server lives."""

import asyncio

from inglenook.api.services import Services
from inglenook.errors import InvalidRequest
from inglenook.store.base import RunRow

LOOK_UP_S = 1.0
"""How often the wait looks up from the run to the server."""


async def ended(services: Services, run_id: str) -> RunRow:
    """The run's row once it has ended or waits for a person.

    Raises:
        InvalidRequest: 503, the server stops first; the run goes on at its next start.
    """
    while not services.is_stopping():
        try:
            async with asyncio.timeout(LOOK_UP_S):
                return await services.runs.wait(run_id)
        except TimeoutError:
            continue
    raise InvalidRequest(stopping(run_id), status=503)


def stopping(run_id: str) -> str:
    return f"the server stops; run {run_id} goes on at its next start (GET /api/runs/{run_id})"
