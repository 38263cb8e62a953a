"""Requests to model servers on other machines are on the ledger; those to this machine are not."""

import socket
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field

import aiohttp
import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from inglenook.egress import OutgoingRequest, leaves_machine
from inglenook.errors import NotApproved, ProviderBusy
from inglenook.messages import Label, Message
from inglenook.providers.base import ModelSpec, StreamOptions
from inglenook.providers.openai_chat import OpenAIChatProvider
from inglenook.providers.retry import RetryingProvider
from inglenook.providers.transport import ModelServer
from tests.scripted_replies import Failure, Raw
from tests.scripted_server import ScriptedServer

HELLO = [Message(role="user", text="hello")]


@dataclass
class Ledger:
    """An `Egress` that only remembers."""

    started_: list[OutgoingRequest] = field(default_factory=list[OutgoingRequest])
    ends: list[tuple[int, int | None, bool]] = field(
        default_factory=list[tuple[int, int | None, bool]]
    )
    refuses: bool = False
    labels: frozenset[Label] = frozenset()

    async def started(self, request: OutgoingRequest) -> int:
        if self.refuses:
            raise NotApproved("not this one")
        self.started_.append(request)
        return len(self.started_)

    def finished(self, n: int, *, status: int | None, bytes_in: int, sent: bool) -> None:
        self.ends.append((n, status, sent))


class Elsewhere(AbstractResolver):
    """Every name is another machine's, which happens to be this one."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return [
            ResolveResult(
                hostname=host,
                host="127.0.0.1",
                port=port,
                family=socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
        ]

    async def close(self) -> None: ...


@asynccontextmanager
async def elsewhere() -> AsyncGenerator[aiohttp.ClientSession, None]:
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(resolver=Elsewhere())
    ) as session:
        yield session


def at_other_name(url: str) -> str:
    return url.replace("127.0.0.1", "models.test")


async def test_a_streamed_call_is_told_before_it_leaves_and_once_it_has_ended() -> None:
    ledger = Ledger()
    async with ScriptedServer([Raw(pieces=[b"abc"])]) as scripted, elsewhere() as session:
        server = ModelServer(session, base_url=at_other_name(scripted.url), model="m")
        reply = await server.open_stream("v1/chat/completions", b'{"a":1}', ledger)
        assert [r.path for r in ledger.started_] == ["/v1/chat/completions"]
        assert ledger.started_[0].host == "models.test"
        assert ledger.started_[0].body == b'{"a":1}'
        assert ledger.ends == []
        await reply.read()
        await reply.finish()
        reply.close()
    assert ledger.ends == [(1, 200, True)]


async def test_each_try_is_a_request_of_its_own() -> None:
    ledger = Ledger()
    good = Raw(
        pieces=[b'data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\n']
    )
    replies = [Failure(status=503, body="busy"), good]
    async with ScriptedServer(replies) as scripted, elsewhere() as session:
        spec = ModelSpec(
            id="m", provider="openai", model="m", base_url=at_other_name(scripted.url) + "/v1"
        )
        provider = RetryingProvider(OpenAIChatProvider(session, spec), first_wait_s=0)
        options = StreamOptions(egress=ledger)
        async with aclosing(provider.stream(HELLO, [], options)) as parts:
            async for _ in parts:
                pass
        assert len(scripted.requests) == 2
    assert ledger.ends == [(1, 503, True), (2, 200, True)]


async def test_nobody_there_is_told_as_not_sent(unused_tcp_port: int) -> None:
    ledger = Ledger()
    async with elsewhere() as session:
        url = f"http://models.test:{unused_tcp_port}"
        server = ModelServer(session, base_url=url, model="m")
        with pytest.raises(ProviderBusy):
            await server.ask("v1/models", egress=ledger)
    assert ledger.ends == [(1, None, False)]


async def test_a_key_in_the_address_is_not_on_the_ledger() -> None:
    ledger = Ledger()
    async with ScriptedServer([]) as scripted, elsewhere() as session:
        url = at_other_name(scripted.url) + "?key=sk-canary-8f2b"
        server = ModelServer(session, base_url=url, model="m")
        await server.ask("v1/models", egress=ledger)
    assert ledger.started_[0].path.startswith("/v1/models?key=")
    assert "sk-canary" not in ledger.started_[0].url
    assert ledger.ends == [(1, 200, True)]


async def test_what_may_not_leave_is_not_sent() -> None:
    async with ScriptedServer([Raw(pieces=[b"abc"])]) as scripted, elsewhere() as session:
        server = ModelServer(session, base_url=at_other_name(scripted.url), model="m")
        with pytest.raises(NotApproved):
            await server.open_stream("v1/chat/completions", b"{}", Ledger(refuses=True))
        assert scripted.requests == []


async def test_a_server_on_this_machine_is_not_on_the_ledger() -> None:
    ledger = Ledger()
    async with ScriptedServer([Raw(pieces=[b"abc"])]) as scripted, elsewhere() as session:
        server = ModelServer(session, base_url=scripted.url, model="m")
        (await server.open_stream("v1/chat/completions", b"{}", ledger)).close()
    assert ledger.started_ == []


@pytest.mark.parametrize(
    ("url", "leaves"),
    [
        ("http://127.0.0.1:11434", False),
        ("http://localhost:8080/v1", False),
        ("http://[::1]:8080/v1", False),
        ("http://127.0.0.1.nip.io/v1", True),
        ("http://192.168.1.20:11434", True),
        ("http://ollama:11434", True),
        ("https://openrouter.ai/api/v1", True),
        ("http://[::ffff:10.0.0.1]/v1", True),
    ],
)
def test_only_loopback_is_this_machine(url: str, leaves: bool) -> None:
    assert leaves_machine(url) is leaves
