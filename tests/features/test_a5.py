"""A5: the model is called through Ollama's native `/api/chat`, and the loop is ours.

Streamed where the original had `stream: false`; why is in the architecture decisions.
"""

from pathlib import Path

import aiohttp

from inglenook.providers.ollama import OllamaProvider
from inglenook.tools.calculator import CalculatorTool
from tests.providers.streaming import ollama_spec
from tests.scripted_replies import calls
from tests.scripted_server import ScriptedServer
from tests.support import bench


async def test_each_step_is_one_native_chat_request(
    tmp_path: Path, session: aiohttp.ClientSession
) -> None:
    script = [calls(("calculate", {"expression": "17*23"})), "391."]
    async with ScriptedServer(script) as server:
        provider = OllamaProvider(session, ollama_spec(server.url, model="qwen3"))
        async with bench(tmp_path, provider, tools=[CalculatorTool()]) as b:
            run = await b.run()
    assert run["answer"] == "391."
    assert [(seen.method, seen.path) for seen in server.requests] == [("POST", "/api/chat")] * 2
    for seen in server.requests:
        assert set(seen.body) == {"model", "messages", "tools", "stream", "options"}
        assert seen.body["model"] == "qwen3"
        assert seen.body["stream"] is True
        assert seen.body["tools"]
