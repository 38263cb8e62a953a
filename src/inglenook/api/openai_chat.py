"""`/v1`: the runtime as a model behind any client of OpenAI's API, Open WebUI first of all."""

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Any

from fastapi import APIRouter, Header, Request, Response

from inglenook.api.errors import OPEN_WEBUI_KEY, problem_of, problem_of_run
from inglenook.api.openai_body import RESEARCH_SUFFIX, ChatBody
from inglenook.api.openai_stream import ChatStream, Chunk, completion, has_answer
from inglenook.api.services import Served, Services
from inglenook.api.sse import EventStream
from inglenook.api.strict_json import JsonResponse, StrictRoute, encoded
from inglenook.api.waiting import ended_for_caller, stopping
from inglenook.errors import InvalidRequest, StoreError
from inglenook.events import TextDelta, decode
from inglenook.store.base import RunRow

router = APIRouter(prefix="/v1", route_class=StrictRoute, tags=["openai"])

KEEP_ALIVE = b": keep-alive\n\n"
DONE = b"data: [DONE]\n\n"
Credential = Annotated[str | None, Header(alias=OPEN_WEBUI_KEY, max_length=10_000)]


@router.get("/models")
async def list_models(services: Served) -> Response:
    """Every model on offer, and each as a research agent where the web can be searched from here.

    Asks no model's server what the model can do."""
    ids = [spec.id for spec in await services.models.specs()]
    if not ids:
        try:
            ids = [await services.models.default_id()]
        except InvalidRequest:
            ids = []
    if services.web().can_search:
        ids += [id + RESEARCH_SUFFIX for id in ids]
    return JsonResponse({"object": "list", "data": [_model(id) for id in ids]})


@router.post("/chat/completions")
async def chat_completions(
    body: ChatBody, request: Request, services: Served, credential: Credential = None
) -> Response:
    """One run. `runtime` sets its scope: `{"knowledge": [id], "web": bool, "chat_id": str}`; a
    model id that ends in `:research` allows the web, unless `runtime.web` is false.

    A client that hangs up, streaming or not, stops the run, as Open WebUI's stop button does.
    """
    row = await services.runs.start(body.request(), credential=credential or None)
    if body.stream:
        usage = body.stream_options is not None and body.stream_options.include_usage
        return EventStream(
            _chunks(services, row, include_usage=usage),
            on_leave=lambda: services.runs.cancel(row.id),
        )
    row = await ended_for_caller(services, row.id, request)
    events = await services.runs.events(row.id)
    if not has_answer(events):
        return problem_of_run(row).response(request.scope["path"])
    return JsonResponse(completion(row, events, show_reasoning=services.show_reasoning))


async def _chunks(
    services: Services, row: RunRow, *, include_usage: bool
) -> AsyncGenerator[bytes, None]:
    stream = ChatStream(row, show_reasoning=services.show_reasoning, include_usage=include_usage)
    sent_at = time.monotonic()
    yield _lines(stream.opening())
    try:
        async with aclosing(services.runs.follow(row.id)) as frames:
            async for frame in frames:
                if frame is None:
                    if services.is_stopping():
                        raise StoreError(stopping(row.id))
                    if time.monotonic() - sent_at < services.heartbeat_s:
                        continue
                    yield KEEP_ALIVE
                elif isinstance(frame, TextDelta):
                    yield _lines(stream.of(frame))
                elif frame.payload is not None:
                    yield _lines(stream.of(decode(frame.payload)))
                sent_at = time.monotonic()
    except StoreError as error:
        yield _lines([{"error": problem_of(error).openai()}])
    yield DONE


def _lines(chunks: list[Chunk]) -> bytes:
    return b"".join(b"data: %b\n\n" % encoded(chunk) for chunk in chunks)


def _model(id: str) -> dict[str, Any]:
    # `created` is required by clients; no model server tells it.
    return {"id": id, "object": "model", "created": 0, "owned_by": "inglenook"}
