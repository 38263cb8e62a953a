"""A model server on loopback that says what a test tells it to say.

It speaks Ollama's native API and OpenAI's Chat Completions, both streamed, over real sockets:

    POST /api/chat, /api/show    GET /api/tags, /api/version, /api/ps
    POST /v1/chat/completions    GET /v1/models

    async with ScriptedServer([calls(("calculate", {"expression": "2+2"})), "It is 4."]) as server:
        ...                      # point a provider at server.url or server.openai_url
    assert server.chats[1].body["messages"][-1]["role"] == "tool"

One entry of the script answers one chat request, in order; a function in place of the list answers
every request. The entries come from `tests/scripted_replies.py`:

    str, dict      a message, streamed word by word in the wire format of the path that was asked
                   (keys of `Reply`; `calls(...)` makes one with tool calls)
    Raw(...)       these exact bytes, with pauses, endings and status as given
    Failure(...)   a status and a JSON or text body
    a function     of the request's body (dict) -> any of the above

A request past the end of the script gets 500. `server.requests` holds everything that was asked,
`server.chats` only the chat requests; `seen.closed_early` and `await seen.ended.wait()` tell
whether the client hung up before the reply was complete.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.scripted_replies import (
    Answer,
    Failure,
    Raw,
    Reply,
    ScriptEntry,
    dump,
    ollama_lines,
    openai_lines,
)

NDJSON, SSE, JSON = "application/x-ndjson", "text/event-stream", "application/json"


@dataclass(kw_only=True)
class Seen:
    """One request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    """Names in lower case."""
    raw: bytes
    body: dict[str, Any]
    """The parsed JSON body; empty where there is none."""
    peer: tuple[str, int]
    """Address and port of the client: two requests with one peer used one connection."""
    query: dict[str, str] = field(default_factory=dict[str, str])
    closed_early: bool = False
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the reply is over, one way or the other."""


class ScriptedServer:
    """Use as an async context manager; it listens on a free port of `host`."""

    def __init__(
        self,
        script: Iterable[ScriptEntry] | Callable[[dict[str, Any]], Answer] = (),
        *,
        models: Mapping[str, Mapping[str, Any]] | None = None,
        api_key: str | None = None,
        host: str = "127.0.0.1",
    ) -> None:
        """
        `models`: name -> {"capabilities": [...], "context_length": int, "family": str,
        "loaded": int (the window it runs with now)}, each optional; a chat that names another
        model gets 404. None: every name is accepted, and `scripted` with tools, thinking and 8192
        tokens is listed.
        `api_key`: requests without `Authorization: Bearer <key>` get 401.
        """
        self._every = script if callable(script) else None
        self._script = [] if callable(script) else list(script)
        self._models = models
        self._api_key = api_key
        self._host = host
        self._runner: web.AppRunner | None = None
        self.port = 0
        self.requests: list[Seen] = []

    @property
    def url(self) -> str:
        """Base URL of Ollama's face."""
        return f"http://{self._host}:{self.port}"

    @property
    def openai_url(self) -> str:
        """Base URL of OpenAI's face."""
        return f"{self.url}/v1"

    @property
    def chats(self) -> list[Seen]:
        return [seen for seen in self.requests if seen.path in _CHAT_PATHS]

    def add(self, *entries: ScriptEntry) -> None:
        """Append to the script while the server runs."""
        self._script += entries

    async def __aenter__(self) -> "ScriptedServer":
        app = web.Application(client_max_size=64 << 20)
        app.router.add_route("*", "/{path:.*}", self._handle)
        # handler_cancellation: a client that hangs up is noticed at once, not at the next write.
        self._runner = web.AppRunner(
            app, handler_cancellation=True, access_log=None, shutdown_timeout=0.05
        )
        await self._runner.setup()
        await web.TCPSite(self._runner, self._host, self.port).start()
        addresses: list[tuple[str, int]] = self._runner.addresses
        self.port = addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        parsed: Any = json.loads(raw) if raw else {}
        assert request.transport is not None
        seen = Seen(
            method=request.method,
            path=request.path,
            headers={name.lower(): value for name, value in request.headers.items()},
            raw=raw,
            body=parsed,
            peer=request.transport.get_extra_info("peername"),
            query=dict(request.query),
        )
        self.requests.append(seen)
        try:
            return await self._answer(request, seen)
        except (asyncio.CancelledError, ConnectionError):
            seen.closed_early = True
            raise
        finally:
            seen.ended.set()

    async def _answer(self, request: web.Request, seen: Seen) -> web.StreamResponse:
        if self._api_key and seen.headers.get("authorization") != f"Bearer {self._api_key}":
            return _json({"error": {"message": "Incorrect API key provided."}}, status=401)
        match seen.method, seen.path:
            case "POST", "/api/chat" | "/v1/chat/completions":
                return await self._chat(request, seen)
            case "POST", "/api/show":
                return self._show(seen.body.get("model", ""))
            case "GET", "/api/tags":
                return _json({"models": [self._tag(name) for name in self._offered()]})
            case "GET", "/api/ps":
                return _json({"models": self._loaded()})
            case "GET", "/api/version":
                return _json({"version": "0.0.0-scripted"})
            case "GET", "/v1/models":
                listed = [{"id": name, "object": "model"} for name in self._offered()]
                return _json({"object": "list", "data": listed})
            case _:
                return web.Response(status=404, text="404 page not found")

    def _offered(self) -> Mapping[str, Mapping[str, Any]]:
        if self._models is not None:
            return self._models
        return {"scripted": {"capabilities": ["completion", "tools", "thinking"]}}

    def _tag(self, name: str) -> dict[str, Any]:
        family = self._offered()[name].get("family", "scripted")
        return {"name": name, "model": name, "size": 1, "details": {"family": family}}

    def _loaded(self) -> list[dict[str, Any]]:
        windows = {name: about.get("loaded") for name, about in self._offered().items()}
        return [
            {"name": name, "model": name, "context_length": window}
            for name, window in windows.items()
            if window
        ]

    def _show(self, name: str) -> web.Response:
        known = self._offered().get(name)
        if known is None:
            return _json({"error": f"model '{name}' not found"}, status=404)
        family = known.get("family", "scripted")
        shown: dict[str, Any] = {
            "details": {"family": family},
            "model_info": {
                "general.architecture": family,
                f"{family}.context_length": known.get("context_length", 8192),
            },
        }
        if "capabilities" in known:
            shown["capabilities"] = list(known["capabilities"])
        return _json(shown)

    async def _chat(self, request: web.Request, seen: Seen) -> web.StreamResponse:
        ollama = seen.path == "/api/chat"
        model = seen.body.get("model", "")
        if self._models is not None and model not in self._models:
            text = f"model '{model}' not found"
            error = text if ollama else {"message": text, "code": "model_not_found"}
            return _json({"error": error}, status=404)
        if self._every is None and not self._script:
            return _json({"error": "the script has no reply left"}, status=500)
        entry = self._every or self._script.pop(0)
        answer = entry(seen.body) if callable(entry) else entry
        if isinstance(answer, Failure):
            if isinstance(answer.body, str):
                return web.Response(
                    status=answer.status, text=answer.body, headers=dict(answer.headers)
                )
            return _json(answer.body, status=answer.status, headers=answer.headers)
        if not isinstance(answer, Raw):
            reply = Reply(content=answer) if isinstance(answer, str) else answer
            lines = ollama_lines(reply) if ollama else openai_lines(reply)
            pace = reply.get("pace_s", 0.0)
            answer = Raw(pieces=[part for line in lines for part in (pace, line) if part])
        return await _stream(request, answer, NDJSON if ollama else SSE)


_CHAT_PATHS = frozenset({"/api/chat", "/v1/chat/completions"})


async def _stream(request: web.Request, raw: Raw, content_type: str) -> web.StreamResponse:
    response = web.StreamResponse(
        status=raw.status, headers={"Content-Type": raw.content_type or content_type}
    )
    await response.prepare(request)
    for piece in raw.pieces:
        if isinstance(piece, bytes):
            await response.write(piece)
        else:
            await asyncio.sleep(piece)
    if raw.hang:
        await asyncio.Event().wait()
    if raw.cut:
        assert request.transport is not None
        request.transport.close()
        return response
    await response.write_eof()
    return response


def _json(
    value: Any, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> web.Response:
    return web.Response(
        status=status, body=dump(value), content_type=JSON, headers=dict(headers or {})
    )
