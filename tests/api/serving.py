"""The HTTP application over a scripted runtime, on a free port of 127.0.0.1, with a client."""

import asyncio
import json
import socket
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from typing import Any

import aiohttp
import uvicorn
from fastapi import FastAPI
from starlette.routing import Route

from inglenook.api.app import ROUTERS, create_app
from inglenook.api.services import Services
from inglenook.runs.doctor import Check
from inglenook.web.search import WebState
from tests.support import Bench

PATIENCE_S = 120
"""For an answer, or for the next frame: so long only where none would ever come."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    status: int
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> Any:
        return self.json["error"]


@dataclass(frozen=True, kw_only=True)
class Frame:
    """One server-sent event."""

    event: str | None
    id: str | None
    data: str

    @property
    def json(self) -> Any:
        return json.loads(self.data)


@dataclass(frozen=True, kw_only=True)
class Client:
    url: str
    session: aiohttp.ClientSession

    async def get(self, path: str, **options: Any) -> Answer:
        return await self.ask("GET", path, **options)

    async def post(self, path: str, body: Any = None, **options: Any) -> Answer:
        if body is not None:
            options["json"] = body
        return await self.ask("POST", path, **options)

    async def ask(self, method: str, path: str, **options: Any) -> Answer:
        async with self.session.request(method, self.url + path, **options) as response:
            return Answer(
                status=response.status,
                headers={name.lower(): value for name, value in response.headers.items()},
                body=await response.read(),
            )

    @asynccontextmanager
    async def stream(self, path: str, **options: Any) -> AsyncGenerator["Frames", None]:
        """The frames of a stream; leaving the block hangs up."""
        method = "POST" if "json" in options else "GET"
        headers = {"Accept": "text/event-stream", **options.pop("headers", {})}
        response = await self.session.request(method, self.url + path, headers=headers, **options)
        try:
            yield Frames(response)
        finally:
            response.close()

    async def frames(self, path: str, **options: Any) -> list[Frame]:
        """A whole stream."""
        async with self.stream(path, **options) as frames:
            return [frame async for frame in frames]


class Frames:
    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self.response = response
        self.comments: list[str] = []

    def __aiter__(self) -> "Frames":
        return self

    async def __anext__(self) -> Frame:
        event, id, data = None, None, None
        async with asyncio.timeout(PATIENCE_S):
            async for raw in self.response.content:
                line = raw.decode().rstrip("\n")
                name, _, value = line.partition(": ")
                if name == "event":
                    event = value
                elif name == "id":
                    id = value
                elif name == "data":
                    data = value
                elif line and not name:
                    self.comments.append(value)
                elif not line and data is not None:
                    return Frame(event=event, id=id, data=data)
        raise StopAsyncIteration

    async def rest(self) -> list[Frame]:
        return [frame async for frame in self]

    async def until(self, event: str) -> Frame:
        async for frame in self:
            if frame.event == event:
                return frame
        raise AssertionError(f"the stream ended without {event!r}")


class QuietServer(uvicorn.Server):
    """Leaves the process's signal handlers alone, and stops at once."""

    async def main_loop(self) -> None:
        while not self.should_exit:
            await asyncio.sleep(0.01)

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


async def no_checks() -> Sequence[Check]:
    return [Check(name="store", state="ok", why="it answers")]


def no_web() -> WebState:
    return WebState(engines=(), web_search="allow", confidential="ask", browser="off", cache=False)


async def writable() -> None: ...


def services(bench: Bench, **fields: Any) -> Services:
    given = Services(
        runs=bench.service,
        models=bench.models,
        knowledge=bench.knowledge,
        library=None,
        knowledge_provider="local",
        doctor=no_checks,
        web=no_web,
        replay_command=("false",),
        check_writable=writable,
        version="1.2.3",
    )
    return replace(given, **fields)


@asynccontextmanager
async def serve(bench: Bench, **fields: Any) -> AsyncGenerator[Client, None]:
    # IPPROTO_TCP by name: asyncio sets TCP_NODELAY only on sockets that say so.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    stopping = {"is_stopping": lambda: server.should_exit}
    app = create_app(services(bench, **(stopping | fields)))
    server = QuietServer(
        uvicorn.Config(
            app,
            lifespan="off",
            ws="none",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            timeout_graceful_shutdown=5,
        )
    )
    running = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        while not server.started:
            await asyncio.sleep(0.005)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        timeout = aiohttp.ClientTimeout(total=PATIENCE_S)
        async with aiohttp.ClientSession(timeout=timeout) as session:
            yield Client(url=url, session=session)
    finally:
        server.should_exit = True
        await running
        listener.close()


def open_routes(app: FastAPI) -> list[tuple[str, set[str]]]:
    """Path and methods of every route, described in the API's document or not."""
    own = [route for route in app.routes if isinstance(route, Route)]
    routes = [*own, *(route for router in ROUTERS for route in router.routes)]
    assert len(app.routes) == len(own) + len(ROUTERS), "a kind of route that is not looked into"
    found: list[tuple[str, set[str]]] = []
    for route in routes:
        assert isinstance(route, Route), f"not looked into: {route!r}"
        found.append((route.path, set(route.methods or ())))
    return found
