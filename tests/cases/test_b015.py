"""B015: a final answer given beside other calls is not final; they run, the model is asked again.

The rule for several final answers in one reply is the same: each stands beside another call, so
none of them is final.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from inglenook.errors import ToolError
from inglenook.events import RunEvent, ToolFinished
from inglenook.messages import ToolOutput
from inglenook.run_context import RunContext
from inglenook.run_request import RequestLimits
from inglenook.tools.base import ToolSpec
from tests.support import EchoTool, bench, call, replies, say


class Answer(BaseModel):
    answer: str


@dataclass
class FinalAnswer:
    spec = ToolSpec(
        name="final_answer",
        description="Give the final answer.",
        arguments=Answer,
        effect="read",
        ends_run=True,
    )
    given: list[str] = field(default_factory=list[str])

    async def run(self, arguments: Any, run: RunContext) -> ToolOutput:
        if not arguments.answer:
            raise ToolError("the answer is empty")
        self.given.append(arguments.answer)
        return ToolOutput(text=arguments.answer)


def final(answer: str, id: str = "f"):
    return call("final_answer", id, answer=answer)


def finished(events: list[RunEvent]) -> list[tuple[str, bool]]:
    return [(e.call.id, e.is_error) for e in events if isinstance(e, ToolFinished)]


async def test_alone_it_is_the_runs_answer(tmp_path: Path):
    async with bench(tmp_path, replies(say("so", final("42"))), tools=[FinalAnswer()]) as b:
        run = await b.run()
        assert (run["status"], run["answer"]) == ("complete", "42")
        assert run["usage"]["steps"] == 1
        assert await b.replay(run["id"]) == "42"


@pytest.mark.parametrize("answer_first", [False, True])
async def test_beside_another_call_it_is_not_final(tmp_path: Path, answer_first: bool):
    search, answer = EchoTool("web_search"), FinalAnswer()
    both = [call("web_search", "s", text="x"), final("42", "f1")]
    if answer_first:
        both.reverse()
    provider = replies(say("", *both), say("", final("43", "f2")))
    async with bench(tmp_path, provider, tools=[search, answer]) as b:
        run = await b.run()
        events = await b.service.events(run["id"])
        assert (run["status"], run["answer"]) == ("complete", "43")
        assert (search.calls, answer.given) == (["x"], ["43"])
        assert sorted(finished(events)) == [("f1", True), ("f2", False), ("s", False)]
        told = [m.text for m in provider.views[1] if m.call_id == "f1"]
        assert "not taken as final" in told[0]
        assert await b.replay(run["id"]) == "43"


async def test_of_several_in_one_reply_none_is_final(tmp_path: Path):
    answer = FinalAnswer()
    provider = replies(say("", final("1", "a"), final("2", "b")), say("", final("3", "c")))
    async with bench(tmp_path, provider, tools=[answer]) as b:
        run = await b.run()
        assert (run["answer"], answer.given) == ("3", ["3"])
        events = await b.service.events(run["id"])
        assert finished(events) == [("a", True), ("b", True), ("c", False)]


async def test_one_that_was_refused_early_is_taken_when_it_comes_alone(tmp_path: Path):
    early = [
        say("", call("echo", f"e{n}", text=str(n)), final("42", f"f{n}")) for n in range(3)
    ]  # fmt: skip
    provider = replies(*early, say("", final("42", "alone")))
    async with bench(tmp_path, provider, tools=[EchoTool(), FinalAnswer()]) as b:
        assert (await b.run())["answer"] == "42"


async def test_one_that_fails_ends_nothing(tmp_path: Path):
    provider = replies(say("", final("", "a")), say("", final("ok", "b")))
    async with bench(tmp_path, provider, tools=[FinalAnswer()]) as b:
        run = await b.run()
        assert (run["answer"], run["usage"]["steps"]) == ("ok", 2)


async def test_a_model_that_never_answers_alone_ends_at_its_steps(tmp_path: Path):
    both = [
        say("", call("echo", f"e{n}", text=str(n)), final("42", f"f{n}")) for n in range(9)
    ]  # fmt: skip
    async with bench(tmp_path, replies(*both), tools=[EchoTool(), FinalAnswer()]) as b:
        run = await b.run(limits=RequestLimits(steps=3))
        assert (run["status"], run["reason"]) == ("incomplete", "step_limit")


@pytest.mark.parametrize("name", ["FINAL_ANSWER", "functions.final_answer"])
async def test_its_name_is_known_as_models_write_it(tmp_path: Path, name: str):
    provider = replies(say("", call(name, "f", answer="42")))
    async with bench(tmp_path, provider, tools=[FinalAnswer()]) as b:
        assert (await b.run())["answer"] == "42"
