"""B009: two chunks with a finish reason: each call runs once and the usage is recorded."""

import json
from pathlib import Path

import aiohttp
import pytest

from inglenook.events import ModelReplied, ToolFinished, ToolStarted
from inglenook.messages import Usage
from inglenook.providers.openai_chat import OpenAIChatProvider
from inglenook.tools.calculator import CalculatorTool
from tests.providers.streaming import openai_spec
from tests.scripted_replies import Raw
from tests.scripted_server import ScriptedServer
from tests.support import bench

FUNCTION = {"name": "calculate", "arguments": '{"expression": "2+2"}'}
CALL = {"index": 0, "id": "c1", "type": "function", "function": FUNCTION}
USAGE = {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16}


def chunk(delta: dict[str, object], finish: str | None, **more: object) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({"choices": [choice], **more}).encode() + b"\n\n"


@pytest.mark.parametrize(
    "second",
    [
        chunk({}, "tool_calls", usage=USAGE),
        chunk({"tool_calls": [CALL]}, "tool_calls", usage=USAGE),
    ],
    ids=["usage only", "the call once more"],
)
async def test_each_call_runs_once(
    tmp_path: Path, session: aiohttp.ClientSession, second: bytes
) -> None:
    pieces = [chunk({"tool_calls": [CALL]}, None), chunk({}, "tool_calls"), second]
    script = [Raw(pieces=[*pieces, b"data: [DONE]\n\n"]), "It is 4."]
    async with ScriptedServer(script) as server:
        provider = OpenAIChatProvider(session, openai_spec(server.openai_url))
        async with bench(tmp_path, provider, tools=[CalculatorTool()]) as b:
            run = await b.run()
            events = await b.service.events(run["id"])
    assert run["answer"] == "It is 4."
    assert [e.call.id for e in events if isinstance(e, ToolStarted)] == ["c1"]
    assert [e.result for e in events if isinstance(e, ToolFinished)] == ["4"]
    replied = next(e for e in events if isinstance(e, ModelReplied))
    assert replied.usage == Usage(input_tokens=11, output_tokens=5)
    assert replied.finish_reason == "tool_calls"
