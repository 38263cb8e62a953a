"""B41, as far as providers go: replies are hardened before anything sees them.

Here in whole runs; format by format in tests/providers/test_call_text.py and test_recovery.py.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from inglenook.errors import ProviderBusy
from inglenook.events import ModelReplied, ToolFinished
from inglenook.messages import Reasoning
from inglenook.providers.openai_chat import OpenAIChatProvider
from inglenook.providers.recovery import RecoveringProvider
from inglenook.providers.retry import RetryingProvider
from inglenook.tools.calculator import CalculatorTool
from tests.providers.streaming import openai_spec, streamed
from tests.scripted_replies import Raw, Reply, ScriptEntry, calls
from tests.scripted_server import ScriptedServer
from tests.support import Bench, bench

CALL = '{"name": "calculate", "arguments": {"expression": "2+2"}}'


def hardened(session: aiohttp.ClientSession, server: ScriptedServer) -> RetryingProvider:
    inner = OpenAIChatProvider(session, openai_spec(server.openai_url))
    return RetryingProvider(RecoveringProvider(inner), first_wait_s=0.01)


@asynccontextmanager
async def hardened_bench(
    home: Path, session: aiohttp.ClientSession, *script: ScriptEntry
) -> AsyncGenerator[tuple[Bench, ScriptedServer], None]:
    async with (
        ScriptedServer(script) as server,
        bench(home, hardened(session, server), tools=[CalculatorTool()]) as b,
    ):
        yield b, server


@pytest.mark.parametrize(
    "text",
    [
        f"Calling tools:\n[{CALL}]",
        f"Action:\n{CALL}",
        f"[{CALL}]",
        "{'name': 'calculate', 'arguments': {'expression': '2+2'}}",
        '{"type": "function", "function": {"name":"calculate","arguments":{"expression":"2+2"}}}',
        f"<tool_call>{CALL}</tool_call><|im_end|>",
        f"<think>I add.</think>```json\n{CALL}\n```",
    ],
)
async def test_call_written_as_text_runs_and_is_not_the_answer(
    tmp_path: Path, session: aiohttp.ClientSession, text: str
) -> None:
    async with hardened_bench(tmp_path, session, text, "It is 4.") as (b, _):
        run = await b.run()
        events = await b.service.events(run["id"])
    assert run["answer"] == "It is 4."
    assert [e.result for e in events if isinstance(e, ToolFinished)] == ["4"]
    replied = next(e for e in events if isinstance(e, ModelReplied))
    assert replied.recovered_from == "content"
    assert replied.message.text == ""
    assert "calculate" in replied.repairs[0], "what the model wrote is kept"


async def test_answer_that_shows_a_call_stays_an_answer(
    tmp_path: Path, session: aiohttp.ClientSession
) -> None:
    text = f"A call looks like this:\n```json\n{CALL}\n```"
    async with hardened_bench(tmp_path, session, text) as (b, _):
        run = await b.run()
    assert run["answer"] == text


@pytest.mark.parametrize(
    "text", ["<think>\nhm\n</think>\n\nIt is 4.<|im_end|>", "hm, secret</think>It is 4."]
)
async def test_leaked_tokens_and_think_tags_are_not_in_the_answer(
    tmp_path: Path, session: aiohttp.ClientSession, text: str
) -> None:
    async with hardened_bench(tmp_path, session, text) as (b, _):
        run = await b.run()
    assert run["answer"] == "It is 4."


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning", "thinking", "thought"])
async def test_reasoning_fields_are_kept_and_sent_back_with_the_calls(
    tmp_path: Path, session: aiohttp.ClientSession, name: str
) -> None:
    asked = calls(("calculate", {"expression": "2+2"}), thinking="I add.")
    asked["reasoning_field"] = name
    async with hardened_bench(tmp_path, session, asked, "It is 4.") as (b, server):
        await b.run()
    sent = next(m for m in server.chats[1].body["messages"] if m.get("tool_calls"))
    assert sent[name] == "I add."


async def test_reasoning_details_go_back_unchanged(session: aiohttp.ClientSession) -> None:
    details = b'[{"type":"reasoning.encrypted","data":"zz","index":0}]'
    chunk = b'data: {"choices":[{"index":0,"delta":{"reasoning_details":' + details
    end = b'},"finish_reason":"stop"}]}\n\n'
    async with ScriptedServer([Raw(pieces=[chunk + end])]) as server:
        message = (await streamed(hardened(session, server))).reply.message
    assert message.reasoning == Reasoning(
        details=({"type": "reasoning.encrypted", "data": "zz", "index": 0},)
    )


async def test_lost_connection_is_tried_once_more_on_a_fresh_one(
    tmp_path: Path, session: aiohttp.ClientSession
) -> None:
    script: list[ScriptEntry] = ["warm up", Raw(pieces=[], cut=True), "It is 4."]
    async with ScriptedServer(script) as server:
        provider = hardened(session, server)
        await streamed(provider)
        async with bench(tmp_path, provider) as b:
            run = await b.run()
    assert run["answer"] == "It is 4."
    assert server.chats[2].peer != server.chats[1].peer


async def test_reply_that_was_begun_is_not_asked_for_again(session: aiohttp.ClientSession) -> None:
    begun = b'data: {"choices":[{"index":0,"delta":{"content":"It is"}}]}\n\n'
    async with ScriptedServer([Raw(pieces=[begun, 0.02], cut=True), "never"]) as server:
        with pytest.raises(ProviderBusy):
            await streamed(hardened(session, server))
    assert len(server.chats) == 1


@pytest.mark.parametrize(
    ("finish", "explained"),
    [
        ("length", "used up its output tokens or its context before it said anything"),
        ("content_filter", "The server's content filter withheld the reply"),
        ("stop", "answered with nothing"),
    ],
)
async def test_empty_answer_is_explained_by_how_the_reply_ended(
    tmp_path: Path, session: aiohttp.ClientSession, finish: str, explained: str
) -> None:
    nothing = Reply(content="", thinking="hm", finish=finish)
    async with hardened_bench(tmp_path, session, nothing, nothing) as (b, _):
        run = await b.run()
    assert (run["status"], run["reason"]) == ("incomplete", "empty_model_reply")
    assert explained in run["explanation"]


async def test_answer_that_a_filter_ended_says_so(
    tmp_path: Path, session: aiohttp.ClientSession
) -> None:
    reply = Reply(content="It", finish="content_filter")
    async with hardened_bench(tmp_path, session, reply) as (b, _):
        run = await b.run()
    assert "content filter" in run["explanation"]


@pytest.mark.parametrize("name", ["calculate<|channel|>commentary", "calculate<|end|>"])
async def test_a_token_that_leaked_into_a_name_is_left_out(
    tmp_path: Path, session: aiohttp.ClientSession, name: str
) -> None:
    call = calls((name, {"expression": "2+2"}))
    async with hardened_bench(tmp_path, session, call, "It is 4.") as (b, _):
        run = await b.run()
        events = await b.service.events(run["id"])
    assert [e.result for e in events if isinstance(e, ToolFinished)] == ["4"]


async def test_answer_that_was_cut_off_says_so(
    tmp_path: Path, session: aiohttp.ClientSession
) -> None:
    async with hardened_bench(tmp_path, session, Reply(content="It", finish="length")) as (b, _):
        run = await b.run()
        events = await b.service.events(run["id"])
    assert (run["status"], run["reason"]) == ("incomplete", "context_truncated")
    assert run["answer"] == "It", "what there is stays"
    assert run["explanation"].startswith("The answer was cut off at the model's output limit.")
    replied = next(e for e in events if isinstance(e, ModelReplied))
    assert replied.repairs == ("The answer was cut off at the model's output limit.",)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ('<tool_call>{"name":"rm_rf","arguments":{"path":"/"}}</tool_call>', "no tool 'rm_rf'"),
        ('web_search(query="secret")', "'web_search' does not exist"),
        ('Action: web_search\nAction Input: {"query": "secret"}', "'web_search' does not exist"),
    ],
)
async def test_call_that_cannot_run_is_refused_and_never_the_answer(
    tmp_path: Path, session: aiohttp.ClientSession, text: str, result: str
) -> None:
    async with hardened_bench(tmp_path, session, text, "It is 4.") as (b, server):
        run = await b.run()
        events = await b.service.events(run["id"])
    assert (run["status"], run["answer"]) == ("complete", "It is 4.")
    (finished,) = (e for e in events if isinstance(e, ToolFinished))
    assert (finished.is_error, finished.network) == (True, False)
    assert finished.blocked
    assert result in finished.result
    told = [m["content"] for m in server.chats[1].body["messages"] if m["role"] == "tool"]
    assert result in told[0]


async def test_call_that_cannot_be_read_is_asked_for_once_more(
    tmp_path: Path, session: aiohttp.ClientSession
) -> None:
    broken = '<tool_call>{"name":"calculate","arguments":{"expression":"2+2"</tool_call>'
    async with hardened_bench(tmp_path, session, broken, CALL, "It is 4.") as (b, server):
        run = await b.run()
        events = await b.service.events(run["id"])
    assert (run["status"], run["answer"]) == ("complete", "It is 4.")
    assert [e.result for e in events if isinstance(e, ToolFinished)] == ["4"]
    replied = next(e for e in events if isinstance(e, ModelReplied))
    assert replied.malformed_call == "the call of 'calculate' ends before it is complete"
    assert broken in replied.repairs[0]
    told = server.chats[1].body["messages"][-1]
    assert told["role"] == "system"
    assert "the call of 'calculate' ends" in told["content"]


async def test_two_calls_in_a_row_that_cannot_be_read_end_the_run(
    tmp_path: Path, session: aiohttp.ClientSession
) -> None:
    broken = '<tool_call>{"name":"calculate","arguments":{"expression":"2+2"</tool_call>'
    async with hardened_bench(tmp_path, session, broken, broken, "never") as (b, _):
        run = await b.run()
    assert (run["status"], run["reason"]) == ("incomplete", "empty_model_reply")
    assert run["answer"] == ""
    assert "ends before it is complete" in run["explanation"]


async def test_what_the_model_invents_after_its_call_is_no_answer(
    tmp_path: Path, session: aiohttp.ClientSession
) -> None:
    text = f"Let me compute.\n<tool_call>{CALL}</tool_call>\nThe answer is 5."
    async with hardened_bench(tmp_path, session, text, "It is 4.") as (b, _):
        run = await b.run()
    assert run["answer"] == "It is 4."
