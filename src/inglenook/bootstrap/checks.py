"""What `doctor` checks here, in the order in which it is shown."""

from collections.abc import Awaitable, Callable

import aiohttp

from inglenook.api.page_folder import PAGE_FOLDER
from inglenook.errors import shown_address
from inglenook.knowledge.embedder_choice import EmbedderChoice
from inglenook.knowledge.local import LocalKnowledge
from inglenook.knowledge.open_webui import OpenWebUIKnowledge
from inglenook.providers.catalogue import ModelCatalogue
from inglenook.runs.doctor import (
    Check,
    check_browser,
    check_engine,
    check_home,
    check_models,
    check_page,
    check_python,
    check_store,
    check_web_search,
    check_workspace,
    run_checks,
)
from inglenook.runs.doctor_knowledge import check_embedder, check_knowledge, check_open_webui
from inglenook.settings.load import Loaded
from inglenook.store.base import RuntimeStore
from inglenook.store.locks import Owners
from inglenook.web import chromium, firefox
from inglenook.web.search import SearchService


def doctor_of(
    loaded: Loaded,
    *,
    session: aiohttp.ClientSession,
    models: ModelCatalogue,
    library: LocalKnowledge | None,
    embedding: EmbedderChoice | None,
    store: RuntimeStore,
    owners: Owners,
    search: SearchService,
) -> Callable[[], Awaitable[list[Check]]]:
    """`library` and `embedding` are None where knowledge lives in Open WebUI."""
    settings, web = loaded.settings, loaded.settings.web
    is_blocked = settings.approvals.web_search == "block"
    proxy = web.proxy and shown_address(web.proxy)

    async def open_webui() -> Check:
        knowledge = OpenWebUIKnowledge(session, settings.open_webui.url)
        return await check_open_webui(knowledge, loaded.open_webui_key)

    checks: dict[str, Callable[[], Awaitable[Check | list[Check]]]] = {
        "python": check_python,
        "home": lambda: check_home(loaded.home),
        "models": lambda: check_models(models),
        "embedder": lambda: check_embedder(embedding),
        "knowledge": lambda: check_knowledge(library),
        "web search": lambda: check_web_search(
            search.statuses(), loaded.unusable_engines.items(), is_blocked=is_blocked, proxy=proxy
        ),
        "workspace": check_workspace,
        "store": lambda: check_store(store),
        "engine": lambda: check_engine(settings.engine.kind, store, owners),
        "page": lambda: check_page(PAGE_FOLDER),
    }
    if web.browser != "off":
        find = chromium.found_program if web.browser == "chromium" else firefox.found_program
        checks["browser"] = lambda: check_browser(find, web.browser_port)
    if settings.open_webui.url:
        checks["Open WebUI"] = open_webui
    return lambda: run_checks(checks)
