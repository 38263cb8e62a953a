"""Serves the built web page, and holds the headers that keep a browser on this server.

The page is a folder of a few hashed files (scripts/build_page.py makes it). They are read once,
so a request never names a path on the disk. Where the page was not built, its addresses say how
to get it.
"""

import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from inglenook.api.page_folder import PAGE_FOLDER

SECURITY_HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
        "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-DNS-Prefetch-Control": "off",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
"""For every answer of the server. No script, style, image or connection from anywhere else."""

_ADDRESSES = (
    "/",
    "/runs",
    "/runs/{run_id}",
    "/approvals",
    "/knowledge",
    "/models",
    "/doctor",
    "/settings",
)
_ASSET = "/assets/{name}"
PAGE_PATHS = (*_ADDRESSES, _ASSET)
"""All that the page's files are served at; they hold nothing of anybody."""
_FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}
_ALWAYS_FRESH = {"Cache-Control": "no-cache"}

_NOT_BUILT = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Inglenook</title>
<h1>The page is not built yet</h1>
<p>The server runs; only its web page is missing, because npm was not there when it was set up.</p>
<p>To get it: install npm (on Debian: <code>sudo apt install npm</code>), then run
<code>make run</code> again.</p>
<p>Until then: <code>inglenook ask "your question"</code> in the terminal, or the
<a href="/docs">HTTP API</a>.</p>
</html>
"""


@dataclass(frozen=True, kw_only=True)
class _Asset:
    media_type: str
    plain: bytes
    gzipped: bytes | None

    def response(self, request: Request, caching: Mapping[str, str]) -> Response:
        headers = {**SECURITY_HEADERS, **caching, "Vary": "Accept-Encoding"}
        body = self.plain
        if self.gzipped is not None and "gzip" in request.headers.get("accept-encoding", ""):
            body = self.gzipped
            headers["Content-Encoding"] = "gzip"
        return Response(body, media_type=self.media_type, headers=headers)


def page_routes(folder: Path = PAGE_FOLDER) -> list[Route]:
    """Routes for the page's addresses and for `/assets/…`; every answer has `SECURITY_HEADERS`."""
    index = _load(folder / "index.html")
    assets = _load_all(folder / "assets")

    async def page(request: Request) -> Response:
        if index is None:
            return HTMLResponse(_NOT_BUILT, headers={**SECURITY_HEADERS, **_ALWAYS_FRESH})
        return index.response(request, _ALWAYS_FRESH)

    async def asset(request: Request) -> Response:
        found = assets.get(request.path_params["name"])
        if found is None:
            return PlainTextResponse("Not found", status_code=404, headers=dict(SECURITY_HEADERS))
        return found.response(request, _FOREVER)

    pages = [Route(path, page, include_in_schema=False) for path in _ADDRESSES]
    return [*pages, Route(_ASSET, asset, include_in_schema=False)]


def _load(path: Path) -> _Asset | None:
    if not path.is_file():
        return None
    gzipped = path.with_name(path.name + ".gz")
    return _Asset(
        media_type=mimetypes.guess_type(path.name)[0] or "text/plain",
        plain=path.read_bytes(),
        gzipped=gzipped.read_bytes() if gzipped.is_file() else None,
    )


def _load_all(folder: Path) -> dict[str, _Asset]:
    files = folder.iterdir() if folder.is_dir() else ()
    loaded = {path.name: _load(path) for path in files if path.suffix != ".gz"}
    return {name: asset for name, asset in loaded.items() if asset is not None}
