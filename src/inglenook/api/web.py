"""`/api/web`: how the web can be reached from here, and how the search engines are doing."""

from datetime import datetime

from fastapi import APIRouter, Response

from inglenook.api.services import Served
from inglenook.api.strict_json import JsonResponse
from inglenook.runs.views import shown_time
from inglenook.web.search import EngineStatus

router = APIRouter(prefix="/api/web", tags=["web"])


@router.get("")
async def web(services: Served) -> Response:
    """`{"engines": [{"name", "host", "state", "since", "retry_at", "detail"}], "approvals":
    {"web_search", "confidential"}, "browser", "cache"}`. Sends nothing: `state` is what an engine
    gave when it was last asked, and `since` is null where it was not since the server's start."""
    state = services.web()
    return JsonResponse(
        {
            "engines": [_engine(engine) for engine in state.engines],
            "approvals": {"web_search": state.web_search, "confidential": state.confidential},
            "browser": state.browser,
            "cache": state.cache,
        }
    )


def _engine(engine: EngineStatus) -> dict[str, str | None]:
    health = engine.health
    return {
        "name": engine.name,
        "host": engine.host,
        "state": health.state,
        "since": _time(health.since),
        "retry_at": _time(health.retry_at),
        "detail": health.detail or None,
    }


def _time(at: datetime | None) -> str | None:
    return at and shown_time(at.replace(microsecond=0))
