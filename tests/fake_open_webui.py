"""Open WebUI's knowledge API on a loopback port: new and old shapes, every request recorded.

It answers as 0.12.4 does, which `tests/live/test_open_webui_fake.py` compares request by request,
and for `shape="old"` with the plain lists of before 0.6.42, which nothing compares. Unlike there,
a text is one chunk however long it is.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import aiohttp
from aiohttp import web

from scripts.open_webui import WordVectors

PAGE_SIZE = 30
DEFAULT_K = 3
NOT_FOUND = "We could not find what you're looking for :/"
PROHIBITED = (
    "You do not have permission to access this resource. "
    "Please contact your administrator for assistance."
)
EXPIRED = "Your session has expired or the token is invalid. Please sign in again."
PAGE = "<!doctype html><html><title>Open WebUI</title></html>"
"""What it answers to every GET of an address that it does not know."""
MADE_AT = 1_796_000_000
"""Seconds since 1970; of everything, so that lists are in the order of the ids."""
USER = {"id": "u-1", "name": "Ann", "role": "user", "email": "ann@example.com"}
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, kw_only=True)
class FakeFile:
    id: str
    name: str
    text: str
    folder: str = ""
    """`2026/summer`, without a slash at its ends."""


@dataclass(kw_only=True)
class FakeBase:
    id: str
    name: str
    owner: str
    """The API key that sees it."""
    files: list[FakeFile] = field(default_factory=list[FakeFile])
    is_external: bool = False


@dataclass(frozen=True, kw_only=True)
class SeenRequest:
    method: str
    path: str
    authorization: str
    body: Any


@dataclass(kw_only=True)
class FakeOpenWebUI:
    bases: list[FakeBase] = field(default_factory=list[FakeBase])
    shape: Literal["new", "old"] = "new"
    seen: list[SeenRequest] = field(default_factory=list[SeenRequest])
    overrides: dict[tuple[str, str], Handler] = field(
        default_factory=dict[tuple[str, str], Handler]
    )
    """(method, path) to a handler that answers in its place: for servers that misbehave."""
    url: str = ""

    def bodies(self, path: str) -> list[Any]:
        return [request.body for request in self.seen if request.path == path]

    @asynccontextmanager
    async def serving(self) -> AsyncGenerator["FakeOpenWebUI"]:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        try:
            yield self
        finally:
            await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body: Any = await request.json() if request.can_read_body else None
        key = request.headers.get("Authorization", "").removeprefix("Bearer ")
        self.seen.append(
            SeenRequest(method=request.method, path=request.path, authorization=key, body=body)
        )
        if handler := self.overrides.get((request.method, request.path)):
            return await handler(request)
        match request.method, request.path.split("/")[1:]:
            case "GET", ["api", "v1", "knowledge", ""]:
                answer = self._list
            case "GET", ["api", "v1", "knowledge", _, "files"] if self.shape == "new":
                answer = self._files
            case "GET", ["api", "v1", "knowledge", _]:
                answer = self._base
            case "GET", ["api", "v1", "files", _, "data", "content"]:
                answer = self._content
            case "POST", ["api", "v1", "retrieval", "query", "collection"]:
                answer = self._query
            case "GET", path:
                return _told_to_anybody(path)
            case _:
                return _error(405, "Method Not Allowed")
        if not key:
            return _error(401, "Not authenticated")
        if key not in {base.owner for base in self.bases}:
            return _error(401, EXPIRED if key.startswith("sk-") else "401 Unauthorized")
        return answer(request, key, body)

    def _list(self, request: web.Request, key: str, _: Any) -> web.Response:
        own = sorted((b for b in self.bases if b.owner == key), key=lambda base: base.id)
        if self.shape == "old":
            return web.json_response(
                [{"id": b.id, "name": b.name, "files": _old_files(b)} for b in own]
            )
        return _page([_base_item(base) for base in own], request)

    def _base(self, request: web.Request, key: str, _: Any) -> web.Response:
        base = self._named(request.path.split("/")[4])
        if base is None:
            return _error(404, NOT_FOUND)
        if base.owner != key:
            return _error(401, PROHIBITED)
        if self.shape == "old":
            return web.json_response({"id": base.id, "name": base.name, "files": _old_files(base)})
        return web.json_response({**_described(base), "files": None, "write_access": True})

    def _files(self, request: web.Request, key: str, _: Any) -> web.Response:
        base = self._named(request.path.split("/")[4])
        if base is None or base.owner != key:
            return _error(400, NOT_FOUND if base is None else PROHIBITED)
        files = sorted(base.files, key=lambda file: file.id)
        return _page(
            [_file_item(file, base) for file in files], request, directories=[], breadcrumbs=[]
        )

    def _content(self, request: web.Request, key: str, _: Any) -> web.Response:
        file_id = request.path.split("/")[4]
        for base in self.bases:
            for file in base.files:
                if file.id == file_id and base.owner == key:
                    return web.json_response({"content": file.text})
        return _error(404, NOT_FOUND)

    def _query(self, _: web.Request, key: str, body: dict[str, Any]) -> web.Response:
        """Everything is similar to some degree: `k` chunks come, whatever was asked."""
        bases = [self._named(name) for name in body["collection_names"]]
        if any(base is None or base.owner != key for base in bases):
            return _error(403, PROHIBITED)
        found: dict[str, tuple[float, FakeFile]] = {}
        for file in (file for base in bases if base for file in base.files):
            # the same words in two files are one chunk there
            found.setdefault(file.text, (similarity(body["query"], file.text), file))
        k = body.get("k") or DEFAULT_K
        best = sorted(found.values(), key=lambda pair: -pair[0])[: k if body["query"] else 0]
        return web.json_response(
            {
                "distances": [[score for score, _ in best]],
                "documents": [[file.text for _, file in best]],
                "metadatas": [[_chunk_meta(file) for _, file in best]],
            }
        )

    def _named(self, base_id: str) -> FakeBase | None:
        return next((base for base in self.bases if base.id == base_id), None)


def similarity(a: str, b: str) -> float:
    """From 0 to 1, where 0.5 means that they have no word in common."""
    vectors = WordVectors()
    cosine = sum(x * y for x, y in zip(vectors.vector(a), vectors.vector(b), strict=True))
    return (1 + cosine) / 2


def _described(base: FakeBase) -> dict[str, Any]:
    return {
        "id": base.id,
        "user_id": "u-1",
        "name": base.name,
        "description": "",
        "meta": {"source": "external", "read_only": True} if base.is_external else None,
        "access_grants": [],
        "created_at": MADE_AT,
        "updated_at": MADE_AT,
    }


def _base_item(base: FakeBase) -> dict[str, Any]:
    return {
        **_described(base),
        "user": USER,
        "file_count": len(base.files),
        "write_access": True,
    }


def _file_item(file: FakeFile, base: FakeBase) -> dict[str, Any]:
    return {
        "id": file.id,
        "user_id": "u-1",
        "hash": "0" * 64,
        "filename": file.name,
        "data": None,
        "meta": {
            "name": file.name,
            "content_type": "text/markdown",
            "size": len(file.text.encode()),
            "file_hash": "0" * 64,
            "data": {},
            "collection_name": base.id,
        },
        "created_at": MADE_AT,
        "updated_at": MADE_AT,
        "directory_id": f"d-{file.folder}" if file.folder else None,
        "directory_path": file.folder,
        "has_original": True,
        "user": USER,
    }


def _chunk_meta(file: FakeFile) -> dict[str, Any]:
    return {
        "file_id": file.id,
        "name": file.name,
        "source": file.name,
        "hash": "0" * 64,
        "file_hash": "0" * 64,
        "created_by": "u-1",
        "content_type": "text/markdown",
        "size": len(file.text.encode()),
        "start_index": 0,
        "embedding_config": "{'engine': 'openai', 'model': 'words'}",
    }


def _old_files(base: FakeBase) -> list[dict[str, Any]]:
    return [{"id": file.id, "meta": {"name": file.name}} for file in base.files]


def _page(items: list[dict[str, Any]], request: web.Request, **more: Any) -> web.Response:
    start = (max(1, int(request.query.get("page", 1))) - 1) * PAGE_SIZE
    return web.json_response(
        {"items": items[start : start + PAGE_SIZE], **more, "total": len(items)}
    )


def _told_to_anybody(path: list[str]) -> web.Response:
    if path == ["api", "config"]:
        return web.json_response({"status": True, "name": "Open WebUI", "version": "0.12.4"})
    return web.Response(text=PAGE, content_type="text/html")


def _error(status: int, detail: str) -> web.Response:
    return web.json_response({"detail": detail}, status=status)


@asynccontextmanager
async def client_session() -> AsyncGenerator[aiohttp.ClientSession]:
    """A session as the program makes it: no cookies, no proxies of the environment."""
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session:
        yield session
