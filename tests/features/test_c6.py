"""C6: thinking goes back with the tool results where the server wants it, and is never output."""

from pathlib import Path

import aiohttp
import pytest

from inglenook.events import ModelReplied, ReasoningDelta
from inglenook.providers.base import ModelProvider
from inglenook.providers.ollama import OllamaProvider
from inglenook.providers.openai_chat import OpenAIChatProvider
from inglenook.providers.recovery import RecoveringProvider
from inglenook.tools.calculator import CalculatorTool
from tests.providers.streaming import ollama_spec, openai_spec, streamed
from tests.scripted_replies import calls
from tests.scripted_server import ScriptedServer
from tests.support import bench

THOUGHT = "Hidden: two and two."
ASKED = calls(("calculate", {"expression": "2+2"}), thinking=THOUGHT)
ANSWER = {"content": "It is 4.", "thinking": THOUGHT}


def provider_for(
    kind: str, session: aiohttp.ClientSession, server: ScriptedServer
) -> RecoveringProvider:
    inner: ModelProvider = (
        OllamaProvider(session, ollama_spec(server.url))
        if kind == "ollama"
        else OpenAIChatProvider(session, openai_spec(server.openai_url))
    )
    return RecoveringProvider(inner)


@pytest.mark.parametrize(
    ("kind", "field"), [("ollama", "thinking"), ("openai", "reasoning_content")]
)
async def test_thinking_survives_the_tool_turn_and_is_not_published(
    tmp_path: Path, session: aiohttp.ClientSession, kind: str, field: str
) -> None:
    async with ScriptedServer([ASKED, ANSWER]) as server:  # pyright: ignore[reportArgumentType]
        provider = provider_for(kind, session, server)
        async with bench(tmp_path, provider, tools=[CalculatorTool()]) as b:
            run = await b.run()
            events = await b.service.events(run["id"])
    asked, result = server.chats[1].body["messages"][-2:]
    assert asked[field] == THOUGHT
    assert result["role"] == "tool"
    assert run["answer"] == "It is 4."
    assert "Hidden" not in str(run["answer"])
    replies = [e for e in events if isinstance(e, ModelReplied)]
    assert [e.reasoning.text if e.reasoning else "" for e in replies] == [THOUGHT, THOUGHT]
    assert all("Hidden" not in e.message.text for e in replies)
    assert all(e.message.reasoning is None for e in replies)


@pytest.mark.parametrize("kind", ["ollama", "openai"])
@pytest.mark.parametrize("text", ["It is 4.", "<think>Hidden: tags.</think>It is 4."])
async def test_thinking_is_live_only_as_reasoning(
    session: aiohttp.ClientSession, kind: str, text: str
) -> None:
    async with ScriptedServer([{"content": text, "thinking": THOUGHT}]) as server:
        got = await streamed(provider_for(kind, session, server))
    assert got.text == got.reply.message.text == "It is 4."
    assert THOUGHT in got.reasoning
    hidden = [delta for delta in got.deltas if "Hidden" in delta.text]
    assert hidden
    assert all(isinstance(delta, ReasoningDelta) for delta in hidden)
