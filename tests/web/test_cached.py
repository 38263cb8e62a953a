"""Kept searches and pages: only successes, by their age since the fetch, with what was read."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from inglenook.egress import Egress, OutgoingRequest
from inglenook.messages import Label
from inglenook.store.sqlite import SqliteStore
from inglenook.web.base import (
    Outcome,
    Page,
    PageError,
    PageFault,
    Recency,
    SearchOutcome,
    SearchResult,
)
from inglenook.web.cached import CachedFetcher, CachedSearch, Shelf, age_in_words
from tests.web.wire import Ledger

T0 = datetime(2031, 2, 3, 12, tzinfo=UTC)


@dataclass
class Clock:
    now: datetime = T0

    def __call__(self) -> datetime:
        return self.now


@dataclass
class FakeSearcher:
    """Answers each query with itself, and counts."""

    outcome: Outcome = "ok"
    host: str = "https://one.example"
    asked: list[str] = field(default_factory=list[str])

    def requests(self, query: str, *, recency: Recency | None) -> Sequence[OutgoingRequest]:
        return [OutgoingRequest(method="GET", url=f"{self.host}/?q={query}&r={recency}")]

    async def search(
        self, query: str, *, recency: Recency | None, limit: int, egress: Egress
    ) -> SearchOutcome:
        self.asked.append(query)
        [request] = self.requests(query, recency=recency)
        egress.finished(await egress.started(request), status=200, bytes_in=9, sent=True)
        results = (SearchResult(title=f"{query} \ud800", url="https://r.example/", snippet="é"),)
        is_ok = self.outcome == "ok"
        return SearchOutcome(
            outcome=self.outcome, engine="one", results=results if is_ok else (), detail="It did."
        )


@dataclass
class FakeFetcher:
    clock: Clock
    fault: PageFault | None = None
    lands_on: str = ""
    asked: list[str] = field(default_factory=list[str])

    def request(self, url: str) -> OutgoingRequest:
        if not url.startswith("http"):
            raise PageError("refused", "no")
        return OutgoingRequest(method="GET", url=url.partition("#")[0])

    async def fetch(self, url: str, *, egress: Egress) -> Page:
        self.asked.append(url)
        egress.finished(await egress.started(self.request(url)), status=200, bytes_in=9, sent=True)
        if self.fault:
            raise PageError(self.fault, "It failed.")
        return Page(
            url=self.lands_on or url, title="T", text="long text", fetched_at=self.clock.now
        )


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[SqliteStore, None]:
    store = SqliteStore(tmp_path)
    yield store
    await store.close()


def shelf(store: SqliteStore, clock: Clock, *, max_bytes: int = 10_000) -> Shelf:
    return Shelf(cache=store, max_bytes=max_bytes, validity=timedelta(days=30), now=clock)


@dataclass(kw_only=True)
class Kept:
    clock: Clock
    searcher: FakeSearcher
    search: CachedSearch
    fetcher: FakeFetcher
    fetch: CachedFetcher


@pytest.fixture
def kept(store: SqliteStore) -> Kept:
    clock = Clock()
    searcher, fetcher = FakeSearcher(), FakeFetcher(clock)
    return Kept(
        clock=clock,
        searcher=searcher,
        search=CachedSearch(searcher, shelf(store, clock)),
        fetcher=fetcher,
        fetch=CachedFetcher(fetcher, shelf(store, clock)),
    )


async def search(
    search: CachedSearch,
    query: str = "otters",
    *,
    recency: Recency | None = None,
    limit: int = 8,
    ledger: Ledger | None = None,
) -> SearchOutcome:
    return await search.search(query, recency=recency, limit=limit, egress=ledger or Ledger())


async def test_a_kept_search_sends_nothing_and_says_from_whom_and_when(kept: Kept):
    first = await search(kept.search)
    kept.clock.now += timedelta(days=3, hours=2)
    ledger = Ledger()
    again = await search(kept.search, ledger=ledger)
    assert (again.results, again.engine) == (first.results, "one")
    assert (first.fetched_at, again.fetched_at) == (None, T0)
    assert again.detail == "From the cache: one was asked this 3 days ago. Nothing was sent."
    assert ledger.started_urls == []


async def test_spaces_make_no_other_search_and_anything_else_does(kept: Kept):
    await search(kept.search, "sea  otters ")
    await search(kept.search, "sea\notters")
    assert len(kept.searcher.asked) == 1
    for query in ("Sea otters", "otters sea", "sea otter"):
        await search(kept.search, query)
    await search(kept.search, "sea otters", recency="day")
    await search(kept.search, "sea otters", limit=3)
    kept.searcher.host = "https://two.example"
    await search(kept.search, "sea otters")
    assert len(kept.searcher.asked) == 7


@pytest.mark.parametrize("outcome", ["no_results", "blocked", "markup_changed", "unreachable"])
async def test_a_search_without_results_is_not_kept(kept: Kept, outcome: Outcome):
    kept.searcher.outcome = outcome
    assert (await search(kept.search)).outcome == outcome
    kept.searcher.outcome = "ok"
    found = await search(kept.search)
    assert (found.outcome, found.fetched_at) == ("ok", None)


@pytest.mark.parametrize(
    ("recency", "days"), [("day", 1), ("week", 7), ("month", 30), ("year", 30), (None, 30)]
)
async def test_a_search_of_the_last_day_is_none_after_a_day(
    kept: Kept, recency: Recency | None, days: int
):
    await search(kept.search, recency=recency)
    for age, asked in ((timedelta(days=days), 1), (timedelta(days=days, seconds=1), 2)):
        kept.clock.now = T0 + age
        await search(kept.search, recency=recency)
        assert len(kept.searcher.asked) == asked


async def test_a_kept_page_is_the_same_but_for_where_it_is_from(kept: Kept):
    ledger = Ledger()
    kept.fetcher.lands_on = "https://landed.example/"
    first = await kept.fetch.fetch("https://a.example/#part", egress=ledger)
    kept.clock.now += timedelta(days=2)
    again = await kept.fetch.fetch("https://a.example/#other", egress=ledger)
    assert (again.url, again.title, again.text, again.fetched_at) == (
        first.url,
        first.title,
        first.text,
        T0,
    )
    assert (first.is_cached, again.is_cached) == (False, True)
    assert ledger.started_urls == ["https://a.example/"]


async def test_a_hit_makes_nothing_younger(kept: Kept):
    for day in (0, 20, 30, 31):
        kept.clock.now = T0 + timedelta(days=day)
        await kept.fetch.fetch("https://a.example/", egress=Ledger())
    assert len(kept.fetcher.asked) == 2


@pytest.mark.parametrize(
    "fault",
    ["refused", "unreachable", "http_error", "blocked_by_site", "not_readable", "too_large"],
)
async def test_a_page_that_was_not_read_is_asked_for_again(kept: Kept, fault: PageFault):
    kept.fetcher.fault = fault
    with pytest.raises(PageError):
        await kept.fetch.fetch("https://a.example/", egress=Ledger())
    kept.fetcher.fault = None
    page = await kept.fetch.fetch("https://a.example/", egress=Ledger())
    assert page.is_cached is False


async def test_what_is_refused_by_its_address_is_not_looked_up(kept: Kept):
    with pytest.raises(PageError, match="no"):
        await kept.fetch.fetch("file:///etc/hostname", egress=Ledger())


async def test_a_hit_tells_what_the_run_had_read_that_fetched_it(kept: Kept):
    labels: frozenset[Label] = frozenset({"private", "untrusted"})
    await search(kept.search, ledger=Ledger(labels=labels))
    await kept.fetch.fetch("https://a.example/", egress=Ledger(labels=labels))
    found = await search(kept.search)
    page = await kept.fetch.fetch("https://a.example/", egress=Ledger())
    assert (found.labels, page.labels) == (("private", "untrusted"),) * 2


async def test_the_oldest_goes_where_the_budget_is_full(store: SqliteStore):
    clock = Clock()
    fetcher = FakeFetcher(clock)
    one_page = len('{"url": "https://0.example/", "title": "T", "text": "long text"}')
    cached = CachedFetcher(fetcher, shelf(store, clock, max_bytes=3 * one_page))
    for n in (0, 1, 2, 0, 3):  # a hit on 0 does not save it
        clock.now += timedelta(minutes=1)
        await cached.fetch(f"https://{n}.example/", egress=Ledger())
    for n, is_cached in ((1, True), (2, True), (3, True), (0, False)):
        page = await cached.fetch(f"https://{n}.example/", egress=Ledger())
        assert page.is_cached is is_cached, n


async def test_runs_that_read_one_page_at_once_get_it_each(kept: Kept):
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(kept.fetch.fetch("https://a.example/", egress=Ledger()))
            for _ in range(8)
        ]
    assert {task.result().text for task in tasks} == {"long text"}


@pytest.mark.parametrize(
    ("age", "words"),
    [
        (timedelta(seconds=-5), "less than a minute ago"),
        (timedelta(seconds=59), "less than a minute ago"),
        (timedelta(seconds=60), "1 minute ago"),
        (timedelta(minutes=119), "1 hour ago"),
        (timedelta(hours=47), "1 day ago"),
        (timedelta(days=29), "29 days ago"),
    ],
)
def test_an_age_is_told_in_its_largest_unit(age: timedelta, words: str):
    assert age_in_words(T0, T0 + age) == words
