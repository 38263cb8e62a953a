"""B019: the tools are in every request of a run, byte for byte the same."""

import re
from pathlib import Path

import aiohttp
import pytest

from inglenook.providers.base import ModelProvider
from inglenook.providers.ollama import OllamaProvider
from inglenook.providers.openai_chat import OpenAIChatProvider
from inglenook.tools.calculator import CalculatorTool
from tests.providers.streaming import ollama_spec, openai_spec
from tests.scripted_replies import ScriptEntry, calls
from tests.scripted_server import ScriptedServer
from tests.support import EchoTool, bench


@pytest.mark.parametrize("kind", ["ollama", "openai"])
async def test_tools_are_identical_in_all_requests(
    tmp_path: Path, session: aiohttp.ClientSession, kind: str
) -> None:
    script: list[ScriptEntry] = [
        calls(("calculate", {"expression": "2+2"})),
        calls(("echo", {"text": "x"})),
        "It is 4.",
    ]
    async with ScriptedServer(script) as server:
        provider: ModelProvider = (
            OllamaProvider(session, ollama_spec(server.url))
            if kind == "ollama"
            else OpenAIChatProvider(session, openai_spec(server.openai_url))
        )
        async with bench(tmp_path, provider, tools=[CalculatorTool(), EchoTool()]) as b:
            assert (await b.run())["answer"] == "It is 4."
    sent = [re.search(rb'"tools":(\[.*\]),"messages"', seen.raw) for seen in server.chats]
    tools = [found[1] for found in sent if found]
    assert len(tools) == 3
    assert len(set(tools)) == 1
    names = [tool["function"]["name"] for tool in server.chats[0].body["tools"]]
    assert {"calculate", "echo"} <= set(names)
