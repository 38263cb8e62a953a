"""A web service on loopback that remembers what it was asked; fakes of real ones build on it."""

from dataclasses import dataclass, field

from aiohttp import web


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One request as it arrived."""

    method: str
    path: str
    query: dict[str, str]
    form: dict[str, str]
    headers: dict[str, str]
    """Names in lower case."""
    size_bytes: int
    """Of path, query and body."""


@dataclass(kw_only=True)
class FakeWeb:
    """Use as an async context manager; it listens on a free port of 127.0.0.1."""

    asked: list[Asked] = field(default_factory=list[Asked])
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def answer(self, asked: Asked) -> web.Response:
        raise NotImplementedError

    async def __aenter__(self):
        app = web.Application(client_max_size=64 << 20)
        app.router.add_route("*", "/{path:.*}", self._serve)
        self._runner = web.AppRunner(
            app, handler_cancellation=True, access_log=None, shutdown_timeout=0.05
        )
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port).start()
        addresses: list[tuple[str, int]] = self._runner.addresses
        self.port = addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _serve(self, request: web.Request) -> web.Response:
        body = await request.read()
        form = await request.post()
        asked = Asked(
            method=request.method,
            path=request.path,
            query=dict(request.query),
            form={name: str(value) for name, value in form.items()},
            headers={name.lower(): value for name, value in request.headers.items()},
            size_bytes=len(request.path_qs) + len(body),
        )
        self.asked.append(asked)
        return await self.answer(asked)
