"""Research over the report cache, as whole runs: what is kept, what is answered, what passes by."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from inglenook.errors import ProviderError
from inglenook.events import EgressStarted, ReportReused
from inglenook.messages import Message, ToolOutput
from inglenook.run_context import RunContext
from inglenook.run_request import ApprovalRules
from inglenook.tools.base import ToolSpec
from tests.research.report_fakes import NOW, report_cache
from tests.research.web_fakes import (
    FakeSearch,
    FakeVisit,
    children_of,
    family,
    is_researcher,
    researcher,
    told,
)
from tests.support import Bench, FunctionProvider, TextArguments, ask, bench, call, results, say

QUESTION = "How high is the tower?"
Researched = dict[str, Any]


def cached(
    home: Path,
    provider: FunctionProvider,
    now: Callable[[], datetime] = lambda: NOW,
    search: FakeSearch | None = None,
) -> AbstractAsyncContextManager[Bench]:
    return bench(
        home,
        provider,
        web=[search or FakeSearch(), FakeVisit()],
        reports=lambda store: report_cache(store, now=now),
    )


async def research(b: Bench, text: str = QUESTION, **fields: Any) -> Researched:
    return await b.run(ask(text, strategy="research", web=True, **fields))


async def test_a_second_run_is_answered_without_a_model_and_without_a_request(tmp_path: Path):
    provider, search = FunctionProvider(researcher), FakeSearch()
    async with cached(tmp_path, provider, search=search) as b:
        first = await research(b)
        asked = len(provider.views)
        second = await research(b, "how high is the tower")
        events = await b.service.events(second["id"])
        assert len(provider.views) == asked
        assert len(search.queries) == 1
        assert second["status"] == "complete"
        assert second["sources"] == first["sources"]
        origin, _, answer = second["answer"].partition("\n\n")
        assert answer == first["answer"]
        assert "From the report cache, " in origin
        assert "match 100 %, asked as: How high is the tower?" in origin
        assert second["explanation"] == origin
        assert second["egress"]["requests"] == 0
        assert [event.type for event in events] == ["run_started", "report_reused", "run_finished"]
        assert await b.replay(second["id"]) == second["answer"]


async def test_a_child_is_answered_too_and_its_parent_is_told_of_the_age(tmp_path: Path):
    provider = family(researcher, QUESTION)
    async with cached(tmp_path, provider) as b:
        await b.run(ask(QUESTION, web=True))
        asked = sum(view[0].text.startswith("You are a research") for view in provider.views)
        second = await b.run(ask(QUESTION, web=True))
        again = sum(view[0].text.startswith("You are a research") for view in provider.views)
        [child] = await children_of(b, second["id"])
        result = await told(b, second)
    assert again == asked
    assert any(isinstance(event, ReportReused) for event in child)
    assert not any(isinstance(event, EgressStarted) for event in child)
    assert result["result"].startswith("From the report cache, ")
    assert result["researched"]
    assert second["status"] == "complete"


async def test_age_counts_from_the_report_not_from_its_last_use(tmp_path: Path):
    now = NOW
    provider = FunctionProvider(researcher)
    async with cached(tmp_path, provider, now=lambda: now) as b:
        await research(b)
        asked = len(provider.views)
        now += timedelta(days=20)
        await research(b)
        assert len(provider.views) == asked
        now += timedelta(days=20)
        await research(b)
        assert len(provider.views) > asked


def unresearched(view: Sequence[Message]) -> Message:
    return say("", call("final_answer", "a1", answer="From memory: 300 m."))


def uncited(view: Sequence[Message]) -> Message:
    """A search that shows something, and an answer that stands on none of it."""
    if results(view) == 0:
        return say("", call("web_search", "s1", query="tower height"))
    return say("", call("final_answer", "a1", answer="It is 300 m high."))


def never_ends(view: Sequence[Message]) -> Message:
    n = results(view)
    if "You are a research" in view[0].text and n < 40:
        return say("", call("web_search", f"s{n}", query=f"tower {n}"))
    return say("It may be 300 m [1].")


def fails(view: Sequence[Message]) -> Message:
    if results(view) == 0:
        return say("", call("visit_webpage", "v1", url="https://site.test/x"))
    raise ProviderError("The model is gone.")


@pytest.mark.parametrize("script", [unresearched, uncited, never_ends, fails])
async def test_what_is_no_whole_researched_answer_is_not_kept(
    tmp_path: Path, script: Callable[[Sequence[Message]], Message]
):
    provider = FunctionProvider(script)
    async with cached(tmp_path, provider) as b:
        await research(b)
        second = await research(b)
        assert "report_reused" not in [e.type for e in await b.service.events(second["id"])]


class SecretTool:
    spec = ToolSpec(name="secret", description="Secret.", arguments=TextArguments, effect="read")

    async def run(self, arguments: TextArguments, run: RunContext) -> ToolOutput:
        return ToolOutput(text="It is secret.", labels=("private",))


def with_secret(view: Sequence[Message]) -> Message:
    if is_researcher(view):
        return researcher(view)
    return say("Read.") if results(view) else say("", call("secret", "x1"))


async def test_a_private_conversation_neither_asks_nor_fills_the_cache(tmp_path: Path):
    provider = FunctionProvider(with_secret)
    async with bench(
        tmp_path,
        provider,
        tools=[SecretTool()],
        web=[FakeSearch(), FakeVisit()],
        rules=ApprovalRules(confidential="allow"),
        reports=report_cache,
    ) as b:
        await research(b)
        await b.run(ask("hello", session="s"))
        run = await research(b, session="s")
        assert run["status"] == "complete"
        assert "report_reused" not in [e.type for e in await b.service.events(run["id"])]
        other = await research(b, "Another question about bridges", session="s")
        assert other["status"] == "complete"
        assert len(await b.store.cache_unembedded("research", "m", 10)) == 1


async def test_another_user_or_conversation_has_its_own_reports(tmp_path: Path):
    provider = FunctionProvider(researcher)
    async with cached(tmp_path, provider) as b:
        await research(b, user="ann")
        others: list[dict[str, Any]] = [
            {"user": "eve"},
            {"user": "ann", "tools": ("web_search", "visit_webpage", "final_answer")},
        ]
        for other in others:
            run = await research(b, **other)
            assert "report_reused" not in [e.type for e in await b.service.events(run["id"])]
        again = await research(b, user="ann")
        assert "report_reused" in [e.type for e in await b.service.events(again["id"])]


async def test_without_a_cache_every_run_researches(tmp_path: Path):
    provider = FunctionProvider(researcher)
    async with bench(tmp_path, provider, web=[FakeSearch(), FakeVisit()]) as b:
        await research(b)
        asked = len(provider.views)
        await research(b)
        assert len(provider.views) == 2 * asked


async def test_erasing_a_run_takes_its_report_out_of_the_cache(tmp_path: Path):
    provider = FunctionProvider(researcher)
    async with bench(
        tmp_path,
        provider,
        web=[FakeSearch(), FakeVisit()],
        reports=lambda store: report_cache(store, now=lambda: datetime.now(UTC)),
    ) as b:
        first = await research(b)
        await b.service.erase(first["id"])
        run = await research(b)
        assert "report_reused" not in [e.type for e in await b.service.events(run["id"])]
