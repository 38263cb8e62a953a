"""B053: markup inside a title or snippet adds and takes no space, and http stays http."""

from inglenook.web.duckduckgo import DuckDuckGo
from tests.fake_duckduckgo import FakeDuckDuckGo, organic, page
from tests.web.searching import Ledger, loopback


async def test_text_reads_as_on_the_page() -> None:
    row = organic(
        url="http://insecure.test/a",
        title="The <b>Python</b> 3 &amp; 4 guide",
        snippet="Learn <b>Python</b>fast and <b>well</b>.",
    )
    async with FakeDuckDuckGo(page(row)) as server:
        found = await DuckDuckGo(loopback(), url=server.url).search(
            "x", recency=None, limit=5, egress=Ledger()
        )
    [result] = found.results
    assert result.title == "The Python 3 & 4 guide"
    assert result.snippet == "Learn Pythonfast and well."
    assert result.url == "http://insecure.test/a"
