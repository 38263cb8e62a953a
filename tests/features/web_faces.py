"""The three faces that take a question, asked with and without the web."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from inglenook.messages import Message
from tests.api.serving import Answer, Client
from tests.support import EchoTool, FunctionProvider, call, results, say

OMITTED: Any = object()
FACES = ["/agent/run", "/api/runs", "/v1/chat/completions"]
MESSAGES = [{"role": "user", "content": "what is new?"}]


async def ask(client: Client, face: str, web: Any = OMITTED) -> Answer:
    body: dict[str, Any] = {"model": "m", "messages": MESSAGES}
    if web is not OMITTED:
        match face:
            case "/agent/run":
                body["allowWeb"] = web
            case "/api/runs":
                body["web"] = web
            case _:
                body["runtime"] = {"web": web}
    path = f"{face}?wait=true" if face == "/api/runs" else face
    return await client.post(path, body)


@dataclass
class Searcher:
    """A model that always searches the web first, and the tool it wants."""

    tool: EchoTool = field(
        default_factory=lambda: EchoTool("web_search", open_world=True, answer=lambda _: "found")
    )
    provider: FunctionProvider = field(
        default_factory=lambda: FunctionProvider(
            lambda view: (
                say("answered")
                if view[-1].role == "tool"
                else say("", call("web_search", f"c{results(view)}", text="news"))
            )
        )
    )

    def schemas(self, request: int) -> set[str]:
        return {schema.name for schema in self.provider.tools[request]}

    def system_prompt(self, request: int) -> str:
        return system_of(self.provider.views[request])


def system_of(view: Sequence[Message]) -> str:
    assert view[0].role == "system"
    return view[0].text
