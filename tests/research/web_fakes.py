"""A small web for research runs: a search and pages that are tools, and nothing beyond them."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import quote_plus

from pydantic import BaseModel

from inglenook.egress import OutgoingRequest
from inglenook.errors import ToolError
from inglenook.events import ChildStarted, RunEvent, ToolFinished
from inglenook.messages import Message, ToolOutput
from inglenook.run_context import RunContext
from inglenook.tools.base import ToolSpec
from inglenook.tools.egress import RecordedEgress
from tests.support import Bench, FunctionProvider, Script, call, results, say


class SearchArguments(BaseModel):
    query: str
    recency: Literal["day", "week", "month", "year"] | None = None


class VisitArguments(BaseModel):
    url: str


@dataclass
class FakeSearch:
    """Finds one page for everything, or fails with `fault`."""

    fault: str | None = None
    held: asyncio.Event | None = None
    """It answers once this is set."""
    queries: list[str] = field(default_factory=list[str])
    spec = ToolSpec(
        name="web_search",
        description="Search.",
        arguments=SearchArguments,
        effect="read",
        open_world=True,
    )

    def outgoing(self, arguments: SearchArguments) -> Sequence[OutgoingRequest]:
        url = f"https://search.test/?q={quote_plus(arguments.query)}"
        return [OutgoingRequest(method="GET", url=url)]

    async def run(self, arguments: SearchArguments, run: RunContext) -> ToolOutput:
        self.queries.append(arguments.query)
        await _sent(run, "web_search", self.outgoing(arguments)[0])
        if self.held:
            await self.held.wait()
        if self.fault:
            raise ToolError(self.fault)
        url = f"https://site.test/{quote_plus(arguments.query)}"
        source = run.sources.add(kind="web", title=f"About {arguments.query}", url=url, quote="q")
        return ToolOutput(
            text=f"[{source.n}] About {arguments.query}\n{url}",
            sources=(source,),
            labels=("untrusted",),
        )


@dataclass
class FakeVisit:
    text: str = "The tower is 321 m high."
    spec = ToolSpec(
        name="visit_webpage",
        description="Read a page.",
        arguments=VisitArguments,
        effect="read",
        open_world=True,
    )

    def outgoing(self, arguments: VisitArguments) -> Sequence[OutgoingRequest]:
        return [OutgoingRequest(method="GET", url=arguments.url)]

    async def run(self, arguments: VisitArguments, run: RunContext) -> ToolOutput:
        await _sent(run, "visit_webpage", self.outgoing(arguments)[0])
        source = run.sources.add(kind="web", title="The page", url=arguments.url)
        return ToolOutput(
            text=f"[{source.n}] {self.text}", sources=(source,), labels=("untrusted",)
        )


async def _sent(run: RunContext, why: str, request: OutgoingRequest) -> None:
    egress = RecordedEgress(run=run, why=why, permission="web")
    n = await egress.started(request)
    egress.finished(n, status=200, bytes_in=10, sent=True)


def is_researcher(view: Sequence[Message]) -> bool:
    return view[0].text.startswith("You are a research assistant")


def researcher(view: Sequence[Message]) -> Message:
    """A search, a page, the answer."""
    match results(view):
        case 0:
            return say("", call("web_search", "s1", query="tower height"))
        case 1:
            return say("", call("visit_webpage", "v1", url="https://site.test/tower+height"))
        case _:
            return say("", call("final_answer", "a1", answer="It is 321 m high [2]."))


def family(
    child: Script = researcher, *queries: str, answer: str = "The tower: 321 m [1]."
) -> FunctionProvider:
    """A parent that has `queries` researched in one reply, and `child` as each researcher."""
    asked = queries or ("How high is it?",)

    def script(view: Sequence[Message]) -> Message:
        if is_researcher(view):
            return child(view)
        if results(view):
            return say(answer)
        calls = [call("web_research", f"w{n}", query=query) for n, query in enumerate(asked, 1)]
        return say("", *calls)

    return FunctionProvider(script)


async def told(b: Bench, run: Mapping[str, Any]) -> dict[str, Any]:
    """What the parent's model was given back for its one call."""
    [finished] = [e for e in await b.service.events(run["id"]) if isinstance(e, ToolFinished)]
    return json.loads(finished.result) | {"is_error": finished.is_error}


async def children_of(b: Bench, run_id: str) -> list[list[RunEvent]]:
    events = await b.service.events(run_id)
    ids = [event.child_run_id for event in events if isinstance(event, ChildStarted)]
    return [await b.service.events(id) for id in dict.fromkeys(ids)]


def last_result(view: Sequence[Message]) -> str:
    return next(message.text for message in reversed(view) if message.role == "tool")
