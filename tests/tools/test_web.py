"""`web_search` over real engines: what it says it would send is what it sends, approved or not."""

from dataclasses import replace
from pathlib import Path

import pytest

from inglenook.errors import NotApproved, ToolError
from inglenook.events import EgressStarted, ToolFinished
from inglenook.run_context import RunContext
from inglenook.tools.web import WebSearchArguments, WebSearchTool
from tests.fake_duckduckgo import FakeDuckDuckGo
from tests.knowledge.fakes import ListSink, run_context
from tests.support import bench, call, replies, say
from tests.web.kinds import KINDS
from tests.web.searching import service

ARGUMENTS = WebSearchArguments(query="sea otters & más", recency="month")
ROWS = [("Otters", "https://otters.test/", "They hold hands.")]
HTML, LITE, SEARXNG, BRAVE = KINDS


def approved(tool: WebSearchTool, hosts: tuple[str, ...]) -> RunContext:
    """A run in which a person approved those of the call's requests that go to `hosts`."""
    digests = {each.sha256 for each in tool.outgoing(ARGUMENTS) if each.url.startswith(hosts)}
    return replace(run_context(ListSink()), approved=frozenset(digests))


async def test_fallback_within_what_was_approved_goes_on() -> None:
    async with HTML.blocked() as html, BRAVE.serve(ROWS) as brave:
        tool = WebSearchTool(service(HTML.engine(html.url), BRAVE.engine(brave.url)))
        run = approved(tool, (html.url, brave.url))
        output = await tool.run(ARGUMENTS, run)
    assert "Results from brave;" in output.text
    assert output.labels == ("untrusted",)
    assert isinstance(run.sink, ListSink)
    sent = [event for event in run.sink.events if isinstance(event, EgressStarted)]
    told = [(each.method, each.host, each.path) for each in tool.outgoing(ARGUMENTS)]
    assert [(event.method, event.host, event.path) for event in sent] == told


async def test_fallback_beyond_what_was_approved_stops_and_says_so() -> None:
    async with HTML.blocked() as html, BRAVE.serve(ROWS) as brave:
        tool = WebSearchTool(service(HTML.engine(html.url), BRAVE.engine(brave.url)))
        with pytest.raises(ToolError, match="brave was not asked in its place") as raised:
            await tool.run(ARGUMENTS, approved(tool, (html.url,)))
    assert not isinstance(raised.value, NotApproved), "something was sent"
    assert brave.asked == []


async def test_call_of_which_nothing_was_approved_sends_nothing() -> None:
    async with HTML.serve(ROWS) as html:
        tool = WebSearchTool(service(HTML.engine(html.url)))
        with pytest.raises(NotApproved):
            await tool.run(ARGUMENTS, approved(tool, ()))
    assert html.asked == []


async def test_call_that_sent_nothing_is_not_marked_as_leaving(tmp_path: Path) -> None:
    async with LITE.blocked() as lite:
        tool = WebSearchTool(service(LITE.engine(lite.url)))
        steps = [say("", call("web_search", f"c{n}", query=f"otters {n}")) for n in range(2)]
        async with bench(tmp_path, replies(*steps, say("done")), web=[tool]) as b:
            run = await b.run(web=True)
            events = await b.service.events(run["id"])
    cards = [event for event in events if isinstance(event, ToolFinished)]
    assert [(card.is_error, card.network) for card in cards] == [(True, True), (True, False)]


async def test_sources_share_the_number_of_what_was_found_before() -> None:
    async with FakeDuckDuckGo() as nothing, SEARXNG.serve(ROWS) as searxng:
        run = run_context(ListSink())
        tool = WebSearchTool(service(SEARXNG.engine(searxng.url)))
        first, again = await tool.run(ARGUMENTS, run), await tool.run(ARGUMENTS, run)
        none = await WebSearchTool(service(HTML.engine(nothing.url))).run(ARGUMENTS, run)
    assert [source.n for source in (*first.sources, *again.sources)] == [1, 1]
    assert "[1] Otters\nhttps://otters.test/\nThey hold hands." in first.text
    assert (none.text, none.sources) == (
        "DuckDuckGo found nothing for this query; other words may help.",
        (),
    )
