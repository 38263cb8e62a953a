"""Streams that break, in whole runs: typed, asked again where nobody saw anything, never a success.

Each on Ollama's face and on OpenAI's, with the parts around them that the product has.
"""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import aiohttp
import pytest

from inglenook.events import GuardrailObjected, ModelReplied, RunEvent, ToolFinished
from inglenook.providers.base import ModelProvider
from inglenook.providers.ollama import OllamaProvider
from inglenook.providers.openai_chat import OpenAIChatProvider
from inglenook.providers.recovery import RecoveringProvider
from inglenook.providers.retry import RetryingProvider
from tests.providers.streaming import ollama_spec, openai_spec
from tests.scripted_replies import Raw, Reply, ScriptedCall, ScriptEntry
from tests.scripted_server import ScriptedServer
from tests.support import EchoTool, bench

Face = Literal["ollama", "openai"]
both = pytest.mark.parametrize("face", ["ollama", "openai"])
CALL = '<tool_call>\n{"name": "echo", "arguments": {"text": "hi"}}\n</tool_call>'


@asynccontextmanager
async def run_over(
    home: Path,
    session: aiohttp.ClientSession,
    face: Face,
    tool: EchoTool,
    *script: ScriptEntry,
) -> AsyncGenerator[tuple[dict[str, Any], list[RunEvent], ScriptedServer], None]:
    """One run against a server that says `script`: the run, its events and the server."""
    async with ScriptedServer(script) as server:
        transport: ModelProvider = (
            OllamaProvider(session, ollama_spec(server.url))
            if face == "ollama"
            else OpenAIChatProvider(session, openai_spec(server.openai_url))
        )
        provider = RetryingProvider(RecoveringProvider(transport), first_wait_s=0)
        async with bench(home, provider, tools=[tool]) as b:
            run = await b.run()
            yield run, await b.service.events(run["id"]), server


def broken(face: Face, *messages: dict[str, Any], error: str = "") -> Raw:
    """A stream of these messages that stops in the middle, or ends in an error after its 200."""
    if face == "ollama":
        lines = [{"message": {"role": "assistant", **m}, "done": False} for m in messages]
        end = [{"error": error}] if error else []
        pieces = [json.dumps(line).encode() + b"\n" for line in [*lines, *end]]
    else:
        deltas = [{"choices": [{"index": 0, "delta": openai_delta(m)}]} for m in messages]
        end = [{"error": {"message": error}}] if error else []
        pieces = [b"data: " + json.dumps(each).encode() + b"\n\n" for each in [*deltas, *end]]
    return Raw(pieces=[*pieces, 0.02], cut=not error)


def openai_delta(message: dict[str, Any]) -> dict[str, Any]:
    """Ollama's message as OpenAI's delta."""
    calls = [
        {
            "index": n,
            "id": f"c{n}",
            "function": call["function"] | {"arguments": json.dumps(call["function"]["arguments"])},
        }
        for n, call in enumerate(message.get("tool_calls", ()))
    ]
    thinking = {"reasoning_content": message["thinking"]} if "thinking" in message else {}
    return {
        "content": message.get("content", ""),
        **thinking,
        **({"tool_calls": calls} if calls else {}),
    }


NATIVE_CALL = {
    "content": "",
    "tool_calls": [{"function": {"name": "echo", "arguments": {"text": "hi"}}}],
}


@both
@pytest.mark.parametrize("error", ["", "out of memory"])
async def test_call_of_a_stream_that_broke_off_is_not_run_but_asked_for_again(
    tmp_path: Path, session: aiohttp.ClientSession, face: Face, error: str
) -> None:
    again = Reply(tool_calls=[ScriptedCall(name="echo", arguments={"text": "again"})])
    tool = EchoTool()
    script = (broken(face, NATIVE_CALL, error=error), again, "done")
    async with run_over(tmp_path, session, face, tool, *script) as (run, _, server):
        assert (run["status"], run["answer"]) == ("complete", "done")
        assert tool.calls == ["again"]
        assert len(server.chats) == 3


@both
@pytest.mark.parametrize("error", ["", "out of memory"])
async def test_written_call_that_broke_off_is_asked_for_again_since_nobody_saw_it(
    tmp_path: Path, session: aiohttp.ClientSession, face: Face, error: str
) -> None:
    tool = EchoTool()
    half = broken(face, {"content": CALL[:12]}, {"content": CALL[12:40]}, error=error)
    async with run_over(tmp_path, session, face, tool, half, CALL, "done") as (run, events, _):
        assert (run["status"], run["answer"]) == ("complete", "done")
        assert tool.calls == ["hi"]
        assert len([e for e in events if isinstance(e, ModelReplied)]) == 2


@both
@pytest.mark.parametrize("error", ["", "out of memory"])
async def test_answer_that_broke_off_is_no_answer(
    tmp_path: Path, session: aiohttp.ClientSession, face: Face, error: str
) -> None:
    half = broken(face, {"content": "The answer "}, {"content": "is"}, error=error)
    async with run_over(tmp_path, session, face, EchoTool(), half, "never") as (run, _, server):
        assert (run["status"], run["reason"], run["answer"]) == ("failed", "provider_error", "")
        assert server.url in run["explanation"]
        assert len(server.chats) == 1, "the reader has seen the beginning of another answer"


@both
async def test_thinking_that_broke_off_is_begun_again_and_is_no_answer(
    tmp_path: Path, session: aiohttp.ClientSession, face: Face
) -> None:
    half = broken(face, {"thinking": "Let me see."})
    async with run_over(tmp_path, session, face, EchoTool(), half, "It is 4.") as (run, events, _):
        assert (run["status"], run["answer"]) == ("complete", "It is 4.")
        (replied,) = [e for e in events if isinstance(e, ModelReplied)]
        assert replied.reasoning is None


@both
async def test_thinking_alone_is_nudged_and_is_no_answer(
    tmp_path: Path, session: aiohttp.ClientSession, face: Face
) -> None:
    alone = Reply(content="", thinking="It must be 4.")
    async with run_over(tmp_path, session, face, EchoTool(), alone, "It is 4.") as (run, events, _):
        assert (run["status"], run["answer"]) == ("complete", "It is 4.")
        assert [e.guardrail for e in events if isinstance(e, GuardrailObjected)] == ["empty_reply"]


@both
async def test_written_call_in_which_the_output_limit_fell_is_asked_for_shorter(
    tmp_path: Path, session: aiohttp.ClientSession, face: Face
) -> None:
    tool = EchoTool()
    cut = Reply(content=CALL[:45], finish="length")
    async with run_over(tmp_path, session, face, tool, cut, CALL, "done") as (run, events, server):
        assert (run["status"], run["answer"]) == ("complete", "done")
        assert tool.calls == ["hi"]
        replied = next(e for e in events if isinstance(e, ModelReplied))
        assert replied.malformed_call == "the call of 'echo' ends before it is complete"
        told = server.chats[1].body["messages"][-1]
        assert (told["role"], "shorter" in told["content"]) == ("system", True)


@both
async def test_native_write_in_which_the_output_limit_fell_is_not_run(
    tmp_path: Path, session: aiohttp.ClientSession, face: Face
) -> None:
    """Ollama and llama.cpp close the brackets of a cut call themselves."""
    tool = EchoTool(effect="write")
    healed = Reply(
        tool_calls=[ScriptedCall(name="echo", arguments={"text": "ha"})], finish="length"
    )
    whole = Reply(tool_calls=[ScriptedCall(name="echo", arguments={"text": "half"})])
    async with run_over(tmp_path, session, face, tool, healed, whole, "done") as (run, _, _):
        assert (run["status"], run["answer"]) == ("complete", "done")
        assert tool.calls == ["half"]


async def test_arguments_that_were_cut_off_are_not_run(
    tmp_path: Path, session: aiohttp.ClientSession
) -> None:
    tool = EchoTool()
    cut = Reply(tool_calls=[ScriptedCall(name="echo", arguments='{"text": "ha')], finish="length")
    async with run_over(tmp_path, session, "openai", tool, cut, cut, "never") as (run, events, _):
        assert (run["status"], run["reason"]) == ("incomplete", "empty_model_reply")
        assert "raise the run's output tokens" in run["explanation"]
        assert not [e for e in events if isinstance(e, ToolFinished)]
        assert tool.calls == []


@both
async def test_nothing_but_white_space_twice_ends_the_run(
    tmp_path: Path, session: aiohttp.ClientSession, face: Face
) -> None:
    async with run_over(tmp_path, session, face, EchoTool(), " \n", "\n\n") as (run, _, _):
        assert (run["status"], run["reason"]) == ("incomplete", "empty_model_reply")
        assert run["answer"].strip() == ""
