"""The transport: judged addresses, one look-up, honest records, bounded answers."""

import asyncio
import gzip
from collections.abc import Sequence

import pytest

from inglenook.errors import ConfigError, NotApproved
from inglenook.web.addresses import AddressPolicy
from inglenook.web.base import TransportError
from inglenook.web.http import HttpTransport
from tests.web.wire import Ledger, Names, RawServer, answer, get, recorded_dials

LOCAL = AddressPolicy(allow_private=True)
NAMES = {"ok.test": ["127.0.0.1"], "other.test": ["127.0.0.1"]}
OK = answer("200 OK", b"hi", "Content-Type: text/plain")


def transport(**options: object) -> HttpTransport:
    given: dict[str, object] = {"policy": LOCAL, "resolver": Names(NAMES)} | options
    return HttpTransport(**given)  # pyright: ignore[reportArgumentType]


# --- where the connection goes


async def test_a_name_is_looked_up_once_and_the_judged_address_is_dialled() -> None:
    names = Names({"ok.test": [["127.0.0.1"], ["169.254.169.254"]]})
    async with RawServer(OK) as server:
        with recorded_dials() as dials:
            response = await get(transport(resolver=names), f"http://ok.test:{server.port}/")
    assert response.body == b"hi"
    assert names.asked == ["ok.test"]
    assert dials == [str(("127.0.0.1", server.port))]


async def test_a_name_that_turns_private_later_is_refused_then() -> None:
    names = Names({"ok.test": [["127.0.0.1"], ["169.254.169.254"]]})
    async with RawServer(OK) as server:
        each = transport(resolver=names)
        await get(each, f"http://ok.test:{server.port}/")
        with pytest.raises(TransportError, match="link-local") as refusal:
            await get(each, f"http://ok.test:{server.port}/")
    assert refusal.value.fault == "refused"
    assert server.connections == 1


@pytest.mark.parametrize("found", [["127.0.0.1", "169.254.169.254"], ["224.0.0.1", "127.0.0.1"]])
async def test_one_refused_address_among_those_of_a_name_refuses_it(found: list[str]) -> None:
    ledger = Ledger()
    async with RawServer(OK) as server:
        with recorded_dials() as dials, pytest.raises(TransportError, match="not asked"):
            await get(
                transport(resolver=Names({"ok.test": found})),
                f"http://ok.test:{server.port}/",
                egress=ledger,
            )
    assert dials == []
    assert ledger.started_urls == []


async def test_the_next_address_of_a_name_is_tried_where_the_first_takes_no_connection() -> None:
    names = Names({"ok.test": ["127.0.0.2", "127.0.0.1"]})
    async with RawServer(OK) as server:
        response = await get(transport(resolver=names), f"http://ok.test:{server.port}/")
    assert response.status == 200


async def test_no_connection_is_used_twice() -> None:
    async with RawServer(OK) as server:
        each = transport()
        for _ in range(2):
            await get(each, f"http://ok.test:{server.port}/")
    assert server.connections == 2
    assert all(b"connection: close" in head.lower() for head in server.heads)


async def test_environment_proxies_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    async with RawServer(answer("200 OK", b"proxy")) as proxy, RawServer(OK) as server:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        response = await get(transport(), f"http://ok.test:{server.port}/")
    assert response.body == b"hi"


async def test_no_cookie_of_an_answer_comes_back() -> None:
    async with RawServer(answer("200 OK", b"", "Set-Cookie: a=1; Path=/")) as server:
        each = transport()
        for _ in range(2):
            await get(each, f"http://ok.test:{server.port}/")
    assert all(b"cookie" not in head.lower() for head in server.heads)


async def test_a_redirect_is_an_answer() -> None:
    async with RawServer(answer("302 Found", b"x" * 100, "Location: /there")) as server:
        response = await get(transport(), f"http://ok.test:{server.port}/")
    assert (response.status, response.headers["location"]) == (302, "/there")
    assert server.connections == 1


@pytest.mark.parametrize("host", ["ok.test", "127.0.0.1"])
async def test_a_trusted_origin_is_asked_wherever_it_lies(host: str) -> None:
    async with RawServer(OK) as server:
        url = f"http://{host}:{server.port}/search"
        closed = transport(policy=AddressPolicy())
        with pytest.raises(TransportError, match="not asked"):
            await get(closed, url)
        assert (await get(transport(policy=AddressPolicy(), trusted=[url]), url)).status == 200


async def test_trust_is_for_one_port_alone() -> None:
    async with RawServer(OK) as server, RawServer(OK) as other:
        each = transport(policy=AddressPolicy(), trusted=[f"http://127.0.0.1:{server.port}/"])
        with pytest.raises(TransportError, match="not asked"):
            await get(each, f"http://127.0.0.1:{other.port}/")
    assert other.connections == 0


async def test_a_server_of_this_runtime_is_not_read_under_another_name() -> None:
    names = Names({"ok.test": ["127.0.0.1"], "ollama": ["127.0.0.1"]})
    async with RawServer(OK) as server:
        policy = AddressPolicy(allow_private=True, forbidden=frozenset({("ollama", server.port)}))
        with pytest.raises(TransportError, match="belongs to this runtime"):
            await get(transport(policy=policy, resolver=names), f"http://ok.test:{server.port}/")
    assert server.connections == 0


async def test_a_url_that_is_not_in_the_form_that_is_sent_is_not_asked() -> None:
    with pytest.raises(TransportError, match=r"write it as 'http://ok\.test/'"):
        await get(transport(), "http://OK.test")


# --- through the operator's proxy


async def test_a_proxy_is_asked_with_the_whole_url_and_no_name_is_looked_up() -> None:
    names = Names({})
    ledger = Ledger()
    async with RawServer(OK) as proxy:
        each = transport(resolver=names, proxy=f"http://127.0.0.1:{proxy.port}")
        response = await get(each, "http://far.test/x?q=1", egress=ledger)
    assert response.body == b"hi"
    assert proxy.targets == ["http://far.test/x?q=1"]
    assert names.asked == []
    assert ledger.only.sent


@pytest.mark.parametrize(
    "url", ["http://10.0.0.1/", "http://localhost/", "http://router/", "http://[::1]/"]
)
async def test_a_proxy_is_not_asked_for_what_is_local_by_its_name(url: str) -> None:
    async with RawServer(OK) as proxy:
        each = transport(policy=AddressPolicy(), proxy=f"http://127.0.0.1:{proxy.port}")
        with pytest.raises(TransportError, match="not asked"):
            await get(each, url)
    assert proxy.connections == 0


async def test_a_tunnel_names_the_host_so_that_the_request_counts_as_sent() -> None:
    ledger = Ledger()
    async with RawServer(answer("403 Forbidden")) as proxy:
        each = transport(proxy=f"http://127.0.0.1:{proxy.port}")
        with pytest.raises(TransportError, match="the proxy answered with status 403"):
            await get(each, "https://far.test/x", egress=ledger)
    assert proxy.targets == ["far.test:443"]
    assert ledger.only.sent


@pytest.mark.parametrize("proxy", ["proxy:3128", "https://proxy:3128", "http://", "http://["])
def test_a_proxy_that_cannot_be_read_is_an_error_of_the_configuration(proxy: str) -> None:
    with pytest.raises(ConfigError, match=r"web\.proxy"):
        transport(proxy=proxy)


# --- what the ledger says


async def test_an_answer_is_recorded_with_what_came() -> None:
    ledger = Ledger()
    body = gzip.compress(b"hi" * 1000)
    async with RawServer(answer("200 OK", body, "Content-Encoding: gzip")) as server:
        response = await get(transport(), f"http://ok.test:{server.port}/x", egress=ledger)
    assert response.body == b"hi" * 1000
    entry = ledger.only
    assert (entry.status, entry.bytes_in, entry.sent) == (200, len(body), True)


async def test_the_bytes_that_leave_are_those_of_the_request() -> None:
    async with RawServer(OK) as server:
        url = f"http://ok.test:{server.port}/a%2fb/../c?q=a+b%zz&x[]=1"
        await get(transport(), url, headers={"User-Agent": "me"})
    assert server.targets == ["/a%2fb/../c?q=a+b%zz&x[]=1"]
    assert b"User-Agent: me\r\n" in server.heads[0]


async def test_nothing_leaves_that_the_ledger_refuses() -> None:
    async with RawServer(OK) as server:
        with recorded_dials() as dials, pytest.raises(NotApproved):
            await get(transport(), f"http://ok.test:{server.port}/", egress=Ledger(frozenset()))
    assert dials == []


async def test_where_nobody_listens_nothing_was_sent() -> None:
    async with RawServer(OK) as server:
        pass
    ledger = Ledger()
    with pytest.raises(TransportError, match="takes no connection") as raised:
        await get(transport(), f"http://ok.test:{server.port}/", egress=ledger)
    assert raised.value.fault == "unreachable"
    assert not ledger.only.sent


async def test_a_name_without_an_address_is_unreachable_and_not_recorded() -> None:
    ledger = Ledger()
    with pytest.raises(TransportError, match="no address for this name") as raised:
        await get(transport(), "http://nowhere.test/", egress=ledger)
    assert raised.value.fault == "unreachable"
    assert ledger.started_urls == []


async def test_a_failed_handshake_counts_as_sent_as_it_names_the_host() -> None:
    async def no_tls(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    ledger = Ledger()
    server = await asyncio.start_server(no_tls, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(TransportError, match="TLS") as raised:
            await get(transport(), f"https://ok.test:{port}/", egress=ledger)
    assert raised.value.fault == "unreachable"
    assert ledger.only.sent


async def test_a_cancelled_request_is_recorded_as_ended() -> None:
    arrived = asyncio.Event()

    async def silence(head: bytes, writer: asyncio.StreamWriter) -> None:
        arrived.set()
        await asyncio.sleep(60)

    ledger = Ledger()
    async with RawServer(silence) as server, asyncio.TaskGroup() as group:
        asking = get(transport(), f"http://ok.test:{server.port}/", egress=ledger)
        task = group.create_task(asking)
        await arrived.wait()
        task.cancel()
    assert (ledger.only.status, ledger.only.sent) == (None, True)


async def test_a_look_up_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    class Silent:
        async def resolve(self, host: str, port: int) -> Sequence[str]:
            await asyncio.sleep(60)
            return []

    monkeypatch.setattr("inglenook.web.http.LOOK_UP_TIMEOUT_S", 0.05)
    with pytest.raises(TransportError, match=r"not looked up in 0\.05 s") as raised:
        await get(transport(resolver=Silent()), "http://ok.test/")
    assert raised.value.fault == "unreachable"
