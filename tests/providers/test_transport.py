"""The connection to a model server: used again when whole, dropped when not, errors our own."""

import asyncio
import socket

import aiohttp
import pytest

from inglenook.errors import ConfigError, ModelMissing, ProviderBusy, ProviderError
from inglenook.providers import streamed_reply
from inglenook.providers.transport import ModelServer
from tests.scripted_replies import Failure, Raw
from tests.scripted_server import ScriptedServer

KEY = "sk-canary-8f2b"


def server_at(session: aiohttp.ClientSession, url: str, **options: object) -> ModelServer:
    return ModelServer(session, **{"base_url": url, "model": "m"} | options)  # pyright: ignore[reportArgumentType]


async def test_bytes_come_as_the_server_writes_them(session: aiohttp.ClientSession) -> None:
    async with ScriptedServer([Raw(pieces=[b"a", 0.02, b"b"])]) as scripted:
        reply = await server_at(session, scripted.url).open_stream("api/chat", b"{}")
        assert [await reply.read(), await reply.read(), await reply.read()] == [b"a", b"b", b""]
        reply.close()


async def test_finished_connection_is_used_again_and_a_closed_one_is_not(
    session: aiohttp.ClientSession,
) -> None:
    whole, unfinished = Raw(pieces=[b"a"]), Raw(pieces=[b"a"], hang=True)
    async with ScriptedServer([whole, whole, unfinished, whole]) as scripted:
        server = server_at(session, scripted.url)
        for ending in ("finish", "finish", "close", "finish"):
            reply = await server.open_stream("api/chat", b"{}")
            await reply.read()
            await reply.finish() if ending == "finish" else reply.close()
    peers = [seen.peer for seen in scripted.requests]
    assert peers[0] == peers[1] == peers[2]
    assert peers[3] != peers[2]


async def test_closing_is_noticed_by_the_server_at_once(session: aiohttp.ClientSession) -> None:
    async with ScriptedServer([Raw(pieces=[b"a"], hang=True)]) as scripted:
        reply = await server_at(session, scripted.url).open_stream("api/chat", b"{}")
        await reply.read()
        reply.close()
        async with asyncio.timeout(60):
            await scripted.requests[0].ended.wait()
        assert scripted.requests[0].closed_early


async def test_body_of_several_megabytes_arrives_whole_and_without_warning(
    session: aiohttp.ClientSession,
) -> None:
    body = b'{"text":"' + b"x" * 3_000_000 + b'"}'
    async with ScriptedServer([Raw(pieces=[b"a"])]) as scripted:
        reply = await server_at(session, scripted.url).open_stream("api/chat", body)
        await reply.finish()
    assert scripted.requests[0].raw == body
    assert scripted.requests[0].headers["content-length"] == str(len(body))


async def test_unreachable_server_is_named_with_the_next_action(
    session: aiohttp.ClientSession,
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: refused for sure
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(ProviderBusy, match="base_url") as caught:
            await server_at(session, url).open_stream("api/chat", b"{}")
    assert url in str(caught.value)


async def test_silent_server_is_given_up_after_the_idle_limit(
    session: aiohttp.ClientSession,
) -> None:
    async with ScriptedServer([Raw(pieces=[b"a"], hang=True)]) as scripted:
        server = server_at(session, scripted.url, idle_timeout_s=0.05)
        reply = await server.open_stream("api/chat", b"{}")
        assert await reply.read() == b"a"
        with pytest.raises(ProviderBusy, match=r"limit 0\.05 s"):
            await reply.read()
        reply.close()


async def test_connection_cut_in_the_body_is_busy(session: aiohttp.ClientSession) -> None:
    async with ScriptedServer([Raw(pieces=[b"a", 0.02], cut=True)]) as scripted:
        reply = await server_at(session, scripted.url).open_stream("api/chat", b"{}")
        assert await reply.read() == b"a"
        with pytest.raises(ProviderBusy, match="lost"):
            await reply.read()
        reply.close()


async def test_endless_reply_is_stopped(
    session: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streamed_reply, "MAX_REPLY_BYTES", 5)
    async with ScriptedServer([Raw(pieces=[b"aaaa", 0.02, b"bb"])]) as scripted:
        reply = await server_at(session, scripted.url).open_stream("api/chat", b"{}")
        assert await reply.read() == b"aaaa"
        with pytest.raises(ProviderError, match="more than 5 bytes"):
            await reply.read()
        reply.close()


async def test_redirect_is_not_followed(session: aiohttp.ClientSession) -> None:
    away = Failure(status=307, headers={"Location": "http://192.0.2.1/steal"})
    async with ScriptedServer([away]) as scripted:
        server = server_at(session, scripted.url, api_key=KEY)
        with pytest.raises(ProviderError, match="HTTP 307"):
            await server.open_stream("api/chat", b"{}")
    assert len(scripted.requests) == 1


async def test_key_goes_into_the_header_and_never_into_an_error(
    session: aiohttp.ClientSession,
) -> None:
    echo = Failure(status=401, body={"error": {"message": f"Incorrect API key: {KEY}."}})
    async with ScriptedServer([echo]) as scripted:
        server = server_at(session, scripted.url, api_key=KEY)
        with pytest.raises(ProviderError) as caught:
            await server.open_stream("api/chat", b"{}")
    assert scripted.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in str(caught.value)
    assert KEY not in repr(caught.value)


async def test_credentials_in_the_address_are_sent_and_not_shown(
    session: aiohttp.ClientSession,
) -> None:
    async with ScriptedServer([Failure(status=503)]) as scripted:
        url = scripted.url.replace("//", "//anna:geheim@")
        server = server_at(session, url)
        with pytest.raises(ProviderBusy) as caught:
            await server.open_stream("api/chat", b"{}")
    assert scripted.requests[0].headers["authorization"] == "Basic YW5uYTpnZWhlaW0="
    assert "geheim" not in str(caught.value) + server.address


@pytest.mark.parametrize("url", ["127.0.0.1:11434", "ftp://127.0.0.1", "nonsense", ""])
async def test_address_that_is_none_is_an_error_about_base_url(
    session: aiohttp.ClientSession, url: str
) -> None:
    with pytest.raises(ProviderError, match="base_url"):
        await server_at(session, url).open_stream("api/chat", b"{}")


@pytest.mark.parametrize("key", ["sk-canary\nX-Other: 1", "sk-canary-ü", "sk-canary\x00"])
def test_key_that_no_header_holds_is_a_configuration_error_without_it(key: str) -> None:
    with pytest.raises(ConfigError, match="key of model 'm'") as caught:
        ModelServer(None, base_url="http://host/v1", model="m", api_key=key)  # pyright: ignore[reportArgumentType]
    assert "canary" not in str(caught.value)


def test_address_that_cannot_be_read_is_a_configuration_error() -> None:
    with pytest.raises(ConfigError, match="base_url"):
        ModelServer(None, base_url="http://host:99999999/v1", model="m")  # pyright: ignore[reportArgumentType]


async def test_questions_are_answered_or_refused_in_kind(session: aiohttp.ClientSession) -> None:
    async with ScriptedServer(models={"m": {}}) as scripted:
        server = server_at(session, scripted.url, model_hint="Pull it.")
        assert (await server.ask("api/version"))["version"] == "0.0.0-scripted"
        with pytest.raises(ModelMissing, match=r"Pull it\."):
            await server.ask("api/show", {"model": "other"})


@pytest.mark.parametrize("body", [b"<html>", b"[1]", b""])
async def test_answer_that_is_no_object_is_an_error(
    session: aiohttp.ClientSession, body: bytes
) -> None:
    async with ScriptedServer([Raw(pieces=[body], content_type="text/html")]) as scripted:
        with pytest.raises(ProviderError, match="no JSON object"):
            await server_at(session, scripted.url).ask("api/chat", {})


async def test_environment_proxy_is_not_used(
    session: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://192.0.2.1:3128")
    monkeypatch.setenv("http_proxy", "http://192.0.2.1:3128")
    async with ScriptedServer() as scripted:
        assert await server_at(session, scripted.url).ask("api/tags")


async def test_a_query_in_the_address_goes_with_every_request_and_is_never_shown(
    session: aiohttp.ClientSession,
) -> None:
    """Gateways take a version or a key there."""
    failure = Failure(status=400, body=f"bad key {KEY}")
    async with ScriptedServer([failure]) as scripted:
        server = server_at(session, f"{scripted.url}/v1?api-version=1&key={KEY}")
        with pytest.raises(ProviderError) as error:
            await server.open_stream("chat/completions", b"{}")
    assert KEY not in str(error.value)
    assert KEY not in server.address
    assert scripted.requests[0].query == {"api-version": "1", "key": KEY}
