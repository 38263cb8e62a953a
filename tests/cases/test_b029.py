"""B029: a thinking model's reasoning goes back verbatim with its calls, also after a restart."""

from pathlib import Path
from typing import Any

import aiohttp

from inglenook.events import ContextCompacted, ModelReplied, decode, encode
from inglenook.messages import Message
from inglenook.providers.openai_chat import OpenAIChatProvider
from inglenook.run_request import RunRequest
from inglenook.tools.calculator import CalculatorTool
from tests.providers.streaming import QUESTION, openai_spec, streamed
from tests.scripted_replies import Answer, Failure, calls
from tests.scripted_server import ScriptedServer
from tests.support import EchoTool, bench

THOUGHT = "Let me work it out:\n  2 + 2, with “quotes” and \\n in it. "
REFUSAL = Failure(
    status=400,
    body={
        "error": {
            "message": "The `reasoning_content` in the thinking mode must be passed back.",
            "type": "invalid_request_error",
        }
    },
)


class DeepSeek:
    """Refuses a call without the very thinking that it sent with it."""

    def __init__(self, steps: int = 2) -> None:
        self._steps = steps

    def __call__(self, body: dict[str, Any]) -> Answer:
        asked = [m for m in body["messages"] if m.get("tool_calls")]
        if any(m.get("reasoning_content") != THOUGHT for m in asked):
            return REFUSAL
        if len(asked) < self._steps:
            return calls(("calculate", {"expression": f"2+{len(asked)}"}), thinking=THOUGHT)
        return "It is done."


async def test_every_turn_of_a_run_is_accepted(
    tmp_path: Path, session: aiohttp.ClientSession
) -> None:
    async with ScriptedServer(DeepSeek(steps=3)) as server:
        spec = openai_spec(server.openai_url, thinking=True, reasoning_effort="max")
        provider = OpenAIChatProvider(session, spec)
        async with bench(tmp_path, provider, tools=[CalculatorTool()]) as b:
            run = await b.run()
    assert (run["status"], run["answer"]) == ("complete", "It is done.")
    assert len(server.chats) == 4
    assert "work it out" not in str(run["answer"])


async def test_reasoning_survives_the_store_and_a_new_process(
    session: aiohttp.ClientSession,
) -> None:
    async with ScriptedServer(DeepSeek(steps=1)) as server:
        first = OpenAIChatProvider(session, openai_spec(server.openai_url))
        reply = (await streamed(first)).reply
        stored = decode(
            encode(
                ModelReplied(
                    step=1, ordinal=0, message=reply.message, reasoning=reply.message.reasoning
                )
            )
        )
        assert isinstance(stored, ModelReplied)
        asked = Message(
            role="assistant",
            text=stored.message.text,
            tool_calls=stored.message.tool_calls,
            reasoning=stored.reasoning,
        )
        result = Message(
            role="tool", text="2", call_id=asked.tool_calls[0].id, tool_name="calculate"
        )
        second = OpenAIChatProvider(session, openai_spec(server.openai_url))
        assert (await streamed(second, (*QUESTION, asked, result))).text == "It is done."


async def test_it_goes_back_after_a_compaction_too(
    tmp_path: Path, session: aiohttp.ClientSession
) -> None:
    """A server that refuses every call without its thinking, and a window that fills up."""
    asked: list[int] = []

    def answer(body: dict[str, Any]) -> Answer:
        calls_shown = [m for m in body["messages"] if m.get("tool_calls")]
        if any(m.get("reasoning_content") != THOUGHT for m in calls_shown):
            return REFUSAL
        if "tools" not in body:
            return "Some pages were read."
        asked.append(len(calls_shown))
        if len(asked) > 6:
            return "It is done."
        return calls(("echo", {"text": str(len(asked))}), thinking=THOUGHT)

    async with ScriptedServer(answer) as server:
        spec = openai_spec(server.openai_url, thinking=True, context_tokens=3_000)
        provider = OpenAIChatProvider(session, spec)
        tool = EchoTool(answer=lambda text: f"Page {text}. " + "Nothing of note here. " * 120)
        async with bench(tmp_path, provider, tools=[tool], spec=spec) as b:
            run = await b.run(RunRequest(model=spec.id, messages=QUESTION))
            events = await b.service.events(run["id"])
    assert (run["status"], run["answer"]) == ("complete", "It is done."), run["explanation"]
    assert any(isinstance(event, ContextCompacted) for event in events)
    assert asked != sorted(set(asked)), "calls went from what the model sees"
    assert "work it out" not in str(run["answer"])
