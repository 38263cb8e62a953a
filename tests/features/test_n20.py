"""N20: every run that ended says in one sentence why, whatever ended it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from inglenook.errors import ProviderError
from inglenook.messages import Message
from inglenook.providers.base import ModelReply
from inglenook.providers.scripted import ScriptedProvider
from inglenook.run_request import RequestLimits
from tests.support import (
    MODEL,
    EchoTool,
    FunctionProvider,
    ask,
    bench,
    call,
    replies,
    say,
)


def again(_: Sequence[Message]) -> Message:
    return say("", call("echo", text="x"))


def onward(messages: Sequence[Message]) -> Message:
    return say("", call("echo", f"c{len(messages)}", text=str(len(messages))))


CUT = ModelReply(message=say("It is"), finish_reason="length")
ENDINGS = {
    "complete": (replies(say("It is 4.")), "complete", None, "Answered after 1 step"),
    "step_limit": (FunctionProvider(onward), "incomplete", "step_limit", "all of its 3 steps"),
    "repetition": (FunctionProvider(again), "incomplete", "repetition", "same result"),
    "empty": (replies(say("")), "incomplete", "empty_model_reply", "answered with nothing"),
    "cut": (ScriptedProvider([CUT]), "incomplete", "context_truncated", "was cut off"),
    "provider": (
        ScriptedProvider([ProviderError("the server is on fire")]),
        "failed",
        "provider_error",
        "on fire",
    ),
}


@pytest.mark.parametrize("name", ENDINGS)
async def test_each_ending_says_why(name: str, tmp_path: Path):
    provider, status, reason, words = ENDINGS[name]
    limits = RequestLimits(steps=3) if name == "step_limit" else RequestLimits(steps=9)
    async with bench(tmp_path, provider, tools=[EchoTool()]) as b:
        run = await b.run(limits=limits)
    assert (run["status"], run["reason"]) == (status, reason), run["explanation"]
    assert words in run["explanation"]
    assert run["explanation"].rstrip()[-1] in ".!?" or status == "failed"
    assert "\n" not in run["explanation"]


async def test_a_window_that_is_too_small_says_both_numbers(tmp_path: Path):
    spec = replace(MODEL, context_tokens=512)
    async with bench(tmp_path, replies(say("never")), spec=spec) as b:
        run = await b.run(ask("word " * 3_000))
    assert run["reason"] == "context_too_small"
    assert "512" in run["explanation"]


async def test_a_stopped_run_says_who_stopped_it(tmp_path: Path):
    tool = EchoTool(delay_s=60)
    async with bench(tmp_path, FunctionProvider(onward), tools=[tool]) as b:
        row = await b.service.start(ask())
        async for _ in b.service.follow(row.id):
            if tool.calls:
                break
        await b.service.cancel(row.id)
        row = await b.service.wait(row.id)
    assert (row.status, row.reason) == ("cancelled", "cancelled_by_user")
    assert row.explanation
