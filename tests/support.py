"""A whole runtime over a scripted model: real store, engine, service and loop."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from inglenook.agent.delegate import ChildAgent
from inglenook.bootstrap.run_parts import replay_events, wire_runs
from inglenook.egress import Egress
from inglenook.errors import NotFound
from inglenook.events import Effect, RunEvent
from inglenook.knowledge.base import Document, Knowledge, KnowledgeBase, Passage, Retriever
from inglenook.messages import Message, ToolCall, ToolOutput, ToolSchema, Usage
from inglenook.providers.base import (
    ModelAbilities,
    ModelProvider,
    ModelReply,
    ModelSpec,
    Part,
    StreamOptions,
    TextDelta,
)
from inglenook.providers.catalogue import ModelCatalogue
from inglenook.research.report_cache import ReportCache
from inglenook.run_context import RunContext
from inglenook.run_request import ApprovalRules, RequestLimits, RunRequest
from inglenook.runs.in_process import InProcessEngine
from inglenook.runs.service import RunService
from inglenook.runs.supervisor import RunSupervisor
from inglenook.store.locks import Owners
from inglenook.store.sqlite import SqliteStore
from inglenook.tools.base import Tool, ToolSpec

MODEL = ModelSpec(id="m", provider="ollama", model="m", base_url="http://127.0.0.1:1")
NO_RULES = ApprovalRules()
Script = Callable[[Sequence[Message]], Message]


def say(text: str = "", *calls: ToolCall) -> Message:
    return Message(role="assistant", text=text, tool_calls=calls)


def call(name: str, id: str | None = None, **arguments: object) -> ToolCall:
    return ToolCall(id=id or f"call_{name}", name=name, arguments=arguments)


def user(text: str) -> Message:
    return Message(role="user", text=text)


def results(messages: Sequence[Message]) -> int:
    """How many tool results a view holds: where a scripted conversation stands."""
    return sum(message.role == "tool" for message in messages)


class FunctionProvider:
    """A model that is a function of what it is shown, so that it goes on after a crash."""

    def __init__(self, script: Script, *, delay_s: float = 0.0) -> None:
        self._script = script
        self._delay_s = delay_s
        self.views: list[list[Message]] = []
        self.closed = 0
        """Calls that were stopped before their reply."""
        self.tools: list[list[ToolSchema]] = []

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSchema], options: StreamOptions
    ) -> AsyncGenerator[Part, None]:
        self.views.append(list(messages))
        self.tools.append(list(tools))
        try:
            await asyncio.sleep(self._delay_s)
        except asyncio.CancelledError:
            self.closed += 1
            raise
        message = self._script(messages)
        if message.text:
            yield TextDelta(message.text)
        yield ModelReply(
            message=message,
            usage=Usage(input_tokens=10, output_tokens=5),
            finish_reason="tool_calls" if message.tool_calls else "stop",
        )

    async def abilities(self, egress: Egress | None = None) -> ModelAbilities:
        return ModelAbilities(tools=True)


class HeldProvider:
    """Another model, which says nothing before `go` is set."""

    def __init__(self, model: ModelProvider) -> None:
        self._model = model
        self.go = asyncio.Event()

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSchema], options: StreamOptions
    ) -> AsyncGenerator[Part, None]:
        await self.go.wait()
        async with aclosing(self._model.stream(messages, tools, options)) as parts:
            async for part in parts:
                yield part

    async def abilities(self, egress: Egress | None = None) -> ModelAbilities:
        return await self._model.abilities()


def replies(*messages: Message) -> FunctionProvider:
    """One prepared reply a call; the last one again and again."""
    left = list(messages)
    return FunctionProvider(lambda _: left.pop(0) if len(left) > 1 else left[0])


class TextArguments(BaseModel):
    text: str = ""


@dataclass
class EchoTool:
    """Gives back its argument, or what `answer` makes of it."""

    name: str = "echo"
    effect: Effect = "read"
    open_world: bool = False
    volatile: bool = False
    answer: Callable[[str], str] = lambda text: text
    delay_s: float = 0.0
    go: asyncio.Event | None = None
    """It does not answer before this is set."""
    calls: list[str] = field(default_factory=list[str])

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(
            name=self.name,
            description=f"{self.name} it.",
            arguments=TextArguments,
            effect=self.effect,
            open_world=self.open_world,
            volatile=self.volatile,
        )

    async def run(self, arguments: TextArguments, run: RunContext) -> ToolOutput:
        self.calls.append(arguments.text)
        if self.delay_s:
            await asyncio.sleep(self.delay_s)
        if self.go:
            await self.go.wait()
        return ToolOutput(text=self.answer(arguments.text))


class NoKnowledge:
    """Two knowledge bases without content, one of them confidential."""

    async def list(self, credential: str | None = None) -> Sequence[KnowledgeBase]:
        return [
            KnowledgeBase(id="kb", name="Handbook"),
            KnowledgeBase(id="secret", name="Board", label="confidential"),
        ]

    async def open(
        self,
        knowledge_ids: Sequence[str],
        credential: str | None = None,
        egress: Egress | None = None,
    ) -> Retriever:
        for id in knowledge_ids:
            if id not in {"kb", "secret"}:
                raise NotFound(f"no knowledge base {id!r}", field="knowledge")
        return EmptyRetriever(confidential="secret" in knowledge_ids)


class EmptyRetriever:
    def __init__(self, *, confidential: bool = False) -> None:
        self._confidential = confidential

    async def confidential(self) -> AbstractSet[str]:
        return {"secret"} if self._confidential else set[str]()

    async def documents(self) -> Sequence[Document]:
        return [Document(id="f1", name="handbook.md", knowledge_id="kb", knowledge_name="Handbook")]

    async def retrieve(self, query: str, k: int) -> Sequence[Passage]:
        return []

    async def read(self, document_id: str) -> str:
        return ""


@dataclass
class FixedToolbox:
    local: Sequence[Tool] = ()
    web: Sequence[Tool] = ()
    documents: Sequence[Tool] = ()
    delegates: Sequence[Tool] = ()

    def local_tools(self) -> Sequence[Tool]:
        return self.local

    def document_tools(self, retriever: Retriever) -> Sequence[Tool]:
        return self.documents

    def web_tools(self) -> Sequence[Tool]:
        return self.web

    def delegate_tools(self) -> Sequence[Tool]:
        return self.delegates


@dataclass(frozen=True, kw_only=True)
class Bench:
    store: SqliteStore
    service: RunService
    engine: InProcessEngine
    supervisor: RunSupervisor
    owners: Owners
    toolbox: FixedToolbox
    models: ModelCatalogue
    knowledge: Knowledge
    credentials: Mapping[str, str]
    """Users' keys by run id, as the service and the supervisor hold them."""

    async def run(self, request: RunRequest | None = None, **fields: Any) -> dict[str, Any]:
        """One whole run, as the API shows it."""
        row = await self.service.start(request or ask(**fields))
        await self.service.wait(row.id)
        return await self.service.get(row.id)

    async def replay(self, run_id: str) -> str:
        return await replay_events(await self.service.events(run_id))


def ask(text: str = "hello", **fields: Any) -> RunRequest:
    return RunRequest(model="m", messages=(user(text),), **fields)


@asynccontextmanager
async def bench(
    home: Path,
    provider: ModelProvider,
    *,
    tools: Sequence[Tool] = (),
    web: Sequence[Tool] = (),
    documents: Sequence[Tool] = (),
    agents: dict[str, ChildAgent] | None = None,
    limits: RequestLimits | None = None,
    strategy_limits: Mapping[str, RequestLimits] | None = None,
    knowledge: Knowledge | None = None,
    spec: ModelSpec = MODEL,
    models: ModelCatalogue | None = None,
    tool_result_tokens: int | None = None,
    rules: ApprovalRules = NO_RULES,
    approval_clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    reports: Callable[[SqliteStore], ReportCache] | None = None,
) -> AsyncGenerator[Bench, None]:
    store = SqliteStore(home)
    owners = Owners(home)
    toolbox = FixedToolbox(local=tools, web=web, documents=documents)
    models = models or ModelCatalogue(
        configured=[spec],
        discoveries=[],
        make_provider=lambda spec: provider,
    )
    knowledge = knowledge or NoKnowledge()
    parts = wire_runs(
        store=store,
        owners=owners,
        models=models,
        knowledge=knowledge,
        toolbox=toolbox,
        child_agents=agents or {},
        default_limits=limits or RequestLimits(),
        strategy_limits=strategy_limits,
        tool_result_tokens=tool_result_tokens,
        rules=rules,
        approval_clock=approval_clock,
        reports=reports(store) if reports else None,
    )
    try:
        async with parts.engine:
            yield Bench(
                store=store,
                service=parts.service,
                engine=parts.engine,
                supervisor=parts.supervisor,
                owners=owners,
                toolbox=toolbox,
                models=models,
                knowledge=knowledge,
                credentials=parts.credentials,
            )
    finally:
        await store.close()
        owners.close()


def types(events: Sequence[RunEvent]) -> list[str]:
    return [event.type for event in events]
