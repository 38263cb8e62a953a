"""Tools that send to nobody: `web_search` and `visit_webpage` whose wire is a list."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote_plus

from pydantic import BaseModel, ConfigDict

from inglenook.egress import OutgoingRequest
from inglenook.errors import ToolError
from inglenook.messages import Source, ToolOutput
from inglenook.run_context import RunContext
from inglenook.tools.base import ToolSpec
from inglenook.tools.egress import RecordedEgress

RESULT_URL = "https://result.test/1"


class QueryArguments(BaseModel):
    model_config = ConfigDict(extra="forbid")
    query: str
    recency: str | None = None


class UrlArguments(BaseModel):
    model_config = ConfigDict(extra="forbid")
    url: str


@dataclass
class Wire:
    """What has left, in order."""

    sent: list[OutgoingRequest] = field(default_factory=list[OutgoingRequest])

    async def send(self, requests: Iterable[OutgoingRequest], run: RunContext, why: str) -> None:
        egress = RecordedEgress(run=run, why=why, permission="web")
        for request in requests:
            n = await egress.started(request)
            self.sent.append(request)
            egress.finished(n, status=200, bytes_in=10, sent=True)

    @property
    def bodies(self) -> list[str]:
        return [request.body.decode() for request in self.sent]


def search_request(query: str, engine: str = "engine.test") -> OutgoingRequest:
    return OutgoingRequest(
        method="POST", url=f"https://{engine}/html/", body=f"q={quote_plus(query)}".encode()
    )


@dataclass
class SearchTool:
    wire: Wire
    strays: Sequence[OutgoingRequest] = ()
    """Sent after the search itself, as by a redirect or another engine."""
    spec = ToolSpec(
        name="web_search",
        description="Searches.",
        arguments=QueryArguments,
        effect="read",
        open_world=True,
    )

    def outgoing(self, arguments: Any) -> Sequence[OutgoingRequest]:
        return [search_request(arguments.query)]

    async def run(self, arguments: Any, run: RunContext) -> ToolOutput:
        await self.wire.send((*self.outgoing(arguments), *self.strays), run, "web_search")
        source = run.sources.add(kind="web", title="Result", url=RESULT_URL)
        return ToolOutput(
            text=f"results for {arguments.query}", sources=(source,), labels=("untrusted",)
        )


@dataclass
class VisitTool:
    wire: Wire
    page: str = "a page with [a link](https://linked.test/x)"
    spec = ToolSpec(
        name="visit_webpage",
        description="Reads.",
        arguments=UrlArguments,
        effect="read",
        open_world=True,
    )

    def outgoing(self, arguments: Any) -> Sequence[OutgoingRequest]:
        if not arguments.url.startswith(("http://", "https://")):
            raise ToolError(f"refused: {arguments.url!r} is no http or https address")
        return [OutgoingRequest(method="GET", url=arguments.url.partition("#")[0])]

    async def run(self, arguments: Any, run: RunContext) -> ToolOutput:
        await self.wire.send(self.outgoing(arguments), run, "visit_webpage")
        return ToolOutput(text=self.page, labels=("untrusted",))


class ReadArguments(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str = "salaries.md"


@dataclass
class ConfidentialTool:
    """`read_document` of a confidential knowledge base."""

    text: str = "The salary is 4711."
    spec = ToolSpec(
        name="read_document", description="Reads.", arguments=ReadArguments, effect="read"
    )

    async def run(self, arguments: Any, run: RunContext) -> ToolOutput:
        source: Source = run.sources.add(kind="document", title=arguments.name, file_id="f")
        return ToolOutput(text=self.text, sources=(source,), labels=("private",))


@dataclass
class PublicTool(ConfidentialTool):
    """`read_document` of a knowledge base that is not confidential."""

    async def run(self, arguments: Any, run: RunContext) -> ToolOutput:
        return replace(await super().run(arguments, run), labels=())
