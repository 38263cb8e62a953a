"""A search goes to the engines in order; one that fails is passed over, told, and rests."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from inglenook.egress import Egress, OutgoingRequest
from inglenook.errors import NotApproved
from inglenook.web.base import Outcome, Recency, SearchOutcome, SearchResult
from inglenook.web.health import Health
from inglenook.web.search import SearchService
from tests.web.searching import Ledger, ask
from tests.web.test_health import Clock

FOUND = (SearchResult(title="A", url="https://a.test/", snippet=""),)


@dataclass
class ScriptedEngine:
    """Gives its outcomes one after the other, the last one again and again."""

    name: str
    outcomes: list[Outcome]
    queries: list[str] = field(default_factory=list[str])

    def request(self, query: str, *, recency: Recency | None) -> OutgoingRequest:
        return OutgoingRequest(method="GET", url=f"https://{self.name}.test/?q={query}&t={recency}")

    async def search(
        self, query: str, *, recency: Recency | None, limit: int, egress: Egress
    ) -> SearchOutcome:
        n = await egress.started(self.request(query, recency=recency))
        self.queries.append(query)
        egress.finished(n, status=200, bytes_in=0, sent=True)
        outcome = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]
        return SearchOutcome(
            outcome=outcome,
            engine=self.name,
            results=FOUND[:limit] if outcome == "ok" else (),
            detail="" if outcome == "ok" else f"{self.name} was {outcome}.",
        )


def engines(*outcomes: Outcome | list[Outcome]) -> Sequence[ScriptedEngine]:
    listed: list[list[Outcome]] = [[each] if isinstance(each, str) else each for each in outcomes]
    return [ScriptedEngine(f"e{n}", each) for n, each in enumerate(listed, 1)]


def over(engines: Sequence[ScriptedEngine], clock: Clock | None = None) -> SearchService:
    return SearchService(engines, Health(clock or Clock()))


def asked(engines: Sequence[ScriptedEngine]) -> list[int]:
    return [len(engine.queries) for engine in engines]


@pytest.mark.parametrize("answer", ["ok", "no_results"])
async def test_engine_that_answered_is_believed(answer: Outcome) -> None:
    both = engines(answer, "ok")
    found = await ask(over(both))
    assert (found.outcome, found.engine) == (answer, "e1")
    assert asked(both) == [1, 0]


@pytest.mark.parametrize("failure", ["blocked", "markup_changed", "unreachable"])
async def test_failed_engine_is_told_and_the_next_one_asked(failure: Outcome) -> None:
    three = engines(failure, "ok", "ok")
    found = await ask(over(three))
    assert (found.outcome, found.engine, found.results) == ("ok", "e2", FOUND)
    assert found.detail == f"e1 was {failure}."
    assert asked(three) == [1, 1, 0]


async def test_every_outcome_is_told_in_order_with_what_to_do() -> None:
    found = await ask(over(engines("unreachable", "blocked", "markup_changed")))
    assert (found.outcome, found.engine) == ("blocked", "e2")
    assert found.detail == (
        "e1 was unreachable. e2 was blocked. e3 was markup_changed. The next search is sent from "
        "2031-02-03 12:00:30 UTC on. Rephrasing the query will not help. Do not search again in "
        "this run; answer without the web and say that the search was blocked."
    )


async def test_resting_engine_is_passed_over_until_its_time_has_come() -> None:
    clock, both = Clock(), engines(["unreachable", "ok"], "ok")
    service = over(both, clock)
    await ask(service)
    assert (await ask(service)).engine == "e2"
    assert asked(both) == [1, 2]
    clock.pass_s(30)
    assert (await ask(service)).engine == "e1"
    assert asked(both) == [2, 2]


async def test_nothing_is_sent_where_all_rest_and_the_time_is_told() -> None:
    ledger, both = Ledger(), engines("blocked", "unreachable")
    service = over(both)
    await ask(service)
    found = await ask(service, egress=ledger)
    assert ledger.requests == []
    assert asked(both) == [1, 1]
    assert (found.outcome, found.engine, found.results) == ("blocked", "e1", ())
    assert found.detail.startswith(
        "Earlier: e1 was blocked. Earlier: e2 was unreachable. Every search engine rests after a "
        "failure, and nothing was sent. The next search is sent from 2031-02-03 12:00:30 UTC on. "
    )


async def test_engine_that_rests_is_told_beside_one_that_fails_now() -> None:
    clock, both = Clock(), engines("blocked", ["ok", "unreachable"])
    service = over(both, clock)
    await ask(service)
    found = await ask(service)
    assert found.detail.startswith("e2 was unreachable. Earlier: e1 was blocked. ")
    assert asked(both) == [1, 2]


async def test_requests_are_those_of_all_engines_in_order() -> None:
    both = engines("blocked", "ok")
    service, ledger = over(both), Ledger()
    for _ in range(2):  # those of an engine that rests too: it may be asked when a person decides
        requests = service.requests("otters", recency="week")
        assert [each.url for each in requests] == [
            "https://e1.test/?q=otters&t=week",
            "https://e2.test/?q=otters&t=week",
        ]
        await ask(service, recency="week", egress=ledger)
        assert set(ledger.requests) <= set(requests)


async def test_second_engine_without_approval_stops_the_fallback() -> None:
    three = engines("blocked", "ok", "ok")
    found = await ask(over(three), egress=Ledger(refused=("e2.test",)))
    assert asked(three) == [1, 0, 0]
    assert (found.outcome, found.engine) == ("blocked", "e1")
    assert "e2 was not asked in its place: nobody approved that." in found.detail
    assert "Rephrasing the query will not help." in found.detail


async def test_first_engine_without_approval_is_the_callers_affair() -> None:
    both = engines("ok", "ok")
    service = over(both)
    with pytest.raises(NotApproved):
        await ask(service, egress=Ledger(refused=("e1.test",)))
    assert asked(both) == [0, 0]
    assert [each.health.since for each in service.statuses()] == [None, None]


async def test_statuses_send_nothing_and_name_hosts() -> None:
    both = engines("blocked", "ok")
    service = over(both)
    await ask(service)
    told = service.statuses()
    assert asked(both) == [1, 1]
    assert [(each.name, each.host, each.health.state) for each in told] == [
        ("e1", "e1.test", "blocked"),
        ("e2", "e2.test", "ok"),
    ]
    assert told[0].health.retry_at == datetime(2031, 2, 3, 12, 15, tzinfo=UTC)


async def test_search_without_engines_says_so() -> None:
    service = SearchService([], Health())
    assert "no search engine is configured" in (await ask(service)).detail
    assert (service.requests("x", recency=None), service.statuses()) == ([], [])
