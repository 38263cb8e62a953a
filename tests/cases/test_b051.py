"""B051: ads are dropped before the limit, and targets are the pages themselves."""

from inglenook.web.duckduckgo import DuckDuckGo
from inglenook.web.duckduckgo_lite import DuckDuckGoLite
from tests import fake_duckduckgo, fake_duckduckgo_lite
from tests.fake_duckduckgo import FakeDuckDuckGo
from tests.web.kinds import Kind, every_kind
from tests.web.searching import ask, loopback

TARGETS = [f"https://site{n}.test/a?b={n}" for n in range(1, 7)]


async def test_five_organic_results_behind_three_ads() -> None:
    ads = (fake_duckduckgo.ad(1), fake_duckduckgo.ad(2), fake_duckduckgo.unmarked_ad(3))
    rows = [fake_duckduckgo.organic(url=url, title="Site") for url in TARGETS]
    async with FakeDuckDuckGo(fake_duckduckgo.page(*ads, *rows)) as server:
        found = await ask(DuckDuckGo(loopback(), url=server.url), limit=5)
    assert [each.url for each in found.results] == TARGETS[:5]


async def test_five_organic_results_behind_three_ads_of_the_lite_page() -> None:
    ads = (
        fake_duckduckgo_lite.ad(1),
        fake_duckduckgo_lite.ad(2),
        fake_duckduckgo_lite.unmarked_ad(3),
    )
    rows = [fake_duckduckgo_lite.organic(url=url, title="Site") for url in TARGETS]
    async with FakeDuckDuckGo(fake_duckduckgo_lite.page(*ads, *rows)) as server:
        found = await ask(DuckDuckGoLite(loopback(), url=server.url), limit=5)
    assert [each.url for each in found.results] == TARGETS[:5]


@every_kind
async def test_what_leads_nowhere_takes_no_place_of_the_limit(kind: Kind) -> None:
    rows = [("Run it", "javascript:alert(1)", ""), ("", "https://untitled.test/", "")] * 3
    async with kind.serve([*rows, *(("Site", url, "") for url in TARGETS)]) as server:
        found = await ask(kind.engine(server.url), limit=5)
    assert [each.url for each in found.results] == TARGETS[:5]
