"""SearXNG is asked for JSON, and what its operator has to set is said."""

from base64 import b64encode
from typing import Any

import pytest

from inglenook.errors import ConfigError
from inglenook.web.base import Recency
from inglenook.web.searxng import SearXNG
from tests.fake_searxng import FakeSearXNG, result
from tests.web.searching import Ledger, ask, loopback


def engine(server: FakeSearXNG, path: str = "") -> SearXNG:
    return SearXNG(loopback(), url=server.url + path)


@pytest.mark.parametrize("recency", [None, "day", "week", "month", "year"])
async def test_what_is_sent_is_one_get_with_the_recency_in_it(recency: Recency | None) -> None:
    ledger = Ledger()
    async with FakeSearXNG(results=[result(url="https://a.test/", title="A")]) as server:
        searched = engine(server)
        found = await ask(searched, "sea otters & más", recency=recency, egress=ledger)
        assert ledger.requests == [searched.request("sea otters & más", recency=recency)]
    assert found.outcome == "ok"
    [asked] = server.asked
    time = {"time_range": recency} if recency else {}
    assert asked.query == {"q": "sea otters & más", "format": "json"} | time
    assert (asked.method, asked.path, asked.form) == ("GET", "/search", {})


@pytest.mark.parametrize(
    ("written", "path", "kept"),
    [
        ("", "/search", {}),
        ("/", "/search", {}),
        ("/search", "/search", {}),
        ("/searxng/", "/searxng/search", {}),
        ("/search?q=<query>", "/search", {}),
        ("/search?q=%3Cquery%3E&format=html", "/search", {}),
        ("/searxng/search?q=<query>&language=de", "/searxng/search", {"language": "de"}),
    ],
)
async def test_addresses_are_taken_as_people_write_them(
    written: str, path: str, kept: dict[str, str]
) -> None:
    async with FakeSearXNG(results=[result(url="https://a.test/", title="A")]) as server:
        assert (await ask(engine(server, written))).outcome == "ok"
    assert server.asked[0].path == path
    assert server.asked[0].query == {"q": "otters", "format": "json"} | kept


async def test_user_and_password_are_in_a_header_and_nowhere_else() -> None:
    ledger = Ledger()
    async with FakeSearXNG(results=[result(url="https://a.test/", title="A")]) as server:
        url = server.url.replace("//", "//me:pa%24s@")
        await ask(SearXNG(loopback(), url=url), egress=ledger)
    given = "Basic " + b64encode(b"me:pa$s").decode()
    assert server.asked[0].headers["authorization"] == given
    assert "pa" not in ledger.requests[0].url


@pytest.mark.parametrize(
    "url", ["", "searx", "ftp://me:canary@h/", "http://me:canary@", "http://[", "http://h:99999"]
)
def test_what_is_no_address_is_told_without_its_password(url: str) -> None:
    with pytest.raises(ConfigError, match=r"web\.searxng_url") as raised:
        SearXNG(loopback(), url=url)
    assert "canary" not in str(raised.value)


async def test_json_that_is_not_enabled_is_told_with_its_setting() -> None:
    async with FakeSearXNG(formats=("html",)) as server:
        found = await ask(engine(server))
    assert found.outcome == "blocked"
    assert "`search.formats: [html, json]`" in found.detail


async def test_results_keep_order_and_leave_out_what_leads_nowhere() -> None:
    rows: list[Any] = [
        result(url="https://a.test/", title="A", content="about A"),
        result(url="javascript:alert(1)", title="bad"),
        result(url="https://b.test/", title=" "),
        {"title": "no address"},
        {"title": None, "url": 5, "content": []},
        "not even an object",
        result(url="http://c.test/x y", title="C\n1"),
        result(url="https://d.test/", title="D"),
    ]
    async with FakeSearXNG(results=rows) as server:
        found = await ask(engine(server), limit=2)
    assert [(each.title, each.url, each.snippet) for each in found.results] == [
        ("A", "https://a.test/", "about A"),
        ("C 1", "http://c.test/x%20y", ""),
    ]


async def test_silent_engines_are_told_beside_results() -> None:
    silent = [["brave", "Suspended: too many requests"], ["duckduckgo", "CAPTCHA"]]
    rows = [result(url="https://a.test/", title="A")]
    async with FakeSearXNG(results=rows, unresponsive=silent) as server:
        found = await ask(engine(server))
    assert found.outcome == "ok"
    assert "brave: Suspended: too many requests, duckduckgo: CAPTCHA" in found.detail


async def test_nothing_from_silent_engines_is_not_called_no_results() -> None:
    silent = [[f"engine{n}", "timeout " + "x" * 900] for n in range(40)]
    async with FakeSearXNG(unresponsive=silent) as server:
        found = await ask(engine(server))
        assert found.outcome == "unreachable"
        assert "engine4" in found.detail
        assert "and 35 more" in found.detail
        assert len(found.detail) < 600
        server.unresponsive = []
        assert (await ask(engine(server))).outcome == "no_results"


@pytest.mark.parametrize(
    ("status", "body", "outcome"),
    [
        (429, b"", "blocked"),
        (302, b"", "unreachable"),
        (500, b"", "unreachable"),
        (200, b"<!doctype html><title>Making sure you're not a bot!</title>", "markup_changed"),
        (200, b'{"error": "No query"}', "markup_changed"),
        (200, b'{"results": {}}', "markup_changed"),
        (200, b'{"results": [{"link": "https://a.test/"}]}', "markup_changed"),
        (200, b"[" * 100_000, "markup_changed"),
        (200, b'{"results": [], "unresponsive_engines": {"a": 1}}', "no_results"),
    ],
)
async def test_failures_are_told_apart(status: int, body: bytes, outcome: str) -> None:
    async with FakeSearXNG(status=status, body=body) as server:
        found = await ask(engine(server))
    assert (found.outcome, found.results) == (outcome, ())
    assert found.detail.startswith("SearXNG ")


async def test_time_of_its_next_answer_is_taken_over() -> None:
    async with FakeSearXNG(status=429, headers={"Retry-After": "120"}) as server:
        assert (await ask(engine(server))).retry_after_s == 120
        server.headers = {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}
        assert (await ask(engine(server))).retry_after_s is None
