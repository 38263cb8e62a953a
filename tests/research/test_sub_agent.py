"""The research agent: its steps are counted for it, it ends with an answer or says why not."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from inglenook.agent.last_step import NOT_RESEARCHED
from inglenook.agent.loop import TOO_LATE
from inglenook.events import (
    GuardrailObjected,
    ModelReplied,
    ModelRequested,
    PromptBuilt,
    ToolFinished,
)
from inglenook.messages import Message
from inglenook.run_request import RequestLimits, RunRequest
from tests.research.web_fakes import FakeSearch, FakeVisit, last_result
from tests.support import Bench, FunctionProvider, ask, bench, call, replies, results, say, user

SEARCH = call("web_search", "s1", query="tower height")
VISIT = call("visit_webpage", "v1", url="https://site.test/tower+height")
ANSWER = call("final_answer", "a1", answer="It is 321 m high [1].")


def research(text: str = "How high is the tower?", steps: int = 15) -> RunRequest:
    return ask(text, strategy="research", web=True, limits=RequestLimits(steps=steps))


async def prompt_of(b: Bench, run_id: str) -> PromptBuilt:
    return next(e for e in await b.service.events(run_id) if isinstance(e, PromptBuilt))


async def test_it_searches_reads_and_ends_with_its_final_answer(tmp_path: Path):
    provider = replies(say("", SEARCH), say("", VISIT), say("", ANSWER))
    async with bench(tmp_path, provider, web=[FakeSearch(), FakeVisit()]) as b:
        run = await b.run(research())
        assert (run["status"], run["answer"]) == ("complete", "It is 321 m high [1].")
        assert [source["cited"] for source in run["sources"]] == [True, False]
        assert (await b.replay(run["id"])) == run["answer"]


async def test_it_holds_the_web_and_nothing_else(tmp_path: Path):
    provider = replies(say("", SEARCH), say("", ANSWER))
    async with bench(tmp_path, provider, web=[FakeSearch(), FakeVisit()]) as b:
        run = await b.run(research())
        prompt = await prompt_of(b, run["id"])
    assert prompt.tools == ("final_answer", "web_search", "visit_webpage", "read_result")
    assert prompt.ends_run == ("final_answer",)


async def test_every_step_tells_what_is_left_and_changes_nothing_before(tmp_path: Path):
    provider = replies(say("", SEARCH), say("", VISIT), say("", ANSWER))
    async with bench(tmp_path, provider, web=[FakeSearch(), FakeVisit()]) as b:
        await b.run(research(steps=4))
    first, second, third = provider.views
    assert second[: len(first)] == first
    assert third[: len(second)] == second
    assert last_result(second).endswith("[Runtime notice: used 1 of 4 steps, 3 left.]")
    assert last_result(third).endswith(
        "[Runtime notice: used 2 of 4 steps, 2 left. You must answer now: call final_answer.]"
    )
    assert [message.role for message in third].count("user") == 1


async def test_the_last_step_offers_the_final_answer_alone(tmp_path: Path):
    provider = replies(say("", SEARCH), say("", ANSWER))
    async with bench(tmp_path, provider, web=[FakeSearch(), FakeVisit()]) as b:
        run = await b.run(research(steps=2))
        assert run["status"] == "complete"
        asked = [e for e in await b.service.events(run["id"]) if isinstance(e, ModelRequested)]
        assert (await b.replay(run["id"])) == run["answer"]
    assert [len(schemas) for schemas in provider.tools] == [4, 1]
    assert provider.tools[1][0].name == "final_answer"
    assert asked[0].tools_digest != asked[1].tools_digest


async def test_a_plain_text_in_the_last_step_is_the_answer(tmp_path: Path):
    provider = replies(say("", SEARCH), say("It is 321 m [1]."))
    async with bench(tmp_path, provider, web=[FakeSearch()]) as b:
        run = await b.run(research(steps=2))
    assert (run["status"], run["answer"]) == ("complete", "It is 321 m [1].")


async def test_a_search_in_the_last_step_is_refused_and_the_answer_made_without_tools(
    tmp_path: Path,
):
    def script(view: Sequence[Message]) -> Message:
        if "no more tools can be used" in view[0].text:
            return say("It is 321 m high [1].")
        return say("", call("web_search", f"s{results(view)}", query=f"q{results(view)}"))

    provider, search = FunctionProvider(script), FakeSearch()
    async with bench(tmp_path, provider, web=[search]) as b:
        run = await b.run(research(steps=3))
        events = await b.service.events(run["id"])
        assert (await b.replay(run["id"])) == run["answer"]
    assert (run["status"], run["answer"]) == ("complete", "It is 321 m high [1].")
    assert search.queries == ["q0", "q1"]
    refused = [e for e in events if isinstance(e, ToolFinished)][-1]
    assert (refused.result, refused.blocked, refused.network) == (TOO_LATE, True, False)
    assert [e.purpose for e in events if isinstance(e, ModelReplied)] == ["loop"] * 3 + ["answer"]
    system, gathered = provider.views[-1]
    assert provider.tools[-1] == []
    assert (system.role, gathered.role) == ("system", "user")
    assert "How high is the tower?" in gathered.text
    assert "About q0" in gathered.text


async def test_a_model_that_repeats_itself_is_asked_for_what_it_has(tmp_path: Path):
    def script(view: Sequence[Message]) -> Message:
        if "no more tools can be used" in view[0].text:
            return say("It is 321 m high [1].")
        return say("", call("web_search", f"s{results(view)}", query="same"))

    async with bench(tmp_path, FunctionProvider(script), web=[FakeSearch()]) as b:
        run = await b.run(research())
        assert (await b.replay(run["id"])) == run["answer"]
    assert (run["status"], run["answer"]) == ("complete", "It is 321 m high [1].")
    assert run["usage"]["steps"] == 5


async def test_where_that_answer_is_empty_the_run_says_why_it_ended(tmp_path: Path):
    def script(view: Sequence[Message]) -> Message:
        if "no more tools can be used" in view[0].text:
            return say("")
        return say("", call("web_search", f"s{results(view)}", query=f"q{results(view)}"))

    async with bench(tmp_path, FunctionProvider(script), web=[FakeSearch()]) as b:
        run = await b.run(research(steps=2))
        assert (await b.replay(run["id"])) == run["answer"]
    assert (run["status"], run["reason"]) == ("incomplete", "step_limit")
    assert "all of its 2 steps" in run["explanation"]


async def test_an_answer_without_a_search_is_asked_about_once_then_labelled(tmp_path: Path):
    async with bench(tmp_path, replies(say("It is 300 m.")), web=[FakeSearch()]) as b:
        run = await b.run(research())
        events = await b.service.events(run["id"])
        assert (await b.replay(run["id"])) == run["answer"]
    assert (run["status"], run["reason"]) == ("incomplete", "no_evidence")
    assert run["answer"] == f"{NOT_RESEARCHED}\n\nIt is 300 m."
    assert run["sources"] == []
    assert "without searching" in run["explanation"]
    [objection] = [e for e in events if isinstance(e, GuardrailObjected)]
    assert "not searched yet" in objection.text


async def test_an_objection_that_is_heeded_leads_to_a_researched_answer(tmp_path: Path):
    provider = replies(say("It is 300 m."), say("", SEARCH), say("", ANSWER))
    async with bench(tmp_path, provider, web=[FakeSearch()]) as b:
        run = await b.run(research())
    assert (run["status"], run["answer"]) == ("complete", "It is 321 m high [1].")


async def test_where_the_search_is_blocked_nobody_asks_for_another_one(tmp_path: Path):
    provider = replies(say("", SEARCH), say("", call("final_answer", answer="About 300 m.")))
    search = FakeSearch(fault="DuckDuckGo answered with a bot check.")
    async with bench(tmp_path, provider, web=[search]) as b:
        run = await b.run(research())
        events = await b.service.events(run["id"])
    assert (run["status"], run["reason"]) == ("incomplete", "no_evidence")
    assert run["answer"].startswith(NOT_RESEARCHED)
    assert "no search gave a result" in run["explanation"]
    assert not [e for e in events if isinstance(e, GuardrailObjected)]


async def test_without_a_search_engine_no_model_is_asked(tmp_path: Path):
    provider = replies(say("never"))
    async with bench(tmp_path, provider) as b:
        run = await b.run(research())
    assert (run["status"], run["reason"]) == ("incomplete", "no_evidence")
    assert "Nothing could be researched" in run["explanation"]
    assert provider.views == []


async def test_other_strategies_keep_their_last_step(tmp_path: Path):
    """Only where a strategy says so is a run asked once more for its answer."""
    provider = replies(say("", call("web_search", query="q")))
    async with bench(tmp_path, provider, web=[FakeSearch()]) as b:
        run = await b.run(ask(web=True, limits=RequestLimits(steps=1)))
    assert (run["status"], run["reason"]) == ("incomplete", "step_limit")
    assert len(provider.views) == 1


@pytest.mark.parametrize(("steps", "spare"), [(15, False), (20, False), (30, True)])
async def test_a_simple_question_is_to_leave_half_of_many_steps(
    tmp_path: Path, steps: int, spare: bool
):
    provider = replies(say("", SEARCH), say("", ANSWER))
    async with bench(tmp_path, provider, web=[FakeSearch()]) as b:
        run = await b.run(research(steps=steps))
        prompt = await prompt_of(b, run["id"])
    assert f"You have {steps} steps" in prompt.system
    assert (f"no more than {steps // 2}" in prompt.system) is spare


async def test_the_conversation_before_a_question_is_seen(tmp_path: Path):
    provider = replies(say("", SEARCH), say("", ANSWER))
    said = (user("I am in Paris."), Message(role="assistant", text="Fine."), user("How high?"))
    request = research().model_copy(update={"messages": said})
    async with bench(tmp_path, provider, web=[FakeSearch()]) as b:
        await b.run(request)
    assert [message.text for message in provider.views[0][1:]] == [m.text for m in said]
