"""B28: a search posts to DuckDuckGo Lite and unwraps its results, a few in 10 seconds."""

from inglenook.tools.web import MAX_RESULTS
from inglenook.web.duckduckgo_lite import DEFAULT_URL, PATH, DuckDuckGoLite
from inglenook.web.search_engine import TIMEOUT_S
from tests.fake_duckduckgo import FakeDuckDuckGo
from tests.fake_duckduckgo_lite import organic, page
from tests.web.searching import ask, loopback


async def test_lite_page_gives_unwrapped_results() -> None:
    rows = [organic(url=f"https://a.test/{n}?x=%20", title=f"Site {n}") for n in range(30)]
    async with FakeDuckDuckGo(page(*rows)) as server:
        found = await ask(DuckDuckGoLite(loopback(), url=server.url), limit=MAX_RESULTS)
    assert (server.asked[0].method, server.asked[0].path) == ("POST", "/lite/")
    assert [each.url for each in found.results] == [
        f"https://a.test/{n}?x=%20" for n in range(MAX_RESULTS)
    ]


def test_public_address_and_limits() -> None:
    assert (DEFAULT_URL + PATH, TIMEOUT_S) == ("https://lite.duckduckgo.com/lite/", 10)
    assert MAX_RESULTS <= 10
