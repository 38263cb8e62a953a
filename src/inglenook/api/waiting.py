"""Wait for a run on behalf of a caller, but not longer than the server lives."""

import asyncio

from fastapi import Request

from inglenook.api.services import Services
from inglenook.api.sse import until_left
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


async def ended_for_caller(services: Services, run_id: str, request: Request) -> RunRow:
    """As `ended`, for a caller that learns the run's id only from the answer: if it hangs up, the
    run is cancelled, as nobody could find it any more.

    Raises:
        InvalidRequest: As `ended`.
    """
    try:
        async with asyncio.TaskGroup() as group:
            watcher = group.create_task(_cancel_when_left(services, run_id, request))
            row = await ended(services, run_id)
            watcher.cancel()
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from failed  # the error table knows no groups
    return row


async def _cancel_when_left(services: Services, run_id: str, request: Request) -> None:
    await until_left(request.receive)
    if not services.is_stopping():
        await services.runs.cancel(run_id)


def stopping(run_id: str) -> str:
    return f"the server stops; run {run_id} goes on at its next start (GET /api/runs/{run_id})"
