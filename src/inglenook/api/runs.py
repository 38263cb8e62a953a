"""`/api/runs`: start, list, follow, stop, replay, export and erase runs (API section 4)."""

import re
from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request, Response

from inglenook.api.bodies import CredentialBody, RunBody
from inglenook.api.errors import OPEN_WEBUI_KEY
from inglenook.api.replay_child import replay_in_child
from inglenook.api.services import Served
from inglenook.api.sse import EventStream, run_frames
from inglenook.api.strict_json import JsonResponse, StrictRoute
from inglenook.api.waiting import ended
from inglenook.api.withheld import shown
from inglenook.errors import Conflict, InvalidRequest
from inglenook.events import ENDED, Status
from inglenook.store.base import RunRow, StoredEvent

router = APIRouter(prefix="/api/runs", route_class=StrictRoute, tags=["runs"])
MAX_PAGE = 200
CURSOR = re.compile(r"run_[0-9a-f]{1,40}")
"""The id of a page's last run."""
Credential = Annotated[str | None, Header(alias=OPEN_WEBUI_KEY, max_length=10_000)]
IdempotencyKey = Annotated[str | None, Header(alias="Idempotency-Key", max_length=200)]
LastEventId = Annotated[int | None, Header(alias="Last-Event-ID", ge=0)]


@router.post("", status_code=201)
async def start_run(
    body: RunBody,
    services: Served,
    wait: bool = False,
    credential: Credential = None,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Start a run: `{"id", "status"}`.

    With `wait=true` the whole run, when it ends or waits for a person; it goes on if the caller
    hangs up. A repeat with the same `Idempotency-Key` returns the first run; an empty one is none.
    """
    row = await services.runs.start(
        body.request(), credential=credential or None, idempotency_key=idempotency_key or None
    )
    if not wait:
        return JsonResponse(brief(row), 201)
    await ended(services, row.id)
    return JsonResponse(await services.runs.get(row.id), 201)


@router.get("")
async def list_runs(
    services: Served,
    status: Status | None = None,
    session: str | None = None,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 50,
    cursor: str | None = None,
) -> Response:
    """The newest runs first: `{"items": [run], "next": cursor or null}`."""
    if cursor is not None and not CURSOR.fullmatch(cursor):
        raise InvalidRequest(
            f"cursor {cursor!r:.100} is none; send the `next` of the page before, or nothing",
            field="cursor",
        )
    page = await services.runs.list_runs(status=status, session=session, limit=limit, cursor=cursor)
    return JsonResponse(page)


@router.get("/{run_id}")
async def get_run(run_id: str, services: Served) -> Response:
    """One run: its `status`, `reason` and `explanation`, `answer`, `sources`, `usage`, `egress`."""
    return JsonResponse(await services.runs.get(run_id))


@router.delete("/{run_id}")
async def erase_run(run_id: str, services: Served) -> Response:
    """Erase what an ended run said and saw: `{"id", "erased": events}`.

    The events' headers and digests stay, and still verify.
    """
    return JsonResponse({"id": run_id, "erased": await services.runs.erase(run_id)})


@router.get("/{run_id}/events")
async def run_events(
    run_id: str,
    request: Request,
    services: Served,
    after: Annotated[int, Query(ge=-1)] = -1,
    last_event_id: LastEventId = None,
) -> Response:
    """The run's events after `after`: a JSON list, or with `Accept: text/event-stream` a stream
    that goes on until the run ends.

    Stored events carry an `id`, and `Last-Event-ID` resumes behind it. `text_delta`,
    `reasoning_delta` and `heartbeat` are live only. Hidden thinking is `{"hidden": true}`.
    """
    row = await services.runs.row(run_id)
    after = after if last_event_id is None else last_event_id
    if "text/event-stream" not in request.headers.get("accept", ""):
        events = await services.runs.stored_events(run_id, after=after)
        return Response(_list(events, services.show_reasoning), media_type="application/json")
    if row.status in ENDED and not await services.runs.stored_events(run_id, after=after):
        return Response(status_code=204)  # tells an EventSource to stop asking
    return EventStream(run_frames(services, run_id, after))


@router.post("/{run_id}/cancel")
async def cancel_run(run_id: str, services: Served) -> Response:
    """Stop a run: `{"id", "status"}`. It ends as `cancelled` within seconds; an ended one stays."""
    return JsonResponse(brief(await services.runs.cancel(run_id)))


@router.post("/{run_id}/credential")
async def give_credential(run_id: str, body: CredentialBody, services: Served) -> Response:
    """Hand a run that waits with `needs_credential` its user's key; it is kept in memory only."""
    return JsonResponse(brief(await services.runs.give_credential(run_id, body.credential)))


@router.get("/{run_id}/egress")
async def run_egress(run_id: str, services: Served) -> Response:
    """What left this machine: `{"items": [{"run_id", "n", "method", "host", "path", "bytes_out",
    "why", "permission", "call", "status", "bytes_in", "sent"}]}`, in order. `call` is the tool call
    that it belongs to, or empty; `sent` is false where no connection came about, and null where the
    end is not known."""
    return JsonResponse({"items": await services.runs.egress(run_id)})


@router.get("/{run_id}/export")
async def export_run(run_id: str, services: Served) -> Response:
    """The run as JSON Lines, enough to replay it anywhere.

    The model's reasoning is in it, shown to readers or not: without it no replay is the same.
    """
    return Response(
        await services.runs.export(run_id),
        media_type="application/x-ndjson",
        headers={"Content-Disposition": f'attachment; filename="{run_id}.jsonl"'},
    )


@router.post("/{run_id}/replay")
async def replay_run(run_id: str, services: Served) -> Response:
    """Run the recorded run again, without sockets: `{"identical", "difference"}`."""
    row = await services.runs.row(run_id)
    if row.status not in ENDED:
        raise Conflict(f"run {run_id!r} is {row.status}; only ended runs are replayed")
    outcome = await replay_in_child(await services.runs.export(run_id), services.replay_command)
    return JsonResponse({"identical": outcome.identical, "difference": outcome.difference})


def brief(row: RunRow) -> dict[str, str]:
    return {"id": row.id, "status": row.status}


def _list(events: Sequence[StoredEvent], show_reasoning: bool) -> bytes:
    return b"[" + b",".join(shown(event, show_reasoning=show_reasoning) for event in events) + b"]"
