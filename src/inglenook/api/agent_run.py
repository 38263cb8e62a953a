"""`POST /agent/run`: one question, its answer and the whole trace in one response (API 3).

`Authorization` carries the user's Open WebUI key here, for this run alone; the server's own token
comes in `X-Inglenook-Token`.
"""

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Request, Response

from inglenook.api.bodies import AgentRunBody
from inglenook.api.errors import problem_of_run
from inglenook.api.services import Served
from inglenook.api.strict_json import JsonResponse, StrictRoute
from inglenook.api.waiting import ended_for_caller
from inglenook.events import RunEvent, RunFinished
from inglenook.runs.views import trace_view
from inglenook.store.base import RunRow

router = APIRouter(route_class=StrictRoute, tags=["agent"])


@router.post("/agent/run")
async def agent_run(body: AgentRunBody, request: Request, services: Served) -> Response:
    """One question with five tools and at most 6 steps: `{"answer", "truncated", "model", "runId",
    "status", "reason", "trace"}`; `truncated` says that the steps ran out.

    A caller that hangs up stops the run."""
    row = await services.runs.start(body.request(), credential=bearer(request))
    row = await ended_for_caller(services, row.id, request)
    if row.status not in {"complete", "incomplete"}:
        return problem_of_run(row).response(request.scope["path"])
    return JsonResponse(answer_view(row, await services.runs.events(row.id)))


def bearer(request: Request) -> str | None:
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    return key.strip() or None if scheme.lower() == "bearer" else None


def answer_view(row: RunRow, events: Sequence[RunEvent]) -> dict[str, Any]:
    """Shape: API section 3."""
    finished = next((event for event in events if isinstance(event, RunFinished)), None)
    return {
        "answer": finished.answer if finished else "",
        "truncated": (row.status, row.reason) == ("incomplete", "step_limit"),
        "model": row.model,
        "runId": row.id,
        "status": row.status,
        "reason": row.reason,
        "trace": trace_view(events),
    }
