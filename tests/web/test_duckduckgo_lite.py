"""DuckDuckGo Lite's table is read by its rows, and each way to fail has its own outcome."""

import pytest

from inglenook.web.base import Recency
from inglenook.web.duckduckgo_lite import DEFAULT_URL, DuckDuckGoLite
from tests.fake_duckduckgo import FakeDuckDuckGo
from tests.fake_duckduckgo_lite import BOT_CHECK, NO_RESULTS, ad, organic, page, unmarked_ad
from tests.web.searching import Ledger, ask, loopback


def engine(server: FakeDuckDuckGo) -> DuckDuckGoLite:
    return DuckDuckGoLite(loopback(), url=server.url)


def test_public_service_is_the_lite_one() -> None:
    request = DuckDuckGoLite(loopback()).request("otters", recency=None)
    assert (DEFAULT_URL, request.url) == (
        "https://lite.duckduckgo.com",
        "https://lite.duckduckgo.com/lite/",
    )


@pytest.mark.parametrize(
    ("recency", "df"), [(None, ""), ("day", "d"), ("week", "w"), ("month", "m"), ("year", "y")]
)
async def test_what_is_sent_is_the_pages_own_form(recency: Recency | None, df: str) -> None:
    ledger = Ledger()
    async with FakeDuckDuckGo(page(organic(url="https://a.test/", title="A"))) as server:
        searched = engine(server)
        await ask(searched, "sea otters & más", recency=recency, egress=ledger)
        assert ledger.requests == [searched.request("sea otters & más", recency=recency)]
    [asked] = server.asked
    assert (asked.method, asked.path) == ("POST", "/lite/")
    assert asked.form == {"q": "sea otters & más", "kl": "", "df": df}
    assert asked.headers["user-agent"].startswith("Inglenook/")
    assert "cookie" not in asked.headers


async def test_title_keeps_the_snippet_that_follows_it() -> None:
    rows = (
        organic(url="https://a.test/", title="A", snippet=None),
        organic(url="https://b.test/", title="B", snippet="about B"),
        organic(url="https://c.test/", title="C", snippet=None),
    )
    async with FakeDuckDuckGo(page(*rows)) as server:
        found = await ask(engine(server))
    assert [(each.title, each.snippet) for each in found.results] == [
        ("A", ""),
        ("B", "about B"),
        ("C", ""),
    ]


async def test_table_in_a_cell_of_another_is_read_once() -> None:
    row = organic(url="https://a.test/", title="A", snippet="about A")
    async with FakeDuckDuckGo(page(f"<tr><td><table>{row}</table></td></tr>")) as server:
        found = await ask(engine(server))
    assert [(each.title, each.snippet) for each in found.results] == [("A", "about A")]


async def test_ads_leave_neither_titles_nor_snippets() -> None:
    rows = (
        ad(1),
        unmarked_ad(2),
        organic(url="https://a.test/", title="A", snippet=None),
        unmarked_ad(3),
        organic(url="https://b.test/", title="B", snippet="about B"),
    )
    async with FakeDuckDuckGo(page(*rows)) as server:
        found = await ask(engine(server))
    assert [(each.title, each.snippet) for each in found.results] == [("A", ""), ("B", "about B")]


@pytest.mark.parametrize("wrapped", [True, False])
async def test_target_is_decoded_exactly_once_and_keeps_its_scheme(wrapped: bool) -> None:
    url = "http://a.test/p%20q?x=1%2B1&y=%2525&z=a+b"
    async with FakeDuckDuckGo(page(organic(url=url, title="A", wrapped=wrapped))) as server:
        found = await ask(engine(server))
    assert found.results[0].url == url


async def test_no_results_is_said_only_where_the_page_says_it() -> None:
    async with FakeDuckDuckGo(NO_RESULTS) as server:
        assert (await ask(engine(server))).outcome == "no_results"
        server.body = page(ad(1), unmarked_ad(2))
        assert (await ask(engine(server))).outcome == "no_results"
        server.body = page()
        assert (await ask(engine(server))).outcome == "markup_changed"


@pytest.mark.parametrize(
    ("status", "body", "outcome"),
    [
        (202, BOT_CHECK, "blocked"),
        (200, BOT_CHECK, "blocked"),
        (403, "", "blocked"),
        (429, "", "blocked"),
        (303, "", "unreachable"),
        (503, "", "unreachable"),
        (200, "", "markup_changed"),
        (200, "<table><tr><td>redesigned</td></tr></table>", "markup_changed"),
        (200, page(organic(url="javascript:alert(1)", title="A")), "markup_changed"),
    ],
)
async def test_failures_are_told_apart(status: int, body: str, outcome: str) -> None:
    async with FakeDuckDuckGo(body, status=status) as server:
        found = await ask(engine(server))
    assert (found.outcome, found.results) == (outcome, ())
    assert found.detail.startswith("DuckDuckGo Lite ")
