"""Hostile and broken answers: bounded in time and size, each with its typed failure."""

import asyncio
import gzip
import zlib
from collections.abc import Callable, Sequence
from ipaddress import ip_address

import pytest

from inglenook.egress import OutgoingRequest
from inglenook.web.addresses import AddressPolicy
from inglenook.web.base import TransportError
from inglenook.web.exchange import MAX_HEADERS, Exchange, Route
from inglenook.web.http import HttpTransport
from inglenook.web.urls import parse_url
from tests.web.wire import Handler, Ledger, Names, RawServer, answer, get, recorded_dials


def _gzip(data: bytes) -> bytes:
    """Without a time, as the bytes stand in the names of tests."""
    return gzip.compress(data, mtime=0)


def transport() -> HttpTransport:
    return HttpTransport(
        AddressPolicy(allow_private=True), resolver=Names({"ok.test": ["127.0.0.1"]})
    )


async def failure(server: RawServer, **options: float) -> TransportError:
    ledger = Ledger()
    with pytest.raises(TransportError) as raised:
        await get(
            transport(),
            f"http://ok.test:{server.port}/",
            egress=ledger,
            timeout_s=options.get("timeout_s", 20.0),
            max_bytes=int(options.get("max_bytes", 1_000_000)),
        )
    assert "ok.test" in str(raised.value)
    assert ledger.only.sent
    return raised.value


def _nested(times: int, data: bytes) -> bytes:
    for _ in range(times):
        data = _gzip(data)
    return data


def _deflated(data: bytes, wbits: int) -> bytes:
    deflate = zlib.compressobj(wbits=wbits)
    return deflate.compress(data) + deflate.flush()


@pytest.mark.parametrize("host", ["127.0.0.1", "ok.test"])
async def test_an_address_that_was_not_judged_is_not_dialled(host: str) -> None:
    async with RawServer(answer("200 OK")) as server:
        url = parse_url(f"http://{host}:{server.port}/")
        exchange = Exchange(
            OutgoingRequest(method="GET", url=url.url),
            url,
            Route(host="other.test", addresses=[ip_address("127.0.0.2")]),
            timeout_s=20,
            max_bytes=1_000,
        )
        with recorded_dials() as dials, pytest.raises(TransportError):
            await exchange.run({})
    assert dials == []
    assert not exchange.may_have_left


ZEROS = bytes(5_000_000)


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", _gzip(ZEROS)),
        ("deflate", _deflated(ZEROS, 15)),
        ("deflate", _deflated(ZEROS, -15)),
        ("gzip, gzip", _nested(2, ZEROS)),
        ("gzip, deflate", _deflated(_gzip(ZEROS), 15)),
        ("gzip", _gzip(b"") * 500 + _gzip(ZEROS)),
        ("", ZEROS),
    ],
    ids=["gzip", "deflate", "bare deflate", "nested", "mixed", "members", "plain"],
)
async def test_a_body_over_the_limit_is_stopped(encoding: str, body: bytes) -> None:
    headers = [f"Content-Encoding: {encoding}"] if encoding else []
    async with RawServer(answer("200 OK", body, *headers)) as server:
        error = await failure(server)
    assert error.fault == "too_large"
    assert "1,000,000" in str(error)


async def test_an_endless_body_is_stopped_at_the_limit() -> None:
    async def endless(head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b"x" * 65536)
            await writer.drain()

    async with RawServer(endless) as server:
        assert (await failure(server)).fault == "too_large"


async def test_an_announced_length_over_the_limit_is_not_waited_for() -> None:
    async def announces(head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n")
        await asyncio.sleep(60)

    async with RawServer(announces) as server:
        assert (await failure(server)).fault == "too_large"


Encode = Callable[[bytes], bytes]


def _zlib(data: bytes) -> bytes:
    return _deflated(data, 15)


def _bare(data: bytes) -> bytes:
    return _deflated(data, -15)


def _twice(data: bytes) -> bytes:
    return _gzip(_zlib(data))


def _members(data: bytes) -> bytes:
    return _gzip(data[:7]) + _gzip(data[7:])


def _padded(data: bytes) -> bytes:
    return _gzip(data) + bytes(3)


@pytest.mark.parametrize(
    ("encoding", "encode"),
    [
        ("gzip", gzip.compress),
        ("x-gzip", gzip.compress),
        ("GZIP", gzip.compress),
        ("deflate", _zlib),
        ("deflate", _bare),
        ("identity", bytes),
        ("deflate, gzip", _twice),
        ("gzip", _members),
        ("gzip", _padded),
    ],
)
@pytest.mark.parametrize("step", [1, 1000])
async def test_compressed_bodies_are_read_whole_however_they_come(
    encoding: str, encode: Encode, step: int
) -> None:
    text = b"the text of the page"
    data = encode(text)

    async def slowly(head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(answer("200 OK", data, f"Content-Encoding: {encoding}")[: -len(data)])
        for start in range(0, len(data), step):
            writer.write(data[start : start + step])
            await writer.drain()
            await asyncio.sleep(0)

    async with RawServer(slowly) as server:
        assert (await get(transport(), f"http://ok.test:{server.port}/")).body == text


@pytest.mark.parametrize(
    ("encodings", "body", "reason"),
    [
        (["gzip, gzip, gzip"], _nested(3, b"x"), "3 times over, the limit is 2"),
        (["gzip"] * 60, b"x", "60 times over"),
        (["br"], b"x", "'br', asked for was gzip, deflate"),
        (["zstd, gzip"], b"x", "'zstd'"),
        (["gzip"], b"no gzip", "is not gzip"),
        (["deflate"], b"no deflate", "is not deflate"),
        (["gzip"], _gzip(b"text" * 99)[:-9], "in the middle"),
        (["gzip"], b"\x1f", "in the middle"),
        (["gzip"], _gzip(b"") * 1_001, "over 1000 compressed parts"),
    ],
)
async def test_encodings_that_cannot_be_undone_are_named(
    encodings: Sequence[str], body: bytes, reason: str
) -> None:
    headers = [f"Content-Encoding: {each}" for each in encodings]
    async with RawServer(answer("200 OK", body, *headers)) as server:
        error = await failure(server)
    assert error.fault == "not_readable"
    assert reason in str(error)


HEAD = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (HEAD + b"Content-Length: 20\r\n\r\nshort", "broke off"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", "broke off"),
        (b"", "broke off"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", "no HTTP answer"),
        (HEAD + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\nhi!", "no HTTP answer"),
        (HEAD + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "no HTTP"),
        (HEAD + b"Content-Length: -2\r\n\r\nhi", "no HTTP answer"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "no HTTP answer"),
        (HEAD + b"A: " + b"x" * 100_000 + b"\r\n\r\n", "beyond every measure"),
        (HEAD + b"A: x\r\n" * (MAX_HEADERS + 100) + b"\r\n", "beyond every measure"),
        (b"HTTP/1.1 200 " + b"x" * 100_000 + b"\r\n\r\n", "beyond every measure"),
    ],
)
async def test_a_broken_answer_is_unreachable_with_its_reason(raw: bytes, reason: str) -> None:
    async with RawServer(raw) as server:
        error = await failure(server)
    assert error.fault == "unreachable"
    assert reason in str(error)


async def _head_bytewise(head: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(HEAD + b"A: ")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.01)


async def _body_bytewise(head: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(HEAD + b"\r\n")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.01)


async def _headers_for_ever(head: bytes, writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        await writer.drain()
        await asyncio.sleep(0.01)


async def _nothing(head: bytes, writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(60)


@pytest.mark.parametrize("handler", [_head_bytewise, _body_bytewise, _headers_for_ever, _nothing])
async def test_a_slow_answer_ends_at_the_deadline(handler: Handler) -> None:
    async with RawServer(handler) as server:
        error = await failure(server, timeout_s=0.2)
    assert error.fault == "unreachable"
    assert "0.2 s" in str(error)
