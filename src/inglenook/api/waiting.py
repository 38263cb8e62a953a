"""Wait for a run on behalf of a caller, but not longer than the server lives."""

from contextlib import aclosing

from inglenook.api.services import Services
from inglenook.errors import InvalidRequest
from inglenook.store.base import RunRow, StoredEvent


async def ended(services: Services, run_id: str) -> RunRow:
    """The run's row once it has ended or waits for a person.

    Raises:
        InvalidRequest: 503, the server stops first; the run goes on at its next start.
    """
    async with aclosing(services.runs.follow(run_id)) as frames:
        async for frame in frames:
            if isinstance(frame, StoredEvent) and frame.type == "run_waiting":
                break
            if frame is None and services.is_stopping():
                raise InvalidRequest(stopping(run_id), status=503)
    return await services.runs.row(run_id)


def stopping(run_id: str) -> str:
    return f"the server stops; run {run_id} goes on at its next start (GET /api/runs/{run_id})"
