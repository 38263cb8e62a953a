"""`/api/models`: what can be asked, with what its server says it can do."""

from typing import Any

from fastapi import APIRouter, Response

from inglenook.api.services import Served
from inglenook.api.strict_json import JsonResponse
from inglenook.errors import InvalidRequest
from inglenook.providers.catalogue import ModelReport

router = APIRouter(prefix="/api/models", tags=["models"])


@router.get("")
async def list_models(services: Served) -> Response:
    """Every model on offer: `{"items": [{"id", "provider", "model", "abilities", "note",
    "error"}], "default"}`; `error` says why one cannot be used."""
    items = [model_view(report) for report in await services.models.reports()]
    try:
        return JsonResponse({"items": items, "default": await services.models.default_id()})
    except InvalidRequest as error:
        return JsonResponse({"items": items, "default": None, "hint": error.hint})


def model_view(report: ModelReport) -> dict[str, Any]:
    return {
        "id": report.spec.id,
        "provider": report.spec.provider,
        "model": report.spec.model,
        "abilities": {
            "tools": report.abilities.tools,
            "thinking": report.abilities.thinking,
            "context_tokens": report.spec.context_tokens or report.abilities.context_tokens,
        },
        "note": report.spec.note or None,
        "error": report.error,
    }
