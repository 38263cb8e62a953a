"""A16: `web_search` asks DuckDuckGo's HTML page, without a key, and reads its result rows."""

from pathlib import Path

from inglenook.events import ToolFinished
from inglenook.web.duckduckgo import DEFAULT_URL
from tests.fake_duckduckgo import FakeDuckDuckGo, organic, page
from tests.support import bench, call, replies, say
from tests.web.searching import search_tool

ROWS = page(
    organic(url="https://otters.test/", title="All about otters", snippet="They hold hands."),
    organic(url="https://seals.test/", title="Seals", snippet="They clap."),
)


def test_public_service_is_the_html_one() -> None:
    assert DEFAULT_URL == "https://html.duckduckgo.com"


async def test_results_reach_the_model_and_the_answers_sources(tmp_path: Path) -> None:
    async with FakeDuckDuckGo(ROWS) as server:
        provider = replies(
            say("", call("web_search", query="otters", recency="week")),
            say("They hold hands [1]."),
        )
        tools = [search_tool(server.url)]
        async with bench(tmp_path, provider, web=tools) as b:
            run = await b.run(web=True)
            events = await b.service.events(run["id"])
    assert (server.asked[0].form["q"], server.asked[0].form["df"]) == ("otters", "w")
    [finished] = [event for event in events if isinstance(event, ToolFinished)]
    assert "[1] All about otters\nhttps://otters.test/\nThey hold hands." in finished.result
    assert "[2] Seals\nhttps://seals.test/\nThey clap." in finished.result
    assert finished.result.startswith("Results from duckduckgo;")
    assert (finished.is_error, finished.labels) == (False, ("untrusted",))
    assert [(source.n, source.kind, source.url) for source in finished.sources] == [
        (1, "web", "https://otters.test/"),
        (2, "web", "https://seals.test/"),
    ]
    assert provider.views[1][-1].text == finished.result
