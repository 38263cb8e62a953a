"""A9: a result goes back as {"role": "tool", "tool_name": …, "content": …}."""

from pathlib import Path

import aiohttp

from inglenook.providers.ollama import OllamaProvider
from inglenook.tools.calculator import CalculatorTool
from tests.providers.streaming import ollama_spec
from tests.scripted_replies import calls
from tests.scripted_server import ScriptedServer
from tests.support import bench


async def test_results_follow_their_calls_in_order_and_shape(
    tmp_path: Path, session: aiohttp.ClientSession
) -> None:
    asked = calls(("calculate", {"expression": "2+2"}), ("calculate", {"expression": "import os"}))
    async with ScriptedServer([asked, "It is 4."]) as server:
        provider = OllamaProvider(session, ollama_spec(server.url))
        async with bench(tmp_path, provider, tools=[CalculatorTool()]) as b:
            await b.run()
    message, first, second = server.chats[1].body["messages"][-3:]
    assert message["role"] == "assistant"
    assert len(message["tool_calls"]) == 2
    assert first == {"role": "tool", "tool_name": "calculate", "content": "4"}
    assert set(second) == {"role", "tool_name", "content"}
    assert (second["role"], second["tool_name"]) == ("tool", "calculate")
    assert second["content"], "a failed call has a result, too"
