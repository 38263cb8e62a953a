"""`web_research`: a whole research task as one call, whose report comes back and nothing else."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from inglenook.agent.delegate import ChildAgent
from inglenook.agent.last_step import NOT_RESEARCHED
from inglenook.errors import ProviderError
from inglenook.events import PromptBuilt, RunStarted, ToolFinished
from inglenook.messages import Message, ToolOutput
from inglenook.run_context import RunContext
from inglenook.run_request import ApprovalRules, RequestLimits
from tests.research.web_fakes import (
    FakeSearch,
    FakeVisit,
    children_of,
    family,
    is_researcher,
    last_result,
    researcher,
    told,
)
from tests.support import (
    Bench,
    EchoTool,
    FunctionProvider,
    TextArguments,
    ask,
    bench,
    call,
    results,
    say,
)

PAGE = "The tower is 321 m high, says the page."


async def test_the_report_comes_back_and_the_pages_do_not(tmp_path: Path):
    provider = family()
    async with bench(tmp_path, provider, web=[FakeSearch(), FakeVisit(PAGE)]) as b:
        run = await b.run(ask("The Eiffel tower.", web=True))
        assert (run["status"], run["answer"]) == ("complete", "The tower: 321 m [1].")
        assert await told(b, run) == {
            "status": "ok",
            "result": "It is 321 m high [1].",
            "researched": True,
            "sources": ["[1] The page https://site.test/tower+height"],
            "is_error": False,
        }
        assert [source["url"] for source in run["sources"]] == ["https://site.test/tower+height"]
        assert run["sources"][0]["cited"]
        assert await b.replay(run["id"]) == run["answer"]
    [*_, parents_view] = [view for view in provider.views if not is_researcher(view)]
    assert not any(PAGE in message.text for message in parents_view)
    assert any(PAGE in message.text for view in provider.views for message in view)


async def test_what_it_sent_counts_as_its_parents_and_the_card_says_so(tmp_path: Path):
    async with bench(tmp_path, family(), web=[FakeSearch(), FakeVisit()]) as b:
        run = await b.run(ask(web=True))
        [card] = [e for e in await b.service.events(run["id"]) if isinstance(e, ToolFinished)]
        ledger = await b.service.egress(run["id"])
    assert card.network
    assert [entry["host"] for entry in ledger] == ["search.test", "site.test"]
    assert run["egress"]["requests"] == 2


async def test_the_end_of_the_conversation_goes_with_the_question(tmp_path: Path):
    provider = family()
    said = (
        Message(role="user", text="old " * 2_000 + "I am in Paris."),
        Message(role="assistant", text="Lovely."),
        Message(role="user", text="How high is the tower there?"),
    )
    request = ask(web=True).model_copy(update={"messages": said})
    async with bench(tmp_path, provider, web=[FakeSearch(), FakeVisit()]) as b:
        run = await b.run(request)
        [child] = await children_of(b, run["id"])
    assert isinstance(child[0], RunStarted)
    [task] = child[0].request.messages
    history, _, query = task.text.partition("\n\nCURRENT QUERY\n")
    assert query == "How high is it?"
    assert history.startswith("CONVERSATION HISTORY\n...")
    assert history.endswith("user: How high is the tower there?")
    assert "I am in Paris." in history
    assert len(history) == len("CONVERSATION HISTORY\n...") + 4_000


async def test_several_are_researched_at_the_same_time(tmp_path: Path):
    both = asyncio.Event()

    class MeetingSearch(FakeSearch):
        async def run(self, arguments: Any, run: Any) -> Any:
            if len(self.queries) == 1:
                both.set()
            return await super().run(arguments, run)

    search = MeetingSearch(held=both)
    async with bench(tmp_path, family(researcher, "one", "two"), web=[search, FakeVisit()]) as b:
        async with asyncio.timeout(60):
            run = await b.run(ask(web=True))
        assert run["status"] == "complete"
        assert len(await children_of(b, run["id"])) == 2


async def test_sources_of_two_reports_get_numbers_of_their_own(tmp_path: Path):
    def child(view: Sequence[Message]) -> Message:
        topic = view[1].text.rsplit("\n", 1)[1]
        if not results(view):
            return say("", call("web_search", query=topic))
        return say("", call("final_answer", answer=f"About {topic} [1]."))

    provider = family(child, "one", "two", answer="One [1], two [2].")
    async with bench(tmp_path, provider, web=[FakeSearch()]) as b:
        run = await b.run(ask(web=True))
        events = await b.service.events(run["id"])
    reports = {json.loads(e.result)["result"] for e in events if isinstance(e, ToolFinished)}
    numbers = {source["title"]: source["n"] for source in run["sources"]}
    assert reports == {f"About {topic} [{numbers[f'About {topic}']}]." for topic in ("one", "two")}
    assert sorted(numbers.values()) == [1, 2]


async def test_a_report_that_cites_nothing_still_names_what_it_saw(tmp_path: Path):
    def child(view: Sequence[Message]) -> Message:
        if not results(view):
            return say("", call("web_search", query="x"))
        return say("", call("final_answer", answer="It is high."))

    async with bench(tmp_path, family(child), web=[FakeSearch()]) as b:
        run = await b.run(ask(web=True))
        report = await told(b, run)
    assert report["result"] == "It is high."
    assert report["sources"] == ["[1] About x https://site.test/x"]


async def test_an_answer_without_research_says_so(tmp_path: Path):
    async with bench(tmp_path, family(lambda _: say("300 m.")), web=[FakeSearch()]) as b:
        run = await b.run(ask(web=True))
        report = await told(b, run)
    assert (report["status"], report["researched"], report["sources"]) == ("ok", False, [])
    assert report["result"] == f"{NOT_RESEARCHED}\n\n300 m."


async def test_at_its_time_limit_what_it_had_comes_back_as_an_error(tmp_path: Path):
    def child(view: Sequence[Message]) -> Message:
        if not results(view):
            return say("Looking for the tower.", call("web_search", "s", query="tower"))
        return say("", call("visit_webpage", "v", url="https://site.test/slow"))

    never = EchoTool("visit_webpage", open_world=True, go=asyncio.Event())
    limits = {"research": RequestLimits(seconds=0.3)}
    provider = family(child)
    async with bench(tmp_path, provider, web=[FakeSearch(), never], strategy_limits=limits) as b:
        run = await b.run(ask(web=True))
        report = await told(b, run)
        [child_events] = await children_of(b, run["id"])
    assert run["status"] == "complete", "the parent goes on"
    assert (report["status"], report["is_error"], report["researched"]) == ("error", True, True)
    assert "time_limit" in report["message"]
    assert "0.3 seconds" in report["message"]
    assert "Looking for the tower." in report["message"]
    assert report["sources"] == ["[1] About tower https://site.test/tower"]
    assert child_events[-1].type == "run_finished"


async def test_a_model_server_that_is_down_is_a_result_too(tmp_path: Path):
    def child(view: Sequence[Message]) -> Message:
        raise ProviderError("the server at http://127.0.0.1:1 is down")

    async with bench(tmp_path, family(child), web=[FakeSearch()]) as b:
        run = await b.run(ask(web=True))
        report = await told(b, run)
    assert run["status"] == "complete"
    assert (report["status"], report["researched"]) == ("error", False)
    assert "is down" in report["message"]


async def test_it_is_there_where_the_web_is_and_nowhere_else(tmp_path: Path):
    async def tools_of(b: Bench, **fields: Any) -> tuple[str, ...]:
        run = await b.run(ask(**fields))
        return next(
            e for e in await b.service.events(run["id"]) if isinstance(e, PromptBuilt)
        ).tools

    say_x = FunctionProvider(lambda _: say("x"))
    async with bench(tmp_path / "a", say_x, web=[FakeSearch()]) as b:
        assert "web_research" in await tools_of(b, web=True)
        assert "web_research" not in await tools_of(b)
        assert "web_research" not in await tools_of(b, web=True, approvals={"web_search": "block"})
    async with bench(tmp_path / "b", say_x) as b:
        assert "web_research" not in await tools_of(b, web=True), "no engine, no research"


async def test_no_child_can_hand_a_question_on(tmp_path: Path):
    scout = {"scout": ChildAgent(description="x", strategy="assistant", model=None, steps=3)}

    def script(view: Sequence[Message]) -> Message:
        if is_researcher(view) or any("task" in message.text for message in view[1:2]):
            return say("done")
        if not results(view):
            return say(
                "",
                call("web_research", query="q"),
                call("delegate", agent="scout", task="task"),
            )
        return say("ok")

    provider = FunctionProvider(script)
    async with bench(tmp_path, provider, web=[FakeSearch()], agents=scout) as b:
        run = await b.run(ask(web=True))
        children = await children_of(b, run["id"])
    prompts = [e for events in children for e in events if isinstance(e, PromptBuilt)]
    assert len(prompts) == 2
    for prompt in prompts:
        assert not {"web_research", "delegate"} & set(prompt.tools)


async def test_a_named_agent_can_be_a_researcher_where_the_web_is_on(tmp_path: Path):
    agents = {"web": ChildAgent(description="x", strategy="research", model=None, steps=3)}

    def script(view: Sequence[Message]) -> Message:
        if is_researcher(view):
            return researcher(view)
        return say("ok") if results(view) else say("", call("delegate", agent="web", task="height"))

    provider = FunctionProvider(script)
    async with bench(tmp_path, provider, web=[FakeSearch(), FakeVisit()], agents=agents) as b:
        run = await b.run(ask(web=True))
        assert len(await children_of(b, run["id"])) == 1
        assert last_result(provider.views[-1]) == "It is 321 m high [1]."
        off = await b.run(ask())
        assert await children_of(b, off["id"]) == []
        assert "the web, which is off in this run" in last_result(provider.views[-1])


class SecretTool(EchoTool):
    """Reads something confidential."""

    async def run(self, arguments: TextArguments, run: RunContext) -> ToolOutput:
        return replace(await super().run(arguments, run), labels=("private",))


def after_a_secret(view: Sequence[Message]) -> Message:
    if is_researcher(view):
        return researcher(view)
    match results(view):
        case 0:
            return say("", call("read_secret", text="x"))
        case 1:
            return say("", call("web_research", query="q"))
        case _:
            return say("ok")


async def test_what_was_read_is_known_above_and_below(tmp_path: Path):
    """A child begins with what its parent has read, and its parent has read what it read."""
    async with bench(
        tmp_path,
        FunctionProvider(after_a_secret),
        tools=[SecretTool("read_secret")],
        web=[FakeSearch(), FakeVisit()],
        rules=ApprovalRules(confidential="allow"),
    ) as b:
        run = await b.run(ask(web=True))
        [child] = await children_of(b, run["id"])
        [_, card] = [e for e in await b.service.events(run["id"]) if isinstance(e, ToolFinished)]
    assert isinstance(child[0], RunStarted)
    assert child[0].labels == ("private",)
    assert set(card.labels) == {"private", "untrusted"}


async def test_a_child_that_waits_for_a_person_makes_its_parent_wait_and_is_found_again(
    tmp_path: Path,
):
    search = FakeSearch()
    async with bench(
        tmp_path,
        FunctionProvider(after_a_secret),
        tools=[SecretTool("read_secret")],
        web=[search, FakeVisit()],
    ) as b:
        run = await b.run(ask(web=True))
        for asked in ("web_search", "visit_webpage"):
            assert (run["status"], run["reason"]) == ("waiting", "approval")
            [pending] = await b.service.approvals("pending")
            assert pending["call"]["name"] == asked
            assert pending["run_id"] != run["id"], "it is the child that asks"
            assert len(search.queries) == (0 if asked == "web_search" else 1)
            await b.service.decide(
                pending["run_id"], pending["call"]["id"], "approve", arguments=None, by="test"
            )
            await b.service.wait(run["id"])
            run = await b.service.get(run["id"])
        assert (run["status"], run["answer"]) == ("complete", "ok")
        assert len(await children_of(b, run["id"])) == 1
    assert len(search.queries) == 1, "nothing is searched twice"


async def test_stopping_the_parent_stops_its_researchers(tmp_path: Path):
    search = FakeSearch(held=asyncio.Event())
    async with bench(tmp_path, family(researcher, "one", "two"), web=[search]) as b:
        row = await b.service.start(ask(web=True))
        async with asyncio.timeout(60):
            while len(search.queries) < 2:
                await asyncio.sleep(0.01)
        await b.service.cancel(row.id)
        assert (await b.service.wait(row.id)).status == "cancelled"
        children = await children_of(b, row.id)
    ends = [events[-1] for events in children]
    assert [end.status for end in ends if end.type == "run_finished"] == ["cancelled"] * 2
