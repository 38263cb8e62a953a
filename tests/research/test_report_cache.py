"""The report cache: what is found, by which of its three ways, and what never stands in the way."""

from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path

import pytest

from inglenook.research.asked_question import Question, terms_of
from inglenook.research.report_cache import similarity
from inglenook.store.sqlite import SqliteStore
from tests.research.report_fakes import (
    NOW,
    SOURCE,
    FakeEmbedder,
    question,
    report,
    report_cache,
)

LONG = (
    "history of Roman aqueducts, bridges, tunnels, sewers, harbours and lighthouses in Gaul, "
    "Hispania and Britain"
)
SAID_OTHERWISE = f"Please write a detailed report on the main {LONG}"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[SqliteStore, None]:
    store = SqliteStore(tmp_path)
    yield store
    await store.close()


async def test_the_same_words_are_an_exact_hit_with_all_that_was_kept(store: SqliteStore):
    cache = report_cache(store)
    await cache.keep(question("How high is the Eiffel Tower?"), report())
    hit = await cache.find(question("how high is the eiffel tower"))
    assert hit is not None
    assert (hit.match, hit.percent, hit.report) == ("exact", 100, report())
    assert hit.asked == "How high is the Eiffel Tower?"
    assert hit.terms == "eiffel tower"
    assert hit.fetched_at == NOW
    assert hit.report.sources == (SOURCE,)


async def test_a_long_paraphrase_is_found_by_stems(store: SqliteStore):
    cache = report_cache(store)
    await cache.keep(question(LONG), report())
    hit = await cache.find(question(SAID_OTHERWISE))
    assert hit is not None
    assert hit.match == "words"
    assert hit.percent >= 60


async def test_a_short_paraphrase_shares_too_few_stems_and_is_found_by_meaning(store: SqliteStore):
    embedder = FakeEmbedder()
    cache = report_cache(store, embedder=embedder)
    await cache.keep(question("What are the side effects of aspirin?"), report())
    assert await cache.find(question("aspirin side effect")) is None
    assert embedder.queries == []  # nothing to compare with
    await cache.embed_batch()
    hit = await cache.find(question("aspirin side effect"))
    assert hit is not None
    assert (hit.match, hit.percent) == ("embedding", 98)


@pytest.mark.parametrize(
    "embedder",
    [FakeEmbedder(is_warm=False), FakeEmbedder(cosine=0.7)],
    ids=["cold", "below the threshold"],
)
async def test_stems_decide_where_meaning_does_not(store: SqliteStore, embedder: FakeEmbedder):
    cache = report_cache(store, embedder=embedder)
    await cache.keep(question(LONG), report())
    await cache.embed_batch()
    hit = await cache.find(question(SAID_OTHERWISE))
    assert hit is not None
    assert hit.match == "words"


async def test_reports_go_out_of_date(store: SqliteStore):
    now = NOW
    cache = report_cache(store, now=lambda: now)
    await cache.keep(question("height of the tower"), report())
    now += timedelta(days=29)
    assert await cache.find(question("height of the tower")) is not None
    now += timedelta(days=2)
    assert await cache.find(question("height of the tower")) is None


@pytest.mark.parametrize(
    "other",
    [question("height of the tower", "research", "user:eve"),
     question("height of the tower", "research", "user:ann", "recency:day")],
    ids=["user", "recency"],
)  # fmt: skip
async def test_other_circumstances_are_another_question(store: SqliteStore, other: Question):
    cache = report_cache(store)
    await cache.keep(question("height of the tower", "research", "user:ann"), report())
    assert await cache.find(other) is None


async def test_a_language_has_its_own_reports(store: SqliteStore):
    cache = report_cache(store)
    await cache.keep(question("Die Geschichte der Hanse"), report())
    assert await cache.find(question("Die Geschichte der Hanse")) is not None
    assert await cache.find(question("The history of the Hanse")) is None


def test_terms_keep_their_order_and_lose_what_says_nothing():
    text = "Please write a report about the physics of an elevator in space"
    assert terms_of(text, "en") == ["physics", "elevator", "space"]


def test_similarity_does_not_mind_more_words_around_the_same():
    one, other = frozenset("abcd"), frozenset("abcdefgh")
    assert similarity(one, other) == 1
    assert similarity(frozenset("ab"), frozenset("bc")) == 0.5
