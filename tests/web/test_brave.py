"""Brave's API is asked with a key that is in one header and nowhere else."""

import logging
from typing import Any

import pytest

from inglenook.errors import ConfigError
from inglenook.web.base import Recency
from inglenook.web.brave import DEFAULT_URL, Brave
from tests.fake_brave import KEY, FakeBrave, result
from tests.web.searching import Ledger, ask, loopback

PLAIN = [result(url="https://a.test/", title="A", description="about A")]


def engine(server: FakeBrave, key: str = KEY) -> Brave:
    return Brave(loopback(), key=key, url=server.url)


def test_public_service_is_braves() -> None:
    request = Brave(loopback(), key=KEY).request("otters", recency=None)
    assert (DEFAULT_URL, request.host) == ("https://api.search.brave.com", "api.search.brave.com")


@pytest.mark.parametrize(
    ("recency", "freshness"),
    [(None, None), ("day", "pd"), ("week", "pw"), ("month", "pm"), ("year", "py")],
)
async def test_what_is_sent_is_one_get_with_the_recency_in_it(
    recency: Recency | None, freshness: str | None
) -> None:
    ledger = Ledger()
    async with FakeBrave(results=PLAIN) as server:
        searched = engine(server)
        found = await ask(searched, "sea otters & más", recency=recency, egress=ledger)
        assert ledger.requests == [searched.request("sea otters & más", recency=recency)]
    assert [each.snippet for each in found.results] == ["about A"]
    [asked] = server.asked
    fresh = {"freshness": freshness} if freshness else {}
    assert asked.query == {"q": "sea otters & más", "count": "20"} | fresh


async def test_key_is_in_its_header_alone(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    ledger, outcomes = Ledger(), list[Any]()
    async with FakeBrave(results=PLAIN) as server:
        searched = engine(server)
        outcomes.append(await ask(searched, egress=ledger))
        for status in (401, 403, 422, 429, 500):
            server.status = status
            server.body = f'{{"error": {{"code": "X", "detail": "{KEY}"}}}}'.encode()
            outcomes.append(await ask(searched, egress=ledger))
    assert server.asked[0].headers["x-subscription-token"] == KEY
    seen = [vars(searched.request("x", recency=None)), ledger.requests, ledger.entries]
    assert KEY not in repr([searched, seen, outcomes, caplog.text])


@pytest.mark.parametrize("key", ["", "  ", "canary\nX-Other: 1", "canary\x00", "canaryé"])
def test_what_cannot_be_a_key_is_refused_at_the_start(key: str) -> None:
    with pytest.raises(ConfigError, match="brave_api_key_env") as raised:
        Brave(loopback(), key=key)
    assert "canary" not in str(raised.value)


@pytest.mark.parametrize(
    ("status", "body", "outcome"),
    [
        (401, b"", "blocked"),
        (403, b"", "blocked"),
        (422, b'{"error": {"code": "SUBSCRIPTION_TOKEN_INVALID"}}', "blocked"),
        (422, b'{"errors": [{"code": "SUBSCRIPTION_TOKEN_INVALID"}]}', "blocked"),
        (422, b'{"error": {"code": "VALIDATION"}}', "markup_changed"),
        (422, b"<html>", "markup_changed"),
        (301, b"", "unreachable"),
        (503, b"", "unreachable"),
        (200, b"<html>", "markup_changed"),
        (200, b'{"type": "ErrorResponse"}', "markup_changed"),
        (200, b'{"web": {"results": [{"link": 1}]}}', "markup_changed"),
        (200, b'{"web": {"results": []}}', "no_results"),
        (200, b'{"type": "search", "query": {}, "web": []}', "no_results"),
    ],
)
async def test_failures_are_told_apart(status: int, body: bytes, outcome: str) -> None:
    async with FakeBrave(status=status, body=body) as server:
        found = await ask(engine(server))
    assert (found.outcome, found.results) == (outcome, ())
    assert found.detail.startswith("Brave Search ")


async def test_wrong_key_is_told_with_its_setting() -> None:
    async with FakeBrave(results=PLAIN) as server:
        found = await ask(engine(server, key="another"))
    assert found.outcome == "blocked"
    assert "`web.brave_api_key_env`" in found.detail


async def test_answer_without_web_results_is_no_results() -> None:
    async with FakeBrave() as server:
        assert (await ask(engine(server))).outcome == "no_results"


@pytest.mark.parametrize(("left", "reset_s"), [((0, 1500), 1), ((1, 0), 1_419_704)])
async def test_limit_tells_when_it_begins_anew(left: tuple[int, int], reset_s: int) -> None:
    async with FakeBrave(results=PLAIN, left=left) as server:
        found = await ask(engine(server))
    assert (found.outcome, found.retry_after_s) == ("blocked", reset_s)


async def test_longest_query_of_the_tool_is_one_that_the_service_takes() -> None:
    async with FakeBrave(results=PLAIN) as server:
        assert (await ask(engine(server), "a " * 199 + "ab")).outcome == "ok"
    assert len(server.asked[0].query["q"].split()) == 50
