"""Questions to knowledge services on other machines are told before they leave."""

import socket

import aiohttp
import pytest

from inglenook.knowledge.embed_http import OllamaEmbedder
from inglenook.knowledge.http_json import Unreachable, ask
from tests.providers.test_leaving import Ledger, at_other_name, elsewhere
from tests.scripted_server import ScriptedServer


async def test_a_question_is_told_whole_and_without_the_password() -> None:
    ledger = Ledger()
    async with ScriptedServer([]) as scripted, elsewhere() as session:
        url = at_other_name(scripted.url).replace("http://", "http://u:sk-canary@") + "/v1/models"
        answer = await ask(session, "GET", url, egress=ledger)
    assert answer.status == 200
    [request] = ledger.started_
    assert (request.method, request.host, request.path) == ("GET", "models.test", "/v1/models")
    assert "sk-canary" not in request.url
    assert ledger.ends == [(1, 200, True)]


async def test_a_service_on_this_machine_is_not_told(session: aiohttp.ClientSession) -> None:
    ledger = Ledger()
    async with ScriptedServer([]) as scripted:
        await ask(session, "GET", f"{scripted.url}/v1/models", egress=ledger)
    assert ledger.started_ == []


async def test_nobody_there_is_told_as_not_sent() -> None:
    ledger = Ledger()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens
        url = f"http://models.test:{taken.getsockname()[1]}/"
        async with elsewhere() as session:
            with pytest.raises(Unreachable):
                await ask(session, "GET", url, egress=ledger)
    assert ledger.ends == [(1, None, False)]


async def test_the_query_that_is_embedded_elsewhere_is_told() -> None:
    ledger = Ledger()
    async with ScriptedServer([]) as scripted, elsewhere() as session:
        embedder = OllamaEmbedder(session, base_url=at_other_name(scripted.url), model="m")
        with pytest.raises(Exception, match="embedding server"):
            await embedder.embed_query("what is our margin?", ledger)
    assert b"what is our margin?" in ledger.started_[0].body
