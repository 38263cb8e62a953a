"""The HTTP application: every face behind the same guard, limits, headers and error table."""

from fastapi import APIRouter, FastAPI

from inglenook.api.about import router as about
from inglenook.api.agent_run import router as agent_run
from inglenook.api.approvals import router as approvals
from inglenook.api.auth import Guard
from inglenook.api.body_limit import BodyLimit
from inglenook.api.errors import install
from inglenook.api.headers import RESPONSE_HEADERS, ResponseHeaders
from inglenook.api.knowledge import router as knowledge
from inglenook.api.models import router as models
from inglenook.api.openai_chat import router as openai_chat
from inglenook.api.page import page_routes
from inglenook.api.runs import router as runs
from inglenook.api.services import Services
from inglenook.api.web import router as web

ROUTERS: tuple[APIRouter, ...] = (
    agent_run,
    runs,
    approvals,
    models,
    knowledge,
    openai_chat,
    web,
    about,
)


def create_app(services: Services) -> FastAPI:
    app = FastAPI(
        title="Inglenook",
        version=services.version,
        description="Runs of agents on your own models, and every step of them.",
        docs_url=None,  # FastAPI's page loads scripts from a CDN; `docs.py` is ours
        redoc_url=None,
        redirect_slashes=False,  # a redirect is built from the Host header
        telemetry={
            "tracing": False,
            "metrics": False,
            "logs": False,
            "operation_spans": False,
            "auto_configure": False,  # else an environment variable would send bodies away
        },
    )
    app.state.services = services
    for router in ROUTERS:
        app.include_router(router)
    app.router.routes += page_routes(services.page_folder)
    install(app, RESPONSE_HEADERS)
    app.add_middleware(BodyLimit)
    app.add_middleware(Guard, token=services.token, allowed_hosts=services.allowed_hosts)
    app.add_middleware(ResponseHeaders)
    return app
