"""Approvals: what waits for a person before it leaves this machine, and their word (API 4)."""

from typing import Annotated

from fastapi import APIRouter, Path, Response

from inglenook.api.bodies import DecisionBody, PreviewBody
from inglenook.api.services import Served
from inglenook.api.strict_json import JsonResponse, StrictRoute
from inglenook.providers.calls import MAX_ID_CHARS
from inglenook.store.base import ApprovalStatus

router = APIRouter(prefix="/api", route_class=StrictRoute, tags=["approvals"])
BY = "api"
"""Who decided, where no person is known by name."""
CallId = Annotated[str, Path(max_length=MAX_ID_CHARS)]
"""As the model's server gave it, slashes and all: a segment of a path cannot hold those."""


@router.get("/approvals")
async def list_approvals(services: Served, status: ApprovalStatus | None = None) -> Response:
    """Oldest first: `{"items": [{"run_id", "root_id", "call": {"id", "name", "arguments"},
    "reason", "preview", "requests": [{"method", "url", "host", "body"}], "sha256", "status",
    "arguments", "created_at", "expires_at", "decided_at", "by"}]}`.

    `requests` is all that the call may send, byte for byte; `arguments` those of an edit.
    """
    return JsonResponse({"items": await services.runs.approvals(status)})


@router.post("/runs/{run_id}/approvals/{call_id:path}/preview")
async def preview_edit(
    run_id: str, call_id: CallId, body: PreviewBody, services: Served
) -> Response:
    """What a call would send with other arguments: `{"preview", "requests"}`; decides nothing."""
    return JsonResponse(await services.runs.preview_edit(run_id, call_id, body.arguments))


@router.post("/runs/{run_id}/approvals/{call_id:path}")
async def decide_approval(
    run_id: str, call_id: CallId, body: DecisionBody, services: Served
) -> Response:
    """Approve a call, deny it, or have it made with other `arguments` (`edit`); its run goes on.

    409 with the present state where it was decided or timed out; 422 where the arguments cannot be
    sent, and the call still waits.
    """
    decided = await services.runs.decide(
        run_id, call_id, body.decision, arguments=body.arguments, by=BY
    )
    return JsonResponse(decided)
