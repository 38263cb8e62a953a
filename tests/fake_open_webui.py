"""Open WebUI's knowledge API on a loopback port: new and old shapes, every request recorded.

Only what was measured on 0.12.4 (and, for `shape="old"`, the plain lists of before 0.6.42):
ownership, 30 entries a page, similarities named distances, its status codes for what is foreign.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import aiohttp
from aiohttp import web

PAGE_SIZE = 30
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, kw_only=True)
class FakeFile:
    id: str
    name: str
    text: str


@dataclass(kw_only=True)
class FakeBase:
    id: str
    name: str
    owner: str
    """The API key that sees it."""
    files: list[FakeFile] = field(default_factory=list[FakeFile])


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

    def file(self, file_id: str) -> FakeFile:
        return next(f for base in self.bases for f in base.files if f.id == file_id)

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
        own = [base for base in self.bases if base.owner == key]
        if key not in {base.owner for base in self.bases}:
            return _error(401, "Your session has expired or the token is invalid.")
        match request.path.strip("/").split("/"):
            case ["api", "v1", "knowledge"]:
                return self._list(own, request)
            case ["api", "v1", "knowledge", base_id, "files"] if self.shape == "new":
                base = next((b for b in own if b.id == base_id), None)
                return _error(400, "Not found") if base is None else _page(base.files, request)
            case ["api", "v1", "knowledge", base_id]:
                base = next((b for b in own if b.id == base_id), None)
                return _error(401, "Not allowed") if base is None else self._base(base)
            case ["api", "v1", "files", file_id, "data", "content"]:
                return self._content(own, file_id)
            case ["api", "v1", "retrieval", "query", "collection"]:
                return self._query(own, body)
            case _:
                return _error(404, "Not Found")

    def _list(self, own: list[FakeBase], request: web.Request) -> web.Response:
        if self.shape == "old":
            return web.json_response(
                [{"id": b.id, "name": b.name, "files": _old_files(b)} for b in own]
            )
        page = int(request.query.get("page", 1))
        items = [
            {"id": b.id, "name": b.name, "files": None, "file_count": len(b.files)} for b in own
        ]
        start = (page - 1) * PAGE_SIZE
        return web.json_response({"items": items[start : start + PAGE_SIZE], "total": len(items)})

    def _base(self, base: FakeBase) -> web.Response:
        files = _old_files(base) if self.shape == "old" else None
        return web.json_response({"id": base.id, "name": base.name, "files": files})

    def _content(self, own: list[FakeBase], file_id: str) -> web.Response:
        for base in own:
            for file in base.files:
                if file.id == file_id:
                    return web.json_response({"content": file.text})
        return _error(404, "We could not find what you're looking for :/")

    def _query(self, own: list[FakeBase], body: dict[str, Any]) -> web.Response:
        by_id = {base.id: base for base in own}
        if any(name not in by_id for name in body["collection_names"]):
            return _error(403, "You do not have permission to access this resource.")
        words = set(body["query"].lower().split())
        found: list[tuple[float, FakeFile]] = []
        for name in body["collection_names"]:
            for file in by_id[name].files:
                share = len(words & set(file.text.lower().split())) / max(1, len(words))
                if share:
                    found.append((share, file))
        found.sort(key=lambda pair: -pair[0])
        best = found[: body["k"]]
        return web.json_response(
            {
                "distances": [[share for share, _ in best]],
                "documents": [[file.text for _, file in best]],
                "metadatas": [
                    [{"file_id": f.id, "name": f.name, "start_index": 0} for _, f in best]
                ],
            }
        )


def _old_files(base: FakeBase) -> list[dict[str, Any]]:
    return [{"id": file.id, "meta": {"name": file.name}} for file in base.files]


def _page(files: list[FakeFile], request: web.Request) -> web.Response:
    page = int(request.query.get("page", 1))
    items = [
        {
            "id": file.id,
            "filename": file.name,
            "data": None,
            "meta": {"name": file.name, "size": len(file.text)},
        }
        for file in files
    ]
    start = (page - 1) * PAGE_SIZE
    return web.json_response(
        {"items": items[start : start + PAGE_SIZE], "directories": [], "total": len(items)}
    )


def _error(status: int, detail: str) -> web.Response:
    return web.json_response({"detail": detail}, status=status)


@asynccontextmanager
async def client_session() -> AsyncGenerator[aiohttp.ClientSession]:
    """A session as the program makes it: no cookies, no proxies of the environment."""
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session:
        yield session
