"""Nothing is sent that cannot fit, nothing is answered from a part of the prompt."""

import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest

from inglenook.agent.guardrails import standard_guardrails
from inglenook.agent.loop import AgentLoop
from inglenook.agent.state import FoldingSink, RunState
from inglenook.context.base import ContextPolicy
from inglenook.context.compaction import Compacting
from inglenook.context.keep_all import KeepAll
from inglenook.context.window import Window
from inglenook.errors import RunEnded
from inglenook.events import (
    ContextCompacted,
    ModelReplied,
    ModelRequested,
    PromptBuilt,
    RunEvent,
    ToolFinished,
    WindowServed,
)
from inglenook.messages import Message
from inglenook.providers.base import ModelAbilities, ModelSpec
from inglenook.providers.window import WindowGuard
from inglenook.run_context import Limits, RunContext
from inglenook.tools.registry import ToolRegistry
from inglenook.tools.results import ReadResultTool
from tests.agent.windowed_model import Seen, WindowedModel
from tests.features.test_c2 import ListSink
from tests.support import MODEL, Bench, EchoTool, ask, bench, call, results, say

WORDS = "The quick brown fox looks for its supper in the wide wet wood. "


def page(chars: int, start: str = "") -> str:
    return (start + WORDS * (chars // len(WORDS) + 1))[:chars]


def chat(turns: int) -> tuple[Message, ...]:
    """A conversation of about 200 tokens a turn."""
    said = [
        Message(role=role, text=page(400, f"{n}. "))
        for n in range(turns)
        for role in ("user", "assistant")
    ]
    return (*said, Message(role="user", text="And now?"))


def reads(chars: int = 4_000) -> EchoTool:
    """A tool that gives a page at each of its calls."""
    return EchoTool(answer=lambda text: page(chars, f"Page {text}. "))


def looking(steps: int) -> Any:
    """A model that reads `steps` pages and answers; it knows where it is by what it is shown."""
    made: list[int] = []

    def script(messages: Sequence[Message]) -> Message:
        if len(made) < steps:
            made.append(1)
            return say("", call("echo", f"c{len(made)}", text=str(len(made))))
        return say("It is on page 3.")

    return script


OPENAI = replace(MODEL, provider="openai")


@asynccontextmanager
async def running(
    home: Path, model: WindowedModel, *, spec: ModelSpec = MODEL, **parts: Any
) -> AsyncGenerator[Bench, None]:
    guarded = WindowGuard(model, counts_whole_prompt=spec.provider != "ollama")
    async with bench(home, guarded, spec=spec, **parts) as b:
        yield b


T = TypeVar("T")


def of(kind: type[T], events: Sequence[RunEvent]) -> list[T]:
    return [event for event in events if isinstance(event, kind)]


def assert_valid(seen: Seen) -> None:
    """Every result follows the reply that asked for it, and the user's question is there."""
    open_ids: list[str] = []
    for message in seen.messages:
        if message.role == "tool":
            assert message.call_id in open_ids
            open_ids.remove(message.call_id or "")
        else:
            assert open_ids == []
            open_ids = [each.id for each in message.tool_calls]
    assert [m.text for m in seen.messages if m.role == "user"][-1] == "hello"


async def test_a_window_nobody_configured_grows_as_far_as_the_model_can(tmp_path: Path):
    model = WindowedModel(looking(5), abilities=ModelAbilities(context_tokens=131_072))
    async with running(tmp_path, model, tools=[reads(7_000)]) as b:
        run = await b.run()
        events = await b.service.events(run["id"])
        assert run["status"] == "complete", run["explanation"]
        assert {seen.window for seen in model.asked} == {8_192, 16_384}
        assert of(ContextCompacted, events) == []
        assert await b.replay(run["id"]) == run["answer"]


async def test_a_configured_window_is_kept_to_by_compaction(tmp_path: Path):
    spec = replace(MODEL, context_tokens=4_096)
    model = WindowedModel(looking(8), abilities=ModelAbilities(context_tokens=131_072))
    async with running(tmp_path, model, spec=spec, tools=[reads()]) as b:
        run = await b.run()
        events = await b.service.events(run["id"])
        assert (run["status"], run["answer"]) == ("complete", "It is on page 3.")
        compactions = of(ContextCompacted, events)
        assert compactions
        assert all(event.by == "model" and event.after < event.before for event in compactions)
        assert all(seen.tokens <= 4_096 and seen.window == 4_096 for seen in model.seen)
        for seen in model.asked:
            assert_valid(seen)
        last = model.asked[-1].messages
        assert any("nothing of use" in m.text and m.role == "system" for m in last)
        assert await b.replay(run["id"]) == run["answer"]
        # what was summed up stays in the log
        assert len(of(ToolFinished, events)) == 8


async def test_a_summary_is_asked_without_tools_and_its_tokens_count(tmp_path: Path):
    spec = replace(MODEL, context_tokens=4_096)
    model = WindowedModel(looking(8))
    async with running(tmp_path, model, spec=spec, tools=[reads()]) as b:
        run = await b.run()
        requests = of(ModelRequested, await b.service.events(run["id"]))
        asides = [request for request in requests if request.purpose == "compact"]
        assert len(asides) == sum(seen.is_summary for seen in model.seen) > 0
        assert [request.ordinal for request in requests] == list(range(len(requests)))
        assert run["usage"]["steps"] == 9
        assert run["usage"]["input_tokens"] == sum(seen.tokens for seen in model.seen)


async def test_without_a_summary_from_the_model_the_calls_are_listed(tmp_path: Path):
    spec = replace(MODEL, context_tokens=4_096)
    model = WindowedModel(looking(8), summary="")
    async with running(tmp_path, model, spec=spec, tools=[reads()]) as b:
        run = await b.run()
        compactions = of(ContextCompacted, await b.service.events(run["id"]))
        assert run["status"] == "complete"
        assert compactions[0].by == "runtime"
        assert 'called echo{"text": "1"}' in compactions[0].summary
        assert await b.replay(run["id"]) == run["answer"]


async def test_an_early_question_stays_to_the_letter(tmp_path: Path):
    """The last user message is among the oldest: it is not summed up."""
    spec = replace(MODEL, context_tokens=4_096)
    model = WindowedModel(looking(9))
    history = [
        Message(role="user", text=page(2_000, "Old question. ")),
        Message(role="assistant", text=page(2_000, "Old answer. ")),
        Message(role="user", text="hello"),
    ]
    async with running(tmp_path, model, spec=spec, tools=[reads()]) as b:
        request = ask().model_copy(update={"messages": tuple(history)})
        run = await b.run(request)
        assert run["status"] == "complete", run["explanation"]
        for seen in model.asked:
            assert_valid(seen)
        assert "Old question" not in str(model.asked[-1].messages)


async def test_a_long_posted_conversation_is_summed_up_before_the_first_call(tmp_path: Path):
    spec = replace(MODEL, context_tokens=4_096)
    model = WindowedModel(looking(0))
    history: list[Message] = []
    for n in range(12):
        history += [
            Message(role="user", text=page(900, f"Question {n}. ")),
            Message(role="assistant", text=page(900, f"Answer {n}. ")),
        ]
    history.append(Message(role="user", text="hello"))
    async with running(tmp_path, model, spec=spec) as b:
        run = await b.run(ask().model_copy(update={"messages": tuple(history)}))
        assert run["status"] == "complete", run["explanation"]
        assert [seen.is_summary for seen in model.seen] == [True, False]
        assert_valid(model.asked[0])
        assert "Answer 11" in str(model.asked[0].messages), "the newest turns stay"


async def test_one_result_that_does_not_fit_is_shown_shorter_and_can_be_read_on(tmp_path: Path):
    spec = replace(MODEL, context_tokens=2_048)

    def script(messages: Sequence[Message]) -> Message:
        if results(messages) == 0:
            return say("", *[call("echo", f"c{n}", text=f"{n}") for n in range(4)])
        return say("done")

    model = WindowedModel(script)
    async with running(tmp_path, model, spec=spec, tools=[reads(1_900)]) as b:
        run = await b.run()
        assert run["status"] == "complete", run["explanation"]
        shown = [m.text for m in model.asked[-1].messages if m.role == "tool"]
        assert len(shown) == 4
        assert all("read_result" in text and len(text) < 1_900 for text in shown)
        assert await b.replay(run["id"]) == "done"


async def test_a_silent_cut_of_a_smaller_window_than_configured_is_found(tmp_path: Path):
    """The server was started with 4,096 tokens and reads half of that from what is too long."""
    spec = replace(MODEL, context_tokens=16_384)
    model = WindowedModel(looking(5), serves=4_096)
    async with running(tmp_path, model, spec=spec, tools=[reads()]) as b:
        run = await b.run()
        replies = of(ModelReplied, await b.service.events(run["id"]))
        assert (run["status"], run["answer"]) == ("complete", "It is on page 3.")
        rejected = [reply for reply in replies if reply.rejected]
        assert rejected
        assert rejected[0].rejected == "context_truncated"
        assert "do not know" not in run["answer"]
        assert await b.replay(run["id"]) == run["answer"]


async def test_a_cut_by_a_server_that_counts_is_found_by_its_usage(tmp_path: Path):
    model = WindowedModel(looking(5), serves=3_000, cut=lambda tokens, window: window // 2)
    async with running(tmp_path, model, spec=OPENAI, tools=[reads(6_000)]) as b:
        run = await b.run()
        assert (run["status"], run["answer"]) == ("complete", "It is on page 3.")
        assert await b.replay(run["id"]) == run["answer"]


async def test_a_server_that_cuts_whatever_is_sent_ends_the_run_with_the_reason(tmp_path: Path):
    model = WindowedModel(looking(3), serves=600, cut=lambda tokens, window: window)
    history = (
        Message(role="system", text=page(6_000, "You know the house rules. ")),
        Message(role="user", text="hello"),
    )
    async with running(tmp_path, model, spec=OPENAI, tools=[reads()]) as b:
        run = await b.run(ask().model_copy(update={"messages": history}))
        assert (run["status"], run["reason"]) == ("incomplete", "context_truncated")
        assert "600" in run["explanation"]
        assert run["answer"] == ""
        assert await b.replay(run["id"]) == ""


async def test_half_of_ollamas_window_and_two_is_a_cut_prompt(tmp_path: Path):
    """CASES B021: a growth makes room, the same prompt is sent again whole."""
    model = WindowedModel(
        looking(0), abilities=ModelAbilities(context_tokens=32_768), tokens_per_estimate=1.5
    )
    history = (Message(role="user", text=page(26_000)),)
    async with running(tmp_path, model) as b:
        run = await b.run(ask().model_copy(update={"messages": history}))
        events = await b.service.events(run["id"])
        assert run["status"] == "complete", run["explanation"]
        assert [reply.rejected for reply in of(ModelReplied, events)] == ["context_truncated", None]
        assert [seen.window for seen in model.seen] == [8_192, 16_384]
        assert of(ContextCompacted, events) == []
        assert await b.replay(run["id"]) == run["answer"]


async def test_a_refused_length_is_compacted_and_sent_again(tmp_path: Path):
    model = WindowedModel(looking(6), serves=4_096, cut=None)
    async with running(tmp_path, model, spec=OPENAI, tools=[reads()]) as b:
        run = await b.run()
        replies = of(ModelReplied, await b.service.events(run["id"]))
        assert (run["status"], run["answer"]) == ("complete", "It is on page 3.")
        assert any(reply.rejected == "context_too_long" for reply in replies)
        assert await b.replay(run["id"]) == run["answer"]


async def test_the_window_that_a_refusal_names_is_kept_to(tmp_path: Path):
    """A conversation nine times as long as the window is sent twice, not cut down step by step."""
    model = WindowedModel(looking(0), serves=2_048, cut=None, names_window=True)
    async with running(tmp_path, model, spec=OPENAI) as b:
        run = await b.run(ask().model_copy(update={"messages": chat(90)}))
        assert (run["status"], run["answer"]) == ("complete", "It is on page 3."), run
        assert [seen.tokens > 2_048 for seen in model.asked] == [True, False]
        assert await b.replay(run["id"]) == run["answer"]


async def test_a_refusal_is_met_with_less_even_where_the_window_should_hold_it(tmp_path: Path):
    """Ollama was asked for 32,768 tokens and refuses 18,000 of them."""
    spec = replace(MODEL, context_tokens=32_768)
    model = WindowedModel(looking(0), serves=8_192, cut=None)
    async with running(tmp_path, model, spec=spec) as b:
        run = await b.run(ask().model_copy(update={"messages": chat(90)}))
        assert (run["status"], run["answer"]) == ("complete", "It is on page 3."), run
        assert await b.replay(run["id"]) == run["answer"]


async def test_a_window_that_nobody_names_is_found_before_the_run_gives_up(tmp_path: Path):
    """Nine times too long, and the server says no number: what is sent last is short."""
    model = WindowedModel(looking(0), serves=2_048, cut=None)
    async with running(tmp_path, model, spec=OPENAI) as b:
        run = await b.run(ask().model_copy(update={"messages": chat(90)}))
        assert (run["status"], run["answer"]) == ("complete", "It is on page 3."), run
        assert len(model.asked) == 3
        assert await b.replay(run["id"]) == run["answer"]


async def test_the_same_count_in_a_larger_window_is_a_cut_again(tmp_path: Path):
    """Ollama serves 4,096 tokens whatever is asked for: growing does not help, summing up does."""
    model = WindowedModel(looking(0), serves=4_096, abilities=ModelAbilities(context_tokens=32_768))
    async with running(tmp_path, model) as b:
        run = await b.run(ask().model_copy(update={"messages": chat(50)}))
        replies = of(ModelReplied, await b.service.events(run["id"]))
        assert (run["status"], run["answer"]) == ("complete", "It is on page 3."), run
        assert len([reply for reply in replies if reply.rejected]) >= 2
        assert await b.replay(run["id"]) == run["answer"]


async def test_a_server_that_refuses_everything_ends_the_run(tmp_path: Path):
    model = WindowedModel(looking(6), serves=10, cut=None)
    async with running(tmp_path, model, spec=OPENAI, tools=[reads()]) as b:
        run = await b.run()
        assert (run["status"], run["reason"]) == ("incomplete", "context_truncated")
        assert len(model.asked) <= 3
        assert await b.replay(run["id"]) == run["answer"]


async def test_a_served_window_is_asked_for_once_and_only_for_long_requests(tmp_path: Path):
    model = WindowedModel(
        looking(6), serves=4_096, abilities=ModelAbilities(context_tokens=4_096), cut=None
    )
    async with running(tmp_path, model, spec=OPENAI, tools=[reads()]) as b:
        run = await b.run()
        events = await b.service.events(run["id"])
        assert run["status"] == "complete", run["explanation"]
        assert [event.tokens for event in of(WindowServed, events)] == [4_096]
        assert not any(reply.rejected for reply in of(ModelReplied, events))
        assert await b.replay(run["id"]) == run["answer"]


async def test_a_wrong_estimate_is_corrected_by_the_servers_count(tmp_path: Path):
    """A model whose tokens are smaller than thought: compaction comes in time."""
    spec = replace(MODEL, context_tokens=6_000)
    model = WindowedModel(looking(8), tokens_per_estimate=1.6)
    async with running(tmp_path, model, spec=spec, tools=[reads(2_500)]) as b:
        run = await b.run()
        events = await b.service.events(run["id"])
        assert run["status"] == "complete", run["explanation"]
        assert not any(reply.rejected for reply in of(ModelReplied, events))
        assert RunState(events).window.ratio == pytest.approx(1.6, rel=0.05)


async def test_an_estimate_that_is_too_high_is_no_cut(tmp_path: Path):
    """The same share is read of a shorter prompt: nothing was cut, the estimate was wrong."""
    model = WindowedModel(looking(4), tokens_per_estimate=0.5)
    async with running(tmp_path, model, spec=OPENAI, tools=[reads(6_000)]) as b:
        run = await b.run()
        assert (run["status"], run["answer"]) == ("complete", "It is on page 3.")


async def test_made_up_counts_are_not_believed(tmp_path: Path):
    model = WindowedModel(looking(4), tokens_per_estimate=0.001)
    async with running(tmp_path, model, spec=OPENAI, tools=[reads(6_000)]) as b:
        run = await b.run()
        events = await b.service.events(run["id"])
        assert run["status"] == "complete"
        assert not any(reply.rejected for reply in of(ModelReplied, events))
        assert of(ContextCompacted, events) == []


def pages_seen(messages: Sequence[Message]) -> int:
    return max((int(n) for m in messages for n in re.findall(r"Page (\d+)\.", m.text)), default=0)


def by_what_it_sees(messages: Sequence[Message]) -> Message:
    seen = pages_seen(messages)
    if seen == 8:
        return say("It is on page 3.")
    return say("", call("echo", f"c{seen + 1}", text=str(seen + 1)))


async def test_a_run_that_was_killed_anywhere_is_cut_at_the_same_place(tmp_path: Path):
    spec = replace(MODEL, context_tokens=4_096)

    def model() -> WindowedModel:
        return WindowedModel(
            by_what_it_sees, summary=lambda messages: say(f"Page {pages_seen(messages)}. was read.")
        )

    async with running(tmp_path, model(), spec=spec, tools=[reads()]) as b:
        run = await b.run()
        events = await b.service.events(run["id"])
    assert of(ContextCompacted, events)
    shown = next(e.truncated_to for e in of(ToolFinished, events)) or 0
    begun = next(n for n, event in enumerate(events) if isinstance(event, PromptBuilt)) + 1
    for end in range(begun, len(events)):
        state, sink = RunState(events[:end]), ListSink()
        loop = loop_of(model(), Compacting())
        answer = await loop.run(state, context_of(state, sink, max_result_chars=shown))
        assert answer == "It is on page 3."
        whole = [*events[:end], *sink.events]
        assert of(ContextCompacted, whole) == of(ContextCompacted, events), f"killed after {end}"


async def test_a_policy_that_gives_nothing_up_ends_the_run_before_anything_is_cut(tmp_path: Path):
    spec = replace(MODEL, context_tokens=4_096)
    async with running(tmp_path, WindowedModel(looking(0)), spec=spec, tools=[reads()]) as b:
        run = await b.run()
        begun = (await b.service.events(run["id"]))[:2]
    model, state, sink = WindowedModel(by_what_it_sees), RunState(begun), ListSink()
    with pytest.raises(RunEnded, match="The model's window holds 4096 tokens") as ended:
        await loop_of(model, KeepAll()).run(state, context_of(state, sink))
    assert ended.value.reason == "context_too_small"
    assert model.seen
    assert all(seen.tokens <= 4_096 for seen in model.seen)
    assert of(ContextCompacted, sink.events) == []


def loop_of(model: WindowedModel, policy: ContextPolicy) -> AgentLoop:
    return AgentLoop(
        provider=WindowGuard(model, counts_whole_prompt=False),
        context=policy,
        tools=ToolRegistry([reads(), ReadResultTool()]),
        guardrails=standard_guardrails(),
        served_window=nobody_knows,
    )


def context_of(state: RunState, sink: ListSink, *, max_result_chars: int = 60_000) -> RunContext:
    return RunContext(
        run_id="r",
        sink=FoldingSink(sink, state),
        limits=Limits(max_steps=12, max_result_chars=max_result_chars),
    )


async def nobody_knows() -> Window:
    return Window()
