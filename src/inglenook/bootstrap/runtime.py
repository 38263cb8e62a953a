"""Builds the runtime's objects from settings: the only place that knows which parts go together."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import aiohttp

from inglenook.agent.assistant import Assistant
from inglenook.agent.delegate import ChildAgent
from inglenook.agent.strategies import RESEARCH
from inglenook.bootstrap.checks import doctor_of
from inglenook.bootstrap.models import demo_model, offered_models
from inglenook.bootstrap.run_parts import wire_runs
from inglenook.bootstrap.web import WebParts, web_parts
from inglenook.errors import ConfigError, StoreError
from inglenook.knowledge.all_private import AllPrivate
from inglenook.knowledge.base import Knowledge, Retriever
from inglenook.knowledge.embedder import BuiltinEmbedder
from inglenook.knowledge.embedder_choice import EmbedderChoice, choose_embedder
from inglenook.knowledge.local import LocalKnowledge
from inglenook.knowledge.open_webui import OpenWebUIKnowledge
from inglenook.providers.catalogue import ModelCatalogue
from inglenook.providers.demo_model import DemoModel
from inglenook.providers.transport import open_session
from inglenook.providers.weights_file import Report
from inglenook.research.report_cache import ReportCache
from inglenook.run_request import ApprovalRules, RequestLimits
from inglenook.runs.doctor import Check
from inglenook.runs.in_process import InProcessEngine
from inglenook.runs.service import RunService
from inglenook.settings.load import Loaded
from inglenook.store.locks import Owners
from inglenook.store.sqlite import SqliteStore
from inglenook.tools.base import Tool
from inglenook.tools.calculator import CalculatorTool
from inglenook.tools.clock import ClockTool
from inglenook.tools.documents import ReadDocumentTool, SearchKnowledgeTool
from inglenook.tools.web import WebSearchTool
from inglenook.tools.web_page import VisitWebpageTool
from inglenook.web.search import WebState


@dataclass(frozen=True, kw_only=True)
class Runtime:
    """Everything a face needs; lives as long as its `open_runtime` block."""

    runs: RunService
    models: ModelCatalogue
    knowledge: Knowledge
    library: LocalKnowledge | None
    """None where knowledge lives in Open WebUI."""
    engine: InProcessEngine
    demo: DemoModel
    assistant: Assistant
    doctor: Callable[[], Awaitable[list[Check]]]
    web: Callable[[], WebState]
    reports: ReportCache | None
    """None where nothing is kept."""


@asynccontextmanager
async def open_runtime(
    loaded: Loaded, *, report: Report | None = None, own_port: int | None = None
) -> AsyncGenerator[Runtime, None]:
    """A runtime on this home, without its lock: it takes up nobody else's runs.

    Args:
        own_port: Where its server listens, if it has one: no page is read from there.
        report: Told of the demo model's download; it begins when a run or a question about the
            model needs it.

    Raises:
        StoreError: The home cannot be used.
        ConfigError: The settings ask for something that cannot be.
    """
    async with AsyncExitStack() as stack:
        prepare_home(loaded.home)
        owners = Owners(loaded.home)
        stack.callback(owners.close)
        store = SqliteStore(loaded.home)
        stack.push_async_callback(store.close)
        session = await stack.enter_async_context(open_session())
        demo = demo_model(loaded)
        stack.push_async_callback(demo.stop)
        models = offered_models(loaded, session, demo, report or _silent)
        stack.callback(models.memory.save)
        knowledge, library, embedding = await _knowledge(loaded, session, stack)
        web = web_parts(loaded, store, stack, own_port)
        toolbox = StandardToolbox(web)
        reports = _report_cache(loaded, store, embedding)
        parts = wire_runs(
            store=store,
            owners=owners,
            models=models,
            knowledge=_guarded(knowledge, loaded),
            toolbox=toolbox,
            child_agents=_child_agents(loaded),
            default_limits=_limits(loaded),
            strategy_limits={RESEARCH.name: _research_limits(loaded)},
            tool_result_tokens=loaded.settings.limits.tool_result_tokens,
            rules=_rules(loaded),
            reports=reports,
            approval_timeout_s=loaded.settings.approvals.timeout_s,
        )
        await stack.enter_async_context(parts.engine)
        yield Runtime(
            runs=parts.service,
            models=models,
            knowledge=knowledge,
            library=library,
            engine=parts.engine,
            demo=demo,
            assistant=parts.assistant,
            doctor=doctor_of(
                loaded,
                session=session,
                models=models,
                library=library,
                embedding=embedding,
                store=store,
                owners=owners,
                search=web.engines,
            ),
            web=web.state,
            reports=reports,
        )


def prepare_home(home: Path) -> None:
    """Make the home, for its owner alone.

    Raises:
        StoreError: It cannot be made.
    """
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise StoreError(
            f"the home {str(home)!r} cannot be used: {error.strerror or error}; set INGLENOOK_HOME "
            "to a folder that you may write"
        ) from error


@dataclass(kw_only=False)
class StandardToolbox:
    web: WebParts
    delegates: Sequence[Tool] = field(default=())

    def local_tools(self) -> Sequence[Tool]:
        return [ClockTool(), CalculatorTool()]

    def document_tools(self, retriever: Retriever) -> Sequence[Tool]:
        return [SearchKnowledgeTool(retriever), ReadDocumentTool(retriever)]

    def web_tools(self) -> Sequence[Tool]:
        if self.web.searcher is None:
            return []
        return [WebSearchTool(self.web.searcher), VisitWebpageTool(self.web.fetcher)]

    def delegate_tools(self) -> Sequence[Tool]:
        return self.delegates


def _report_cache(
    loaded: Loaded, store: SqliteStore, embedding: EmbedderChoice | None
) -> ReportCache | None:
    cache = loaded.settings.cache
    if not cache.max_bytes:
        return None
    # any other embedder works behind HTTP: questions would leave this process unasked
    builtin = embedding.embedder if embedding else None
    return ReportCache(
        store,
        max_bytes=cache.max_bytes,
        validity=timedelta(days=cache.validity_days),
        embedding_percent=cache.embedding_percent,
        jaccard_percent=cache.jaccard_percent,
        min_overlap=cache.min_overlap,
        embedder=builtin if isinstance(builtin, BuiltinEmbedder) else None,
    )


def _silent(_: object) -> None: ...


async def _knowledge(
    loaded: Loaded, session: aiohttp.ClientSession, stack: AsyncExitStack
) -> tuple[Knowledge, LocalKnowledge | None, EmbedderChoice | None]:
    """The knowledge service, and where it is local its library and embedder.

    Raises:
        ConfigError: The settings name no service that could be used.
    """
    if loaded.settings.knowledge.provider == "open-webui":
        url = loaded.settings.open_webui.url
        if not url:
            raise ConfigError(
                'knowledge.provider = "open-webui" needs open_webui.url, the address of your '
                "Open WebUI"
            )
        return OpenWebUIKnowledge(session, url), None, None
    choice = choose_embedder(
        loaded.settings.knowledge.embedder,
        session,
        ollama_url=loaded.ollama_url,
        openai_url=loaded.openai_url or "",
        openai_key=loaded.openai_key,
    )
    local = LocalKnowledge(loaded.home, embedder=choice.embedder)
    stack.push_async_callback(local.close)
    return local, local, choice


def _guarded(knowledge: Knowledge, loaded: Loaded) -> Knowledge:
    """As runs read it."""
    return AllPrivate(knowledge) if loaded.settings.knowledge.private == "any" else knowledge


def _rules(loaded: Loaded) -> ApprovalRules:
    approvals = loaded.settings.approvals
    return ApprovalRules(web_search=approvals.web_search, confidential=approvals.confidential)


def _limits(loaded: Loaded) -> RequestLimits:
    limits = loaded.settings.limits
    return RequestLimits(
        steps=limits.steps, seconds=limits.seconds, output_tokens=limits.output_tokens
    )


def _research_limits(loaded: Loaded) -> RequestLimits:
    research = loaded.settings.research
    return RequestLimits(steps=research.steps, seconds=research.timeout_s)


def _child_agents(loaded: Loaded) -> dict[str, ChildAgent]:
    return {
        name: ChildAgent(
            description=agent.description,
            strategy=agent.strategy,
            model=agent.model,
            steps=agent.steps,
        )
        for name, agent in loaded.settings.agents.items()
    }
