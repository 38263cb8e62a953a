"""B093: a shallow report never answers a deep request; a deep one may answer a shallow request."""

from pathlib import Path

from inglenook.store.sqlite import SqliteStore
from tests.research.report_fakes import question, report, report_cache

TEXT = "How do heat pumps work in old houses?"


async def test_deep_may_satisfy_shallow_and_not_the_reverse(tmp_path: Path):
    store = SqliteStore(tmp_path)
    try:
        cache = report_cache(store)
        await cache.keep(question(TEXT, "research"), report("shallow"))
        assert await cache.find(question(TEXT, "deep-research")) is None
        await cache.keep(question(TEXT, "deep-research"), report("deep"))
        deep = await cache.find(question(TEXT, "deep-research"))
        assert deep is not None
        assert deep.report.answer == "deep"
        await cache.keep(question("another thing", "deep-research"), report("deep"))
        assert await cache.find(question("another thing", "research")) is not None
    finally:
        await store.close()
