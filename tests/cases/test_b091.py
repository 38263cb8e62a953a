"""B091: opposites miss however alike their vectors are; a true paraphrase still hits."""

from pathlib import Path

from inglenook.store.sqlite import SqliteStore
from tests.research.report_fakes import FakeEmbedder, question, report, report_cache


async def test_polarity_stands_before_similarity(tmp_path: Path):
    store = SqliteStore(tmp_path)
    try:
        embedder = FakeEmbedder(cosine=0.98)
        cache = report_cache(store, embedder=embedder)
        await cache.keep(question("turn on dark mode"), report())
        await cache.embed_batch()
        assert await cache.find(question("turn off dark mode")) is None
        assert await cache.find(question("disable dark mode")) is None
        assert embedder.queries == []  # the gate comes first
        hit = await cache.find(question("Please explain how to turn on the dark mode"))
        assert hit is None  # "how" is content
        hit = await cache.find(question("Please explain: turn on the dark modes"))
        assert hit is not None
        assert (hit.match, hit.percent) == ("embedding", 98)
    finally:
        await store.close()
