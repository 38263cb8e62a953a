"""B025: a fixed part that does not fit is said so, with both numbers, and no call is wasted."""

from pathlib import Path

import aiohttp
import pytest

from inglenook.messages import Message
from inglenook.providers.base import ModelSpec
from inglenook.providers.ollama import OllamaProvider
from tests.scripted_server import ScriptedServer
from tests.support import EchoTool, ask, bench

RULES = "Mind the house rules: shoes off, lights out, doors shut, and speak softly. " * 60


@pytest.mark.parametrize(
    ("system", "question"),
    [(RULES, "hello"), ("", "hello " * 4_000), (RULES[:2_000], "hello " * 400)],
    ids=["instructions", "question", "both"],
)
async def test_what_can_never_fit_ends_before_any_call(
    system: str, question: str, tmp_path: Path, session: aiohttp.ClientSession
) -> None:
    async with ScriptedServer() as server:
        spec = ModelSpec(
            id="m", provider="ollama", model="m", base_url=server.url, context_tokens=1_024
        )
        async with bench(tmp_path, OllamaProvider(session, spec), spec=spec) as b:
            posted = (Message(role="system", text=system), Message(role="user", text=question))
            run = await b.run(ask().model_copy(update={"messages": posted}))
            assert await b.replay(run["id"]) == ""
    assert (run["status"], run["reason"]) == ("incomplete", "context_too_small")
    assert "1024 tokens" in run["explanation"]
    assert run["usage"]["input_tokens"] == 0
    assert server.chats == []


async def test_tools_count_as_well(tmp_path: Path, session: aiohttp.ClientSession) -> None:
    tools = [EchoTool(f"a_tool_with_a_rather_long_name_{n}") for n in range(30)]
    async with ScriptedServer() as server:
        spec = ModelSpec(
            id="m", provider="ollama", model="m", base_url=server.url, context_tokens=1_024
        )
        async with bench(tmp_path, OllamaProvider(session, spec), spec=spec, tools=tools) as b:
            run = await b.run()
    assert run["reason"] == "context_too_small"
    assert server.chats == []
