"""B27: a vector counts only for the text it was made of; at most 32 at once, the newest first."""

import sqlite3
from datetime import timedelta
from pathlib import Path

from inglenook.store.sqlite import SqliteStore
from tests.research.report_fakes import NOW, FakeEmbedder, question, report, report_cache


async def test_the_newest_32_come_first(tmp_path: Path):
    store = SqliteStore(tmp_path)
    try:
        now = NOW
        embedder = FakeEmbedder()
        cache = report_cache(store, embedder=embedder, now=lambda: now)
        for n in range(40):
            now += timedelta(minutes=1)
            await cache.keep(question(f"bridge number{'x' * n}"), report())
        assert await cache.embed_batch()
        assert not await cache.embed_batch()
        assert [len(batch) for batch in embedder.passages] == [32, 8]
        assert embedder.passages[0][0].endswith("x" * 39)
    finally:
        await store.close()


async def test_a_vector_of_another_text_is_none_and_goes_with_its_report(tmp_path: Path):
    store = SqliteStore(tmp_path)
    try:
        embedder = FakeEmbedder()
        cache = report_cache(store, embedder=embedder)
        await cache.keep(question("What are the side effects of aspirin?"), report())
        await cache.embed_batch()
        assert await cache.find(question("aspirin side effect")) is not None
        with sqlite3.connect(tmp_path / "inglenook.db") as db:
            db.execute("UPDATE cache_embeddings SET text_hash = x'00'")
        assert await cache.find(question("aspirin side effect")) is None
        with sqlite3.connect(tmp_path / "inglenook.db") as db:
            db.execute("DELETE FROM cache")
            assert db.execute("SELECT count(*) FROM cache_embeddings").fetchone() == (0,)
    finally:
        await store.close()
