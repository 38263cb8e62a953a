"""What `inglenook_driver.py` measures: the product's parts put together as `bootstrap` does."""

from pydantic import BaseModel

from inglenook.bootstrap.models import transport_of, wrapped
from inglenook.bootstrap.run_parts import wire_runs
from inglenook.events import TextDelta
from inglenook.messages import Message
from inglenook.providers.base import ModelSpec
from inglenook.providers.catalogue import ModelCatalogue
from inglenook.providers.model_memory import ModelMemory
from inglenook.providers.transport import open_session
from inglenook.run_request import ApprovalRules, RequestLimits, RunRequest
from inglenook.store.base import StoredEvent
from inglenook.store.locks import Owners
from inglenook.store.sqlite import SqliteStore
from inglenook.tools.base import ToolSpec
from inglenook.tools.function import FunctionTool


class WorkArguments(BaseModel):
    step: int
    size: int = 16
    sleep_ms: int = 0


SPEC = ToolSpec(
    name="work",
    description="Do one unit of work and return its result.",
    arguments=WorkArguments,
    effect="read",
)


class Toolbox:
    def __init__(self, tool):
        self.tool = tool

    def local_tools(self):
        return [FunctionTool(SPEC, self.tool())]

    def document_tools(self, retriever):
        return []

    def web_tools(self):
        return []

    def delegate_tools(self):
        return []


class ScriptModels:
    """Every model name is a script of the server."""

    name = "scripted"

    def __init__(self, base_url, ollama):
        self.base_url, self.ollama = base_url, ollama

    def spec(self, model):
        return ModelSpec(
            id=model,
            provider="ollama" if self.ollama else "openai",
            model=model,
            base_url=self.base_url if self.ollama else self.base_url + "/v1",
        )


class Bench:
    def __init__(self, service, models):
        self.service, self.models = service, models

    def request(self, model, task):
        return RunRequest(model=model, messages=(Message(role="user", text=task),))

    async def run(self, model, task):
        self.models.add(model)
        row = await self.service.start(self.request(model, task))
        row = await self.service.wait(row.id)
        if row.status != "complete":
            raise SystemExit(f"{row.status} {row.reason}: {row.explanation}")
        return "done"

    async def stream(self, model, task):
        self.models.add(model)
        row = await self.service.start(self.request(model, task))
        async for frame in self.service.follow(row.id):
            if isinstance(frame, TextDelta):
                yield frame.text
            elif isinstance(frame, StoredEvent) and frame.type == "run_finished":
                return


class Models(ModelCatalogue):
    def __init__(self, scripts, session, memory):
        self.scripts = scripts
        super().__init__(
            configured=[],
            discoveries=[],
            make_provider=lambda spec: wrapped(transport_of(session, spec, memory), spec, memory),
            memory=memory,
        )

    def add(self, model):
        if all(spec.id != model for spec in self._configured):
            self._configured.append(self.scripts.spec(model))


async def open_bench(home, base_url, tool, ollama):
    store = SqliteStore(home)
    owners = Owners(home)
    session = open_session()
    models = Models(ScriptModels(base_url, ollama), session, ModelMemory(home / "models.json"))
    parts = wire_runs(
        store=store,
        owners=owners,
        models=models,
        knowledge=None,
        toolbox=Toolbox(tool),
        child_agents={},
        rules=ApprovalRules(),
        default_limits=RequestLimits(steps=1000),
    )
    await parts.engine.__aenter__()
    return Bench(parts.service, models)
