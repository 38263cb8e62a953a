"""N16: blocked, nothing found and unreadable are told apart, to the model and on the page, and an
engine that failed is left alone while others answer."""

from pathlib import Path
from typing import Any

from inglenook.events import EgressStarted, ToolFinished
from inglenook.tools.web import WebSearchTool
from inglenook.web.health import Health
from inglenook.web.search import SearchService, WebState
from tests.api.serving import serve
from tests.fake_duckduckgo import NO_RESULTS, FakeDuckDuckGo
from tests.fake_web import FakeWeb
from tests.support import bench, call, replies, say
from tests.web.kinds import KINDS
from tests.web.test_health import Clock

HTML, LITE, SEARXNG, _ = KINDS


async def searches(home: Path, search: SearchService, count: int) -> tuple[list[str], Any]:
    """The results of so many searches in one run, and what a page is told of the engines then."""
    calls = [say("", call("web_search", f"c{n}", query=f"otters {n}")) for n in range(count)]
    provider = replies(*calls, say("done"))
    async with bench(home, provider, web=[WebSearchTool(search)]) as b:
        run = await b.run(web=True)
        events = await b.service.events(run["id"])

        def state() -> WebState:
            return WebState(
                engines=search.statuses(),
                web_search="allow",
                confidential="ask",
                browser="off",
                cache=False,
            )

        async with serve(b, web=state) as client:
            told = (await client.get("/api/web")).json["engines"]
    sent = [event for event in events if isinstance(event, EgressStarted)]
    assert run["egress"]["requests"] == len(sent)
    return [event.result for event in events if isinstance(event, ToolFinished)], told


def over(clock: Clock, *servers: FakeWeb) -> SearchService:
    engines = [kind.engine(each.url) for kind, each in zip(KINDS, servers, strict=False)]
    return SearchService(engines, Health(clock))


async def test_failed_engines_are_told_and_the_first_that_answers_is_believed(
    tmp_path: Path,
) -> None:
    rows = [("Otters", "https://otters.test/", "")]
    async with HTML.blocked() as html, LITE.changed() as lite, SEARXNG.serve(rows) as searxng:
        results, told = await searches(tmp_path, over(Clock(), html, lite, searxng), 2)
    first, second = results
    assert first.startswith("DuckDuckGo took this machine for a robot")
    assert "DuckDuckGo Lite answered, but there were no results parsed" in first
    assert "Results from searxng;" in first
    assert second.startswith("Results from searxng;")
    assert [len(each.asked) for each in (html, lite, searxng)] == [1, 1, 2]
    assert [(each["name"], each["state"]) for each in told] == [
        ("duckduckgo", "blocked"),
        ("duckduckgo-lite", "markup_changed"),
        ("searxng", "ok"),
    ]
    assert told[0]["retry_at"] > told[1]["retry_at"] > told[0]["since"]


async def test_nothing_found_is_an_answer_and_asks_nobody_else(tmp_path: Path) -> None:
    async with FakeDuckDuckGo(NO_RESULTS) as html, LITE.blocked() as lite:
        [result], told = await searches(tmp_path, over(Clock(), html, lite), 1)
    assert "found nothing for this query" in result
    assert lite.asked == []
    assert [each["state"] for each in told] == ["ok", "ok"]
    assert (told[0]["retry_at"], told[1]["since"]) == (None, None)


async def test_engines_that_all_rest_are_asked_again_in_their_time(tmp_path: Path) -> None:
    clock = Clock()
    async with HTML.blocked() as html, LITE.changed() as lite:
        search = over(clock, html, lite)
        results, _ = await searches(tmp_path / "1", search, 2)
        assert "nothing was sent" in results[1]
        assert "The next search is sent from 2031-02-03 12:05:00 UTC on." in results[1]
        assert (len(html.asked), len(lite.asked)) == (1, 1)
        clock.pass_s(300)
        await searches(tmp_path / "2", search, 1)
        assert (len(html.asked), len(lite.asked)) == (1, 2)
