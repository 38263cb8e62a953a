"""B003: a call left in an unclosed thinking block runs, where it is complete and stands alone."""

import json
from pathlib import Path

import aiohttp
import pytest

from inglenook.events import ModelReplied, ToolFinished
from inglenook.providers.ollama import OllamaProvider
from inglenook.providers.recovery import RecoveringProvider
from inglenook.tools.calculator import CalculatorTool
from tests.providers.streaming import ollama_spec
from tests.scripted_replies import Reply
from tests.scripted_server import ScriptedServer
from tests.support import Bench, bench

CALL = (
    "<tool_call>\n<function=calculate>\n<parameter=expression>\n2+2\n</parameter>\n</function>\n"
    "</tool_call>"
)


async def events_of(b: Bench) -> tuple[ModelReplied, list[ToolFinished], str]:
    run = await b.run()
    events = await b.service.events(run["id"])
    replied = next(e for e in events if isinstance(e, ModelReplied))
    return replied, [e for e in events if isinstance(e, ToolFinished)], run["answer"]


@pytest.mark.parametrize(
    "reply",
    [
        Reply(thinking=f"I will look.\n{CALL}"),
        Reply(content=f"<think>I will look.\n{CALL}"),
    ],
    ids=["native thinking", "think tag"],
)
async def test_the_call_is_executed_and_its_origin_recorded(
    tmp_path: Path, session: aiohttp.ClientSession, reply: Reply
) -> None:
    async with ScriptedServer([reply, "It is 4."]) as server:
        provider = RecoveringProvider(OllamaProvider(session, ollama_spec(server.url)))
        async with bench(tmp_path, provider, tools=[CalculatorTool()]) as b:
            replied, finished, answer = await events_of(b)
    assert replied.recovered_from == "thinking"
    assert [(e.call.arguments, e.result) for e in finished] == [({"expression": "2+2"}, "4")]
    assert replied.reasoning is not None
    assert CALL in replied.reasoning.text, "the raw reply is kept"
    assert answer == "It is 4."


@pytest.mark.parametrize(
    "reply",
    [
        Reply(thinking=f"I could do this:\n{CALL}", content="It is 4."),
        Reply(thinking=CALL.replace("calculate", "run_command"), content="No."),
        Reply(thinking=CALL.split("\n2+2")[0], content="No."),
    ],
    ids=["there is an answer", "unknown tool", "incomplete"],
)
async def test_nothing_runs_otherwise(
    tmp_path: Path, session: aiohttp.ClientSession, reply: Reply
) -> None:
    async with ScriptedServer([reply]) as server:
        provider = RecoveringProvider(OllamaProvider(session, ollama_spec(server.url)))
        async with bench(tmp_path, provider, tools=[CalculatorTool()]) as b:
            replied, finished, answer = await events_of(b)
    assert (replied.recovered_from, finished) == (None, [])
    assert answer == reply.get("content")


async def test_recovered_call_goes_back_as_a_native_one(
    tmp_path: Path, session: aiohttp.ClientSession
) -> None:
    async with ScriptedServer([Reply(thinking=f"I look.\n{CALL}"), "It is 4."]) as server:
        provider = RecoveringProvider(OllamaProvider(session, ollama_spec(server.url)))
        async with bench(tmp_path, provider, tools=[CalculatorTool()]) as b:
            await b.run()
    asked, result = server.chats[1].body["messages"][-2:]
    assert asked["tool_calls"][0]["function"]["name"] == "calculate"
    assert asked["content"] == ""
    assert result == {"role": "tool", "content": "4", "tool_name": "calculate"}
    assert json.dumps(asked).count("tool_calls") == 1
