"""B089: a question and its opposite, or its reverse, never share a report."""

from pathlib import Path

import pytest

from inglenook.store.sqlite import SqliteStore
from tests.research.report_fakes import FakeEmbedder, question, report, report_cache


@pytest.mark.parametrize(
    ("kept", "asked"),
    [
        (
            "Is it NOT safe to take ibuprofen with aspirin?",
            "Is it safe to take ibuprofen with aspirin?",
        ),
        ("How to migrate from MySQL to Postgres", "How to migrate from Postgres to MySQL"),
        ("What changed in Python 3.11?", "What changed in Python 3.12?"),
        ("Darf man Hunde ohne Leine führen?", "Darf man Hunde mit Leine führen?"),
        ("vols de Paris à Lyon", "vols de Lyon à Paris"),
    ],
)
async def test_it_misses_both_ways(tmp_path: Path, kept: str, asked: str):
    store = SqliteStore(tmp_path)
    try:
        for first, second in ((kept, asked), (asked, kept)):
            cache = report_cache(
                store, embedder=FakeEmbedder(cosine=1), jaccard_percent=0, min_overlap=0
            )
            await cache.keep(question(first, "research", first), report())
            await cache.embed_batch()
            assert await cache.find(question(first, "research", first)) is not None
            assert await cache.find(question(second, "research", first)) is None
    finally:
        await store.close()
