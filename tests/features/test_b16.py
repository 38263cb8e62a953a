"""B16: looked up by exact words, then by meaning if the embedder is warm, then by stems."""

from pathlib import Path

from inglenook.store.sqlite import SqliteStore
from tests.research.report_fakes import FakeEmbedder, question, report, report_cache
from tests.research.test_report_cache import LONG, SAID_OTHERWISE


async def test_each_way_is_taken_only_where_the_one_before_finds_nothing(tmp_path: Path):
    store = SqliteStore(tmp_path)
    try:
        embedder = FakeEmbedder()
        cache = report_cache(store, embedder=embedder)
        await cache.keep(question(LONG), report())
        await cache.embed_batch()
        exact = await cache.find(question(LONG))
        assert exact is not None
        assert (exact.match, embedder.queries) == ("exact", [])
        meant = await cache.find(question(SAID_OTHERWISE))
        assert meant is not None
        assert (meant.match, len(embedder.queries)) == ("embedding", 1)
        embedder.is_warm = False
        worded = await cache.find(question(SAID_OTHERWISE))
        assert worded is not None
        assert (worded.match, len(embedder.queries)) == ("words", 1)
    finally:
        await store.close()
