"""B42: how new results may be is an argument, rows are read one by one, and ads skipped."""

import pytest

from inglenook.web.base import Recency
from inglenook.web.duckduckgo_lite import DuckDuckGoLite
from tests.fake_duckduckgo import FakeDuckDuckGo
from tests.fake_duckduckgo_lite import ad, organic, page
from tests.web.searching import ask, loopback


@pytest.mark.parametrize(
    ("recency", "df"), [(None, ""), ("day", "d"), ("week", "w"), ("month", "m"), ("year", "y")]
)
async def test_recency_and_rows_of_the_lite_page(recency: Recency | None, df: str) -> None:
    rows = (
        ad(1),
        organic(url="https://a.test/", title="A", snippet=None),
        organic(url="https://b.test/", title="B", snippet="about B"),
    )
    async with FakeDuckDuckGo(page(*rows)) as server:
        found = await ask(DuckDuckGoLite(loopback(), url=server.url), recency=recency)
    assert server.asked[0].form["df"] == df
    assert [(each.title, each.snippet) for each in found.results] == [("A", ""), ("B", "about B")]
