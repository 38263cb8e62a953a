"""Builds the runtime's objects from settings: the only place that knows which parts go together."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp

from inglenook.agent.assistant import Assistant
from inglenook.agent.delegate import ChildAgent, DelegateTool
from inglenook.agent.guardrails import standard_guardrails
from inglenook.agent.replay import replay
from inglenook.agent.strategies import ASSISTANT
from inglenook.api.page_folder import PAGE_FOLDER
from inglenook.context.compaction import Compacting
from inglenook.errors import ConfigError, ProviderError, StoreError, shown_address
from inglenook.events import RunEvent
from inglenook.knowledge.base import Knowledge, Retriever
from inglenook.knowledge.embedder_choice import choose_embedder
from inglenook.knowledge.local import LocalKnowledge
from inglenook.knowledge.open_webui import OpenWebUIKnowledge
from inglenook.providers.base import ModelProvider, ModelSpec
from inglenook.providers.catalogue import THREE_WAYS, DemoOffer, ModelCatalogue
from inglenook.providers.demo_model import DemoModel
from inglenook.providers.demo_weights import DemoWeights
from inglenook.providers.discovery import OllamaModels, OpenAIModels
from inglenook.providers.ollama import OllamaProvider
from inglenook.providers.openai_chat import OpenAIChatProvider
from inglenook.providers.recovery import RecoveringProvider
from inglenook.providers.retry import RetryingProvider
from inglenook.providers.transport import open_session
from inglenook.providers.weights_file import Report
from inglenook.providers.window import WindowGuard
from inglenook.run_request import RequestLimits
from inglenook.runs.broadcast import Broadcast
from inglenook.runs.children import Children
from inglenook.runs.doctor import (
    Check,
    check_home,
    check_models,
    check_page,
    check_python,
    check_store,
    run_checks,
)
from inglenook.runs.in_process import InProcessEngine
from inglenook.runs.service import RunService
from inglenook.runs.supervisor import RunSupervisor
from inglenook.settings.load import Loaded
from inglenook.settings.sections import Model
from inglenook.store.locks import FileLock, Owners
from inglenook.store.sqlite import SqliteStore
from inglenook.tools.base import Tool
from inglenook.tools.calculator import CalculatorTool
from inglenook.tools.clock import ClockTool
from inglenook.tools.documents import ReadDocumentTool, SearchKnowledgeTool
from inglenook.tools.web import WebSearchTool
from inglenook.web.base import SearchEngine
from inglenook.web.duckduckgo import DuckDuckGo


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


@asynccontextmanager
async def open_runtime(
    loaded: Loaded, *, report: Report | None = None
) -> AsyncGenerator[Runtime, None]:
    """A runtime on this home, without its lock: it takes up nobody else's runs.

    Args:
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
        demo = DemoModel(
            DemoWeights(
                loaded.cache / "models",
                FileLock(loaded.cache / "models.lock"),
                index_url=loaded.index_url,
            ),
            loaded.home / "demo-model.log",
        )
        stack.push_async_callback(demo.stop)
        models = _models(loaded, session, demo, report or _silent)
        knowledge, library, note = await _knowledge(loaded, session, stack)
        toolbox = StandardToolbox(_engines(loaded))
        context = Compacting()
        broadcast = Broadcast()
        credentials: dict[str, str] = {}
        assistant = Assistant(models=models, knowledge=knowledge, toolbox=toolbox, context=context)
        supervisor = RunSupervisor(
            store=store,
            broadcast=broadcast,
            agents={ASSISTANT.name: assistant},
            owner=owners.id,
            default_limits=_limits(loaded),
            credentials=credentials,
        )
        children = Children(store=store, supervisor=supervisor, context_version=context.version)
        toolbox.delegates = _delegates(loaded, children)
        engine = InProcessEngine(store=store, supervisor=supervisor, owners=owners)
        await stack.enter_async_context(engine)
        yield Runtime(
            runs=RunService(
                store=store,
                engine=engine,
                supervisor=supervisor,
                broadcast=broadcast,
                models=models,
                knowledge=knowledge,
                owners=owners,
                context_version=context.version,
                credentials=credentials,
            ),
            models=models,
            knowledge=knowledge,
            library=library,
            engine=engine,
            demo=demo,
            assistant=assistant,
            doctor=lambda: run_checks(
                [
                    check_python,
                    lambda: check_home(loaded.home),
                    lambda: check_store(store),
                    lambda: check_models(models),
                    lambda: _check_knowledge(loaded, library, note),
                    lambda: check_page(PAGE_FOLDER),
                ]
            ),
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


async def replay_events(events: Sequence[RunEvent]) -> str:
    """Replay a recorded run with this version's loop (see `agent/replay.py`)."""
    return await replay(events, context=Compacting(), guardrails=standard_guardrails())


@dataclass(kw_only=False)
class StandardToolbox:
    engines: Sequence[SearchEngine] = ()
    delegates: Sequence[Tool] = field(default=())

    def local_tools(self) -> Sequence[Tool]:
        return [ClockTool(), CalculatorTool()]

    def document_tools(self, retriever: Retriever) -> Sequence[Tool]:
        return [SearchKnowledgeTool(retriever), ReadDocumentTool(retriever)]

    def web_tools(self) -> Sequence[Tool]:
        return [WebSearchTool(engine) for engine in self.engines[:1]]

    def delegate_tools(self) -> Sequence[Tool]:
        return self.delegates


def _models(
    loaded: Loaded, session: aiohttp.ClientSession, demo: DemoModel, report: Report
) -> ModelCatalogue:
    discoveries: list[OllamaModels | OpenAIModels] = []
    if loaded.openai_url:
        named_by = loaded.named_by("openai_url")
        url, key = loaded.openai_url, loaded.openai_key
        discoveries.append(OpenAIModels(session, url, key, named_by=named_by))
    named_by = loaded.named_by("ollama_url")
    discoveries.append(OllamaModels(session, loaded.ollama_url, named_by=named_by))

    async def demo_spec() -> ModelSpec:
        try:
            return await demo.ensure(report)
        except (ProviderError, OSError) as error:
            raise ProviderError(f"no demo model: {error}. {THREE_WAYS}") from error

    return ModelCatalogue(
        configured=[_spec(loaded, model) for model in loaded.settings.models],
        discoveries=discoveries,
        make_provider=lambda spec: _provider(session, spec, demo),
        demo=None
        if loaded.names_a_server
        else DemoOffer(spec=demo.spec, is_fetched=demo.is_cached, ensure=demo_spec),
        faults={
            model.id: fault
            for model in loaded.settings.models
            if (fault := _fault(loaded, model)) is not None
        },
    )


def _fault(loaded: Loaded, model: Model) -> str | None:
    """Why a configured model cannot be used, which is no reason to offer none."""
    if model.api_key_env and model.api_key_env not in loaded.model_keys:
        return (
            f"model {model.id!r}: the environment has no {model.api_key_env}; set it to the key "
            "and start again"
        )
    if model.base_url is None and model.provider == "openai" and loaded.openai_url is None:
        return f"model {model.id!r}: base_url is missing (its server, with /v1)"
    return None


def _spec(loaded: Loaded, model: Model) -> ModelSpec:
    default_url = loaded.ollama_url if model.provider == "ollama" else loaded.openai_url
    return ModelSpec(
        id=model.id,
        provider=model.provider,
        model=model.model,
        base_url=model.base_url or default_url or "",
        api_key=loaded.model_keys.get(model.api_key_env or "")
        or (loaded.openai_key if model.provider == "openai" and not model.base_url else None),
        context_tokens=model.context_tokens,
        thinking=model.thinking,
        reasoning_effort=model.reasoning_effort,
        tool_mode=model.tool_mode,
    )


def _provider(session: aiohttp.ClientSession, spec: ModelSpec, demo: DemoModel) -> ModelProvider:
    transport: ModelProvider = (
        OllamaProvider(session, spec)
        if spec.provider == "ollama"
        else OpenAIChatProvider(session, spec)
    )
    if demo.serves(spec):
        transport = demo.kept(transport, spec, session)
    guarded = WindowGuard(transport, counts_whole_prompt=spec.provider != "ollama")
    return RecoveringProvider(RetryingProvider(guarded))


async def _check_knowledge(
    loaded: Loaded, library: LocalKnowledge | None, note: str | None
) -> Check:
    if library is None:
        return Check(
            name="knowledge",
            state="ok",
            why=f"in Open WebUI at {shown_address(loaded.settings.open_webui.url)}, read with each "
            "user's own key",
        )
    bases = await library.list()
    chunks, embedded = sum(b.chunks for b in bases), sum(b.embedded for b in bases)
    found = f"{len(bases)} knowledge bases, {chunks} chunks, {embedded} of them embedded"
    if note:
        return Check(name="knowledge", state="warn", why=f"{found}. {note}")
    return Check(name="knowledge", state="ok", why=found)


def _silent(_: object) -> None: ...


async def _knowledge(
    loaded: Loaded, session: aiohttp.ClientSession, stack: AsyncExitStack
) -> tuple[Knowledge, LocalKnowledge | None, str | None]:
    """The knowledge service, its local library where it is local, and a note on its embedder.

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
    return local, local, choice.note


def _engines(loaded: Loaded) -> list[SearchEngine]:
    web = loaded.settings.web
    if loaded.settings.approvals.web_search == "block" or not web.engines:
        return []
    return [DuckDuckGo(web.duckduckgo_url, proxy=web.proxy)]


def _limits(loaded: Loaded) -> RequestLimits:
    limits = loaded.settings.limits
    return RequestLimits(
        steps=limits.steps, seconds=limits.seconds, output_tokens=limits.output_tokens
    )


def _delegates(loaded: Loaded, children: Children) -> list[Tool]:
    agents = {
        name: ChildAgent(
            description=agent.description,
            strategy=agent.strategy,
            model=agent.model,
            steps=agent.steps,
        )
        for name, agent in loaded.settings.agents.items()
    }
    return [DelegateTool(agents, children)] if agents else []
