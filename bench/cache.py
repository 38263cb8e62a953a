"""How long a look-up in the report cache takes at 100,000 reports. `python -m bench --only cache`.

The question's vector aside.
"""

import asyncio
import json
import sqlite3
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.figures import Figure, limit_figure
from inglenook.messages import Source
from inglenook.research.asked_question import AskedQuestion, Question, scope_of
from inglenook.research.report_cache import KIND, Report, ReportCache
from inglenook.store import cache_table
from inglenook.store.sqlite import SqliteStore

REPORTS = 100_000
LOOKUPS = 200
LIMIT_MS = 5.0
PLACES = ("France", "Peru", "Norway", "Japan", "Kenya", "Canada", "Austria", "Chile")
SOURCE = Source(n=1, kind="web", title="A page", url="https://site.test/a", cited=True)


def asked(n: int) -> Question:
    place = PLACES[n % len(PLACES)]
    return Question(text=f"How high is tower {n} in {place}?", mode="research", version="v")


async def lookup_ms() -> float:
    """The 95th percentile, over exact hits, paraphrases and misses alike."""
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder))
        try:
            return await _measured(store, Path(folder))
        finally:
            await store.close()


async def _measured(store: SqliteStore, folder: Path) -> float:
    cache = ReportCache(
        store,
        max_bytes=500_000_000,
        validity=timedelta(days=30),
        embedding_percent=75,
        jaccard_percent=60,
        min_overlap=1,
    )
    await cache.keep(asked(0), Report(answer="x" * 500, sources=(SOURCE,), labels=()))
    _fill(folder)
    hits = 0
    await cache.find(asked(0))  # the libraries load
    took: list[float] = []
    for n in range(LOOKUPS):
        question = asked(n * 7) if n % 2 else asked(REPORTS + n)
        if n % 3 == 0:
            place = PLACES[n * 7 % len(PLACES)]
            text = f"In {place}, how high is tower {n * 7}?"
            question = Question(text=text, mode="research", version="v")
        started = time.perf_counter()
        hits += await cache.find(question) is not None
        took.append(1000 * (time.perf_counter() - started))
    assert 0 < hits < LOOKUPS, f"{hits} of {LOOKUPS} were found"
    return sorted(took)[int(0.95 * len(took))]


def _fill(folder: Path) -> None:
    """The rows that `keep` writes, in one transaction."""
    value = {"answer": "x" * 500, "sources": [{"n": 1, "kind": "web", "title": "A page"}]}
    with sqlite3.connect(folder / "inglenook.db") as db:
        for n in range(1, REPORTS):
            parts, scope = AskedQuestion.of(asked(n).text), scope_of(asked(n), "research")
            assert parts is not None
            kept = json.dumps(
                {"asked": asked(n).text, "terms": " ".join(parts.terms)} | value
            ).encode()
            cache_table.put(
                db,
                KIND,
                parts.key(scope),
                kept,
                fetched_at=datetime.now(UTC),
                labels=(),
                family=parts.family(scope),
            )


def cache_figures() -> list[Figure]:
    title = f"a look-up in the report cache at {REPORTS:,} reports, 95th percentile"
    return [limit_figure(title, asyncio.run(lookup_ms()), "ms", LIMIT_MS)]
