"""B001: arguments go back as an object to Ollama and as a string to OpenAI, from one event."""

import json
from pathlib import Path

import aiohttp
import pytest

from inglenook.events import ModelReplied, decode, encode
from inglenook.messages import Message
from inglenook.providers.base import ModelProvider
from inglenook.providers.ollama import OllamaProvider
from inglenook.providers.openai_chat import OpenAIChatProvider
from inglenook.tools.calculator import CalculatorTool
from tests.providers.streaming import QUESTION, ollama_spec, openai_spec, streamed
from tests.scripted_replies import calls
from tests.scripted_server import ScriptedServer
from tests.support import bench

SCRIPT = [calls(("calculate", {"expression": "2+2"})), "It is 4."]


@pytest.mark.parametrize("kind", ["ollama", "openai"])
async def test_second_request_holds_the_call_in_the_servers_own_form(
    tmp_path: Path, session: aiohttp.ClientSession, kind: str
) -> None:
    async with ScriptedServer(SCRIPT) as server:
        provider: ModelProvider = (
            OllamaProvider(session, ollama_spec(server.url))
            if kind == "ollama"
            else OpenAIChatProvider(session, openai_spec(server.openai_url))
        )
        async with bench(tmp_path, provider, tools=[CalculatorTool()]) as b:
            run = await b.run()
    assert run["answer"] == "It is 4."
    messages = server.chats[1].body["messages"]
    call = next(m["tool_calls"][0] for m in messages if m.get("tool_calls"))
    expected = {"expression": "2+2"}
    if kind == "ollama":
        assert call["function"]["arguments"] == expected
    else:
        assert isinstance(call["function"]["arguments"], str)
        assert json.loads(call["function"]["arguments"]) == expected
        result = next(m for m in messages if m["role"] == "tool")
        assert result["tool_call_id"] == call["id"]


async def test_one_stored_event_feeds_both(session: aiohttp.ClientSession) -> None:
    async with ScriptedServer([SCRIPT[0], "a", "b"]) as server:
        ollama = OllamaProvider(session, ollama_spec(server.url))
        openai = OpenAIChatProvider(session, openai_spec(server.openai_url))
        first = (await streamed(ollama)).reply
        stored = decode(encode(ModelReplied(step=1, ordinal=0, message=first.message)))
        assert isinstance(stored, ModelReplied)
        call = stored.message.tool_calls[0]
        result = Message(role="tool", text="4", call_id=call.id, tool_name=call.name)
        history = (*QUESTION, stored.message, result)
        await streamed(ollama, history)
        await streamed(openai, history)
    _, to_ollama, to_openai = (seen.body["messages"] for seen in server.chats)
    assert to_ollama[2]["tool_calls"][0]["function"]["arguments"] == {"expression": "2+2"}
    assert to_openai[2]["tool_calls"][0]["function"]["arguments"] == '{"expression":"2+2"}'
