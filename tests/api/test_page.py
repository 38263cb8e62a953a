"""The page's routes: what they serve, with which headers, and what they say without a page."""

import gzip
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.types import Message, Scope

from inglenook.api.page import SECURITY_HEADERS, page_routes

ADDRESSES = [
    "/",
    "/runs",
    "/runs/abc",
    "/approvals",
    "/knowledge",
    "/models",
    "/doctor",
    "/settings",
]
SCRIPT = b"console.log(1)"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<title>page</title>")
    (tmp_path / "built-from.txt").write_text("0")
    (tmp_path / "assets" / "page-X.js").write_bytes(SCRIPT)
    (tmp_path / "assets" / "page-X.js.gz").write_bytes(gzip.compress(SCRIPT))
    return tmp_path


async def get(
    folder: Path, path: str, accept_encoding: str = ""
) -> tuple[int, dict[str, str], bytes]:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    headers = [(b"accept-encoding", accept_encoding.encode())] if accept_encoding else []
    scope: Scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": headers,
    }
    await Starlette(routes=page_routes(folder))(scope, receive, send)
    head = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], head, b"".join(message.get("body", b"") for message in sent)


@pytest.mark.parametrize("path", ADDRESSES)
async def test_every_address_of_the_page_gets_the_page(folder: Path, path: str) -> None:
    status, headers, body = await get(folder, path)
    assert (status, body) == (200, b"<title>page</title>")
    assert headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("path", ["/", "/assets/page-X.js", "/assets/missing.js"])
async def test_every_answer_carries_the_security_headers(folder: Path, path: str) -> None:
    _, headers, _ = await get(folder, path)
    for name, value in SECURITY_HEADERS.items():
        assert headers[name.lower()] == value


async def test_the_policy_allows_this_origin_alone_and_no_inline_code() -> None:
    directives: dict[str, str] = {}
    for directive in SECURITY_HEADERS["Content-Security-Policy"].split(";"):
        name, _, value = directive.strip().partition(" ")
        directives[name] = value
    assert directives["default-src"] == "'none'"
    assert directives["script-src"] == "'self'"
    assert directives["style-src"] == "'self'"
    assert directives["connect-src"] == "'self'"
    assert directives["frame-ancestors"] == "'none'"
    assert not any("unsafe" in value or "http" in value for value in directives.values())


async def test_assets_are_cached_for_good_and_gzipped_for_who_takes_it(folder: Path) -> None:
    _, plain, body = await get(folder, "/assets/page-X.js")
    assert body == SCRIPT
    assert "immutable" in plain["cache-control"]
    assert plain["content-type"].startswith(("text/javascript", "application/javascript"))
    _, packed, body = await get(folder, "/assets/page-X.js", "gzip, br")
    assert packed["content-encoding"] == "gzip"
    assert packed["vary"] == "Accept-Encoding"
    assert gzip.decompress(body) == SCRIPT


@pytest.mark.parametrize(
    "path", ["/assets/../built-from.txt", "/assets/..%2fbuilt-from.txt", "/built-from.txt"]
)
async def test_nothing_but_the_assets_is_served(folder: Path, path: str) -> None:
    status, _, body = await get(folder, path)
    assert status == 404
    assert body != b"0"


@pytest.mark.parametrize("path", ADDRESSES)
async def test_without_a_built_page_each_address_says_how_to_get_it(
    tmp_path: Path, path: str
) -> None:
    status, headers, body = await get(tmp_path, path)
    assert status == 200
    assert headers["content-type"].startswith("text/html")
    assert b"apt install npm" in body
    assert b'href="/docs"' in body
    assert b"<script" not in body
