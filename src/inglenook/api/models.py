"""`/api/models`: what can be asked, with what its server says it can do."""

from fastapi import APIRouter, Response

from inglenook.api.services import Served
from inglenook.api.strict_json import JsonResponse
from inglenook.errors import InvalidRequest, ProviderError
from inglenook.runs.views import report_view

router = APIRouter(prefix="/api/models", tags=["models"])


@router.get("")
async def list_models(services: Served) -> Response:
    """Every model on offer: `{"items": [{"id", "provider", "model", "abilities", "window",
    "tool_mode", "seconds_per_1000_tokens", "note", "error"}], "default"}`; `error` says why one
    cannot be used, null elsewhere that nothing is known yet."""
    try:
        items = [report_view(report) for report in await services.models.reports()]
        return JsonResponse({"items": items, "default": await services.models.default_id()})
    except InvalidRequest as error:
        return JsonResponse({"items": [], "default": None, "hint": error.hint})
    except ProviderError as error:  # the demo model could not be had
        return JsonResponse({"items": [], "default": None, "hint": str(error)})
