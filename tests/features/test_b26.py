"""B26: searches and pages are kept within a budget, the oldest goes first, and a busy database is
waited for. Unlike the source, a hit makes nothing younger (ADR 3)."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from inglenook.egress import Egress
from inglenook.settings.load import load
from inglenook.store.sqlite import SqliteStore
from inglenook.web.base import Page
from inglenook.web.cached import CachedFetcher, CachedSearch, Shelf
from tests.fake_duckduckgo import FakeDuckDuckGo, organic, page
from tests.web.kinds import KINDS
from tests.web.searching import ask, service
from tests.web.test_cached import Clock, FakeFetcher
from tests.web.wire import Ledger

DUCKDUCKGO = KINDS[0]


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[SqliteStore, None]:
    store = SqliteStore(tmp_path)
    yield store
    await store.close()


def shelf(store: SqliteStore, *, clock: Clock | None = None, max_mb: int = 1) -> Shelf:
    cache = load(
        environment={"INGLENOOK_CACHE__ENABLED": "true", "INGLENOOK_CACHE__MAX_MB": str(max_mb)}
    ).settings.cache
    return Shelf(
        cache=store,
        max_bytes=cache.max_bytes,
        validity=timedelta(days=cache.validity_days),
        now=clock or (lambda: datetime.now(UTC)),
    )


async def test_a_search_is_answered_out_of_the_cache_without_its_service(store: SqliteStore):
    rows = page(organic(url="https://otters.test/", title="Otters", snippet="They swim."))
    async with FakeDuckDuckGo(rows) as server:
        search = CachedSearch(service(DUCKDUCKGO.engine(server.url)), shelf(store))
        first = await ask(search)
        again = await ask(search)
        assert len(server.asked) == 1
    after = await ask(search)
    assert first.results == again.results == after.results
    assert after.detail.startswith("From the cache: ")


async def test_of_more_than_the_budget_holds_the_newest_stay(store: SqliteStore):
    clock = Clock()
    fetcher = LargePages(clock)
    pages = CachedFetcher(fetcher, shelf(store, clock=clock, max_mb=1))
    for n in range(12):
        clock.now += timedelta(minutes=1)
        await pages.fetch(f"https://{n}.example/", egress=Ledger())
    fetcher.asked.clear()
    for n in reversed(range(12)):
        await pages.fetch(f"https://{n}.example/", egress=Ledger())
        if fetcher.asked:
            break
    assert fetcher.asked == ["https://2.example/"], "nine pages of 0.1 MB and a bit fit into 1 MB"


class LargePages(FakeFetcher):
    async def fetch(self, url: str, *, egress: Egress) -> Page:
        found = await super().fetch(url, egress=egress)
        return Page(url=url, title="", text="x" * 100_000, fetched_at=found.fetched_at)


async def test_a_database_that_another_program_holds_is_waited_for(
    tmp_path: Path, store: SqliteStore
):
    fetcher = FakeFetcher(Clock())
    pages = CachedFetcher(fetcher, shelf(store, clock=Clock()))
    other = sqlite3.connect(tmp_path / "inglenook.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    async with asyncio.TaskGroup() as group:
        reading = group.create_task(pages.fetch("https://a.example/", egress=Ledger()))
        while not fetcher.asked:
            await asyncio.sleep(0)
        assert not reading.done()
        other.execute("ROLLBACK")
        other.close()
    assert (await pages.fetch("https://a.example/", egress=Ledger())).is_cached


async def test_several_processes_on_one_home_share_what_is_kept(tmp_path: Path, store: SqliteStore):
    other = SqliteStore(tmp_path)
    fetcher = FakeFetcher(Clock())
    one, two = (CachedFetcher(fetcher, shelf(each, clock=Clock())) for each in (store, other))
    async with asyncio.TaskGroup() as group:
        for n in range(20):
            reader = one if n % 2 else two
            group.create_task(reader.fetch(f"https://{n}.example/", egress=Ledger()))
    for n in range(20):
        reader = two if n % 2 else one
        assert (await reader.fetch(f"https://{n}.example/", egress=Ledger())).is_cached
    await other.close()
