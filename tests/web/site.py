"""A site on loopback, read as the product reads the web: real transport, fetcher and reader."""

from asyncio import StreamWriter
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from inglenook.events import RunEvent, ToolFinished
from inglenook.messages import ToolCall
from inglenook.tools.web_page import VisitWebpageTool
from inglenook.web.addresses import AddressPolicy
from inglenook.web.fetch import WebFetcher
from inglenook.web.http import HttpTransport
from inglenook.web.page_reader import WorkerPageReader
from tests.support import bench, call, replies, say
from tests.web.wire import Names, RawServer, answer

HOST = "site.test"


@dataclass(frozen=True, kw_only=True)
class Served:
    body: bytes
    content_type: str = "text/html"
    status: str = "200 OK"


@dataclass(kw_only=True)
class Site:
    port: int
    fetcher: WebFetcher
    asked: list[str] = field(default_factory=list[str])
    """Paths, in order."""

    def url(self, path: str = "/") -> str:
        return f"http://{HOST}:{self.port}{path}"


@asynccontextmanager
async def site(pages: Mapping[str, Served | str]) -> AsyncGenerator[Site]:
    asked: list[str] = []

    async def serve(head: bytes, writer: StreamWriter) -> None:
        path = head.split(b" ", 2)[1].decode()
        asked.append(path)
        page = pages.get(path, Served(body=b"", status="404 Not Found"))
        if isinstance(page, str):
            page = Served(body=page.encode())
        writer.write(answer(page.status, page.body, f"Content-Type: {page.content_type}"))

    reader = WorkerPageReader()
    policy = AddressPolicy(allow_private=True)
    transport = HttpTransport(policy, resolver=Names({HOST: ["127.0.0.1"]}))
    try:
        async with RawServer(serve) as server:
            yield Site(port=server.port, fetcher=WebFetcher(transport, reader, policy), asked=asked)
    finally:
        await reader.close()


@dataclass(frozen=True, kw_only=True)
class Visited:
    run: dict[str, Any]
    events: Sequence[RunEvent]

    @property
    def visits(self) -> list[ToolFinished]:
        return [event for event in self.events if isinstance(event, ToolFinished)]


async def visit(home: Path, served: Site, *steps: ToolCall | Sequence[ToolCall]) -> Visited:
    """A run whose model makes these calls, one step after another, and then says `Done.`"""
    said = [say("", *([step] if isinstance(step, ToolCall) else step)) for step in steps]
    model = replies(*said, say("Done."))
    async with bench(home, model, web=[VisitWebpageTool(served.fetcher)]) as b:
        run = await b.run(text=f"Read {served.url()}", web=True)
        return Visited(run=run, events=await b.service.events(run["id"]))


def visiting(url: str, id: str = "v", **arguments: object) -> ToolCall:
    return call("visit_webpage", id, url=url, **arguments)
