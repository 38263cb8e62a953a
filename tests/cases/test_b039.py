"""B039, the model's part: cancelling a run closes the socket to the model's server."""

import asyncio
from pathlib import Path

import aiohttp
import pytest

from inglenook.providers.base import ModelProvider
from inglenook.providers.ollama import OllamaProvider
from inglenook.providers.openai_chat import OpenAIChatProvider
from inglenook.providers.recovery import RecoveringProvider
from inglenook.providers.retry import RetryingProvider
from tests.providers.streaming import ollama_spec, openai_spec
from tests.scripted_replies import Raw
from tests.scripted_server import ScriptedServer
from tests.support import ask, bench

BEGUN = {
    "ollama": b'{"message":{"content":"Once upon"},"done":false}\n',
    "openai": b'data: {"choices":[{"index":0,"delta":{"content":"Once upon"}}]}\n\n',
}


@pytest.mark.parametrize("kind", ["ollama", "openai"])
@pytest.mark.parametrize("when", ["before the first byte", "in the middle"])
async def test_cancelled_run_hangs_up_on_the_model(
    tmp_path: Path, session: aiohttp.ClientSession, kind: str, when: str
) -> None:
    pieces = [BEGUN[kind]] if when == "in the middle" else []
    async with ScriptedServer([Raw(pieces=pieces, hang=True)]) as server:
        bare: ModelProvider = (
            OllamaProvider(session, ollama_spec(server.url))
            if kind == "ollama"
            else OpenAIChatProvider(session, openai_spec(server.openai_url))
        )
        provider = RecoveringProvider(RetryingProvider(bare))
        async with bench(tmp_path, provider) as b, asyncio.timeout(60):
            row = await b.service.start(ask())
            while not server.chats:
                await asyncio.sleep(0.01)
            assert not server.chats[0].ended.is_set()
            await b.service.cancel(row.id)
            await server.chats[0].ended.wait()
            assert server.chats[0].closed_early
            assert (await b.service.wait(row.id)).status == "cancelled"
    assert len(server.chats) == 1
