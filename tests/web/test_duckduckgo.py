"""DuckDuckGo's page is read row by row, and each way to fail has its own outcome."""

import asyncio
import socket

import pytest

from inglenook.web import search_engine
from inglenook.web.addresses import AddressPolicy
from inglenook.web.base import Recency, SearchOutcome
from inglenook.web.duckduckgo import DuckDuckGo
from inglenook.web.http import HttpTransport
from tests.fake_duckduckgo import BOT_CHECK, NO_RESULTS, FakeDuckDuckGo, ad, organic, page
from tests.web.searching import Ledger, ask, loopback


async def search(
    server: FakeDuckDuckGo, query: str = "otters", *, recency: Recency | None = None, limit: int = 8
) -> SearchOutcome:
    engine = DuckDuckGo(loopback(), url=server.url)
    return await ask(engine, query, recency=recency, limit=limit)


async def test_query_is_sent_as_the_pages_own_form() -> None:
    async with FakeDuckDuckGo(page(organic(url="https://a.test/", title="A"))) as server:
        await search(server, "sea otters & más")
        await search(server, recency="month")
    first, second = server.asked
    assert first.form == {"q": "sea otters & más", "b": "", "l": "", "s": "0", "df": ""}
    assert second.form["df"] == "m"
    assert first.headers["user-agent"].startswith("Inglenook/")
    assert "cookie" not in second.headers


@pytest.mark.parametrize(
    ("recency", "df"), [("day", "d"), ("week", "w"), ("month", "m"), ("year", "y")]
)
async def test_recency_becomes_the_date_filter(recency: Recency, df: str) -> None:
    async with FakeDuckDuckGo() as server:
        await search(server, recency=recency)
        assert server.asked[0].form["df"] == df


async def test_title_keeps_its_own_rows_snippet() -> None:
    rows = (
        organic(url="https://a.test/", title="A"),
        organic(url="https://b.test/", title="B", snippet="about B"),
    )
    rows = (rows[0].replace('class="result__snippet"', 'class="other"'), rows[1])
    async with FakeDuckDuckGo(page(*rows)) as server:
        found = await search(server)
    assert [(each.title, each.snippet) for each in found.results] == [("A", ""), ("B", "about B")]


async def test_target_is_decoded_exactly_once() -> None:
    url = "https://a.test/p%20q?x=1%2B1&y=%2525&z=a+b"
    async with FakeDuckDuckGo(page(organic(url=url, title="A"))) as server:
        found = await search(server)
    assert found.results[0].url == url


async def test_only_the_services_own_links_are_unwrapped() -> None:
    url = "https://a.test/l/?uddg=https%3A%2F%2Fb.test%2F"
    async with FakeDuckDuckGo(page(organic(url=url, title="A", wrapped=False))) as server:
        found = await search(server)
    assert found.results[0].url == url


async def test_links_that_are_no_web_addresses_are_left_out() -> None:
    rows = (
        organic(url="javascript:alert(1)", title="bad"),
        organic(url="https://a.test/", title="  "),
        organic(url="http://[", title="broken"),
        organic(url="http://[", title="broken", wrapped=False),
        organic(url="https://b.test/", title="good", wrapped=False),
    )
    async with FakeDuckDuckGo(page(*rows)) as server:
        found = await search(server)
    assert [each.url for each in found.results] == ["https://b.test/"]


async def test_no_results_is_said_only_where_the_page_says_it() -> None:
    async with FakeDuckDuckGo(NO_RESULTS) as server:
        assert (await search(server)).outcome == "no_results"
        server.body = page(ad(1), ad(2))
        assert (await search(server)).outcome == "no_results"
        server.body = page()
        assert (await search(server)).outcome == "markup_changed"


@pytest.mark.parametrize(
    ("status", "body", "outcome"),
    [
        (202, "", "blocked"),
        (200, BOT_CHECK, "blocked"),
        (403, "", "blocked"),
        (429, "", "blocked"),
        (500, "", "unreachable"),
        (200, "<html><body><article>redesigned</article></body></html>", "markup_changed"),
        (200, "", "markup_changed"),
        (200, page("x" * (2 << 20)), "markup_changed"),
    ],
)
async def test_failures_are_told_apart(status: int, body: str, outcome: str) -> None:
    async with FakeDuckDuckGo(body, status=status) as server:
        found = await search(server)
    assert (found.outcome, found.results) == (outcome, ())
    assert found.detail.startswith("DuckDuckGo ")


async def test_page_about_the_bot_check_is_no_bot_check() -> None:
    row = organic(url="https://a.test/", title="What is anomaly.js?", snippet="anomaly-modal__mask")
    async with FakeDuckDuckGo(page(row)) as server:
        assert (await search(server)).outcome == "ok"


async def test_redirects_are_not_followed() -> None:
    async with FakeDuckDuckGo(page(organic(url="https://a.test/", title="A"))) as other:
        moved = {"Location": f"{other.url}/html/"}
        async with FakeDuckDuckGo("", status=307, headers=moved) as server:
            found = await search(server)
        assert other.asked == []
    assert found.outcome == "unreachable"
    assert "307" in found.detail


async def test_slow_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_engine, "TIMEOUT_S", 0.05)
    async with FakeDuckDuckGo(is_silent=True) as server:
        found = await search(server)
    assert found.outcome == "unreachable"


async def test_nobody_there_is_unreachable_and_on_the_ledger_as_not_sent() -> None:
    ledger = Ledger()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: refused for sure
        engine = DuckDuckGo(loopback(), url=f"http://127.0.0.1:{taken.getsockname()[1]}")
        found = await ask(engine, "x", egress=ledger)
    assert found.outcome == "unreachable"
    assert ledger.entries == [
        ("POST", "127.0.0.1", "/html/", len("/html/q=x&b=&l=&s=0&df=")),
        (1, None, 0, False),
    ]


class EmptyDirectory:
    """A `Resolver` that knows no name."""

    async def resolve(self, host: str, port: int) -> list[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


async def test_a_name_that_nobody_knows_sends_nothing() -> None:
    ledger = Ledger()
    transport = HttpTransport(AddressPolicy(), resolver=EmptyDirectory())
    found = await ask(DuckDuckGo(transport, url="http://search.test"), egress=ledger)
    assert found.outcome == "unreachable"
    assert not any(entry[-1] for entry in ledger.entries[1:]), "sent"


async def test_a_connection_that_breaks_after_the_question_has_sent_it() -> None:
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"df=")
        writer.close()

    server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        ledger = Ledger()
        engine = DuckDuckGo(loopback(), url=f"http://127.0.0.1:{port}")
        found = await ask(engine, "x", egress=ledger)
    assert found.outcome == "unreachable"
    assert ledger.entries[1] == (1, None, 0, True)


async def test_ledger_counts_what_the_request_says_and_the_answers_bytes() -> None:
    ledger = Ledger()
    async with FakeDuckDuckGo(NO_RESULTS) as server:
        await ask(DuckDuckGo(loopback(), url=server.url), "é", egress=ledger)
        assert ledger.entries[0][3] == server.asked[0].size_bytes
    assert ledger.entries[1] == (1, 200, len(NO_RESULTS.encode()), True)
