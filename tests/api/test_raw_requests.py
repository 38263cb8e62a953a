"""Requests that no HTTP library sends, as raw bytes (SECURITY P32)."""

import asyncio
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.api.serving import PATIENCE_S, serve
from tests.support import bench, replies, say

BODY = b'{"model":"m","messages":[{"role":"user","content":"hi"}]}'


async def raw(url: str, head: str, body: bytes = b"") -> bytes:
    """The answer's first line; `HOST` in `head` stands for the server's own."""
    host = urlsplit(url).netloc
    reader, writer = await asyncio.open_connection(*host.split(":"))
    lines = [*head.replace("HOST", host).splitlines(), "Connection: close", "", ""]
    writer.write("\r\n".join(lines).encode("latin-1") + body)
    async with asyncio.timeout(PATIENCE_S):
        answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer.partition(b"\r\n")[0]


POST = f"Content-Type: application/json\nContent-Length: {len(BODY)}"
REFUSED = [
    ("GET /api/runs HTTP/1.1\nHost: evil.example", 403),
    ("GET /api/runs HTTP/1.1\nHost: HOST\nHost: evil.example", 400),
    ("GET /api/runs HTTP/1.1\nHost: HOST@evil.example", 403),
    ("GET /api/runs HTTP/1.1\nHost: evil.example/?HOST", 403),
    ("GET /api/runs HTTP/1.1\nHost:", 403),
    ("GET /api/runs HTTP/1.0", 400),
    ("GET http://evil.example/api/runs HTTP/1.1\nHost: HOST", 404),
    ("GET /api/runs HTTP/1.1\nHost: HOST\nX-Forwarded-For: 8.8.8.8", 403),
    ("GET //api/runs HTTP/1.1\nHost: HOST", 404),
    ("GET /%2e%2e/api/runs HTTP/1.1\nHost: HOST", 404),
    ("GET /api/runs HTTP/1.1\nHost: HOST\nX-Inglenook-Token: guess\nX-Real-IP: 1.2.3.4", 403),
    (f"POST /agent/run HTTP/1.1\nHost: HOST\nOrigin: null\n{POST}", 403),
    (f"POST /agent/run HTTP/1.1\nHost: HOST\nOrigin: http://HOST.evil.example\n{POST}", 403),
    (f"POST /agent/run HTTP/1.1\nHost: HOST\nOrigin: http://HOST/\n{POST}", 403),
    (f"POST /agent/run HTTP/1.1\nHost: HOST\nOrigin: http://HOST\nOrigin: http://x\n{POST}", 403),
    (f"POST /agent/run HTTP/1.1\nHost: HOST\nSec-Fetch-Site: cross-site\n{POST}", 403),
    (
        "POST /agent/run HTTP/1.1\nHost: HOST\nContent-Type: text/plain\n"
        f"Content-Length: {len(BODY)}",
        400,
    ),
    (
        "POST /agent/run HTTP/1.1\nHost: HOST\nContent-Type: application/x-www-form-urlencoded\n"
        f"Content-Length: {len(BODY)}",
        400,
    ),
]  # fmt: skip


async def test_none_of_them_is_served_and_nothing_starts(tmp_path: Path):
    async with bench(tmp_path, replies(say("never"))) as b, serve(b) as client:
        for head, status in REFUSED:
            body = BODY if head.startswith("POST") else b""
            line = await raw(client.url, head, body)
            assert line.split()[1] == str(status).encode(), head
        assert (await client.get("/api/runs")).json["items"] == []


@pytest.mark.parametrize("origin", ["", "\nOrigin: http://HOST", "\nSec-Fetch-Site: same-origin"])
async def test_the_same_request_from_here_is_served(tmp_path: Path, origin: str):
    async with bench(tmp_path, replies(say("x"))) as b, serve(b) as client:
        head = f"POST /agent/run HTTP/1.1\nHost: HOST\n{POST}{origin}"
        assert (await raw(client.url, head, BODY)).split()[1] == b"200"
