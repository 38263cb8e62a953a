"""B18: a report counts by meaning from the configured percentage of cosine on."""

from pathlib import Path

import pytest

from inglenook.settings.sections import Cache
from inglenook.store.sqlite import SqliteStore
from tests.research.report_fakes import FakeEmbedder, question, report, report_cache


@pytest.mark.parametrize(("cosine", "percent"), [(0.76, 76), (0.74, None)])
async def test_the_threshold_is_75_percent(tmp_path: Path, cosine: float, percent: int | None):
    store = SqliteStore(tmp_path)
    try:
        cache = report_cache(
            store,
            embedder=FakeEmbedder(cosine=cosine),
            embedding_percent=Cache().embedding_percent,
        )
        await cache.keep(question("What are the side effects of aspirin?"), report())
        await cache.embed_batch()
        hit = await cache.find(question("aspirin side effect"))
        assert (hit and hit.percent) == percent
    finally:
        await store.close()
