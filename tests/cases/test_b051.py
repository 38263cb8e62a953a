"""B051: ads are dropped before the limit, and targets are the pages themselves."""

from inglenook.web.duckduckgo import DuckDuckGo
from tests.fake_duckduckgo import FakeDuckDuckGo, ad, organic, page, unmarked_ad
from tests.web.searching import Ledger, loopback


async def test_five_organic_results_behind_three_ads() -> None:
    ads = (ad(1), ad(2), unmarked_ad(3))
    rows = [organic(url=f"https://site{n}.test/a?b={n}", title=f"Site {n}") for n in range(1, 7)]
    async with FakeDuckDuckGo(page(*ads, *rows)) as server:
        found = await DuckDuckGo(loopback(), url=server.url).search(
            "x", recency=None, limit=5, egress=Ledger()
        )
    assert [each.url for each in found.results] == [
        f"https://site{n}.test/a?b={n}" for n in range(1, 6)
    ]
