"""What the server says of itself: version, health, configuration for the page, doctor, docs."""

from dataclasses import asdict

from fastapi import APIRouter, Request, Response

from inglenook.api.docs import docs_page
from inglenook.api.services import Served
from inglenook.api.strict_json import JsonResponse

router = APIRouter(tags=["server"])


@router.head("/health", include_in_schema=False)
@router.get("/health")
async def health(services: Served) -> Response:
    """The process lives. Asks nothing else."""
    return JsonResponse({"status": "ok", "version": services.version})


@router.get("/ready")
async def ready(services: Served) -> Response:
    """The store answers and the home takes writes, so that runs can be started; else 503."""
    await services.runs.list_runs(limit=1)
    await services.check_writable()
    return JsonResponse({"status": "ready"})


@router.get("/api/version")
async def version(services: Served) -> Response:
    return JsonResponse({"version": services.version})


@router.get("/api/config")
async def config(services: Served) -> Response:
    """What a page must know before its first question."""
    return JsonResponse(
        {
            "version": services.version,
            "show_reasoning": services.show_reasoning,
            "knowledge_provider": services.knowledge_provider,
            "token_required": bool(services.token),
            "example_question": services.example_question,
            "example_knowledge": list(services.example_knowledge),
        }
    )


@router.get("/api/doctor")
async def doctor(services: Served) -> Response:
    """One entry a check: its `state` (ok, warn, fail), why it matters, and the fix."""
    checks = [asdict(check) | {"fix": check.fix or None} for check in await services.doctor()]
    return JsonResponse({"checks": checks})


@router.get("/docs", include_in_schema=False)
async def docs(request: Request) -> Response:
    return docs_page(request.app.openapi())
