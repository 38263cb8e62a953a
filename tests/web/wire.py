"""The web as the transport meets it: names, sockets, bytes; all of it on loopback.

async with RawServer(answer("200 OK", b"hi")) as server:
    names = Names({"ok.test": ["127.0.0.1"]})
    transport = HttpTransport(AddressPolicy(allow_private=True), resolver=names)
    response = await get(transport, f"http://ok.test:{server.port}/")
assert names.asked == ["ok.test"]
"""

import asyncio
import re
import sys
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Self

from inglenook.egress import OutgoingRequest
from inglenook.errors import NotApproved
from inglenook.messages import Label
from inglenook.web.base import WebResponse, WebTransport

Handler = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]
"""Answers one request, whose head it is given."""


@dataclass
class Names:
    """A name server: each look-up takes the next answer of the name, and then its last again."""

    answers: Mapping[str, Sequence[str] | Sequence[Sequence[str]]]
    asked: list[str] = field(default_factory=list[str])

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        found = self.answers.get(host)
        if not found:
            raise OSError(f"no address for {host}")
        turns = [found] if isinstance(found[0], str) else found
        turn = turns[min(self.asked.count(host), len(turns)) - 1]
        return [str(address) for address in turn]


@dataclass(frozen=True, kw_only=True)
class Entry:
    request: OutgoingRequest
    status: int | None
    bytes_in: int
    sent: bool


@dataclass
class Ledger:
    """An `Egress` in memory; `approved` None lets everything through."""

    approved: frozenset[str] | None = None
    labels: frozenset[Label] = frozenset()
    started_urls: list[str] = field(default_factory=list[str])
    entries: list[Entry] = field(default_factory=list[Entry])
    _open: dict[int, OutgoingRequest] = field(default_factory=dict[int, OutgoingRequest])

    async def started(self, request: OutgoingRequest) -> int:
        if self.approved is not None and request.sha256 not in self.approved:
            raise NotApproved(f"{request.url} was not approved")
        self.started_urls.append(request.url)
        self._open[len(self.started_urls)] = request
        return len(self.started_urls)

    def finished(self, n: int, *, status: int | None, bytes_in: int, sent: bool) -> None:
        request = self._open.pop(n)
        self.entries.append(Entry(request=request, status=status, bytes_in=bytes_in, sent=sent))

    @property
    def only(self) -> Entry:
        assert len(self.entries) == 1
        assert not self._open
        return self.entries[0]


class RawServer:
    """Answers each connection's request with exact bytes or as a function says, then closes it."""

    def __init__(self, answer: bytes | Handler, *, host: str = "127.0.0.1") -> None:
        self._answer = answer
        self._host = host
        self.heads: list[bytes] = []
        """Request line and headers, as they came."""
        self.connections = 0
        self._serving: list[asyncio.Task[None]] = []

    @property
    def targets(self) -> list[str]:
        return [head.split(b" ", 2)[1].decode() for head in self.heads]

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, self._host, 0)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        async with asyncio.timeout(5):
            for task in self._serving:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self._serving.append(task)
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            head = await reader.readuntil(b"\r\n\r\n")
            self.heads.append(head)
            # What is left unread when a socket closes would take the answer with it.
            if length := re.search(rb"(?i)\r\ncontent-length: *(\d+)", head):
                await reader.readexactly(int(length[1]))
            if isinstance(self._answer, bytes):
                writer.write(self._answer)
                await writer.drain()
            else:
                await self._answer(head, writer)
        writer.close()


def answer(status: str, body: bytes = b"", *headers: str) -> bytes:
    """A whole response; `Content-Length` is added."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode("latin-1") + body


async def get(
    transport: WebTransport,
    url: str,
    *,
    egress: Ledger | None = None,
    headers: Mapping[str, str] | None = None,
    timeout_s: float = 20.0,
    max_bytes: int = 1_000_000,
) -> WebResponse:
    return await transport.send(
        OutgoingRequest(method="GET", url=url),
        headers=headers or {},
        egress=egress or Ledger(),
        timeout_s=timeout_s,
        max_bytes=max_bytes,
    )


_dials: list[str] | None = None


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "socket.connect" and _dials is not None:
        _dials.append(str(arguments[1]))


sys.addaudithook(_audit)


@contextmanager
def recorded_dials() -> Generator[list[str]]:
    """Every connection that this process begins meanwhile. One that leaves loopback is stopped by
    the guard in `tests/conftest.py` and fails the test."""
    global _dials
    _dials = []
    try:
        yield _dials
    finally:
        _dials = None
