"""N9: content is compared exactly before similarity, however similar; hits say age and source."""

from pathlib import Path

from inglenook.store.sqlite import SqliteStore
from tests.research.question_pairs import OTHER_QUESTIONS
from tests.research.report_fakes import SOURCE, FakeEmbedder, question, report, report_cache


async def test_nothing_else_is_answered_where_everything_is_alike(tmp_path: Path):
    """With thresholds at nothing and vectors that are all the same."""
    store = SqliteStore(tmp_path)
    try:
        cache = report_cache(
            store,
            embedder=FakeEmbedder(cosine=1),
            embedding_percent=0,
            jaccard_percent=0,
            min_overlap=0,
        )
        scoped = [(str(n), pair) for n, pair in enumerate(OTHER_QUESTIONS[::4])]
        for scope, (kept, _) in scoped:
            await cache.keep(question(kept, "research", scope), report())
        while await cache.embed_batch():
            pass
        false = [
            asked
            for scope, (_, asked) in scoped
            if await cache.find(question(asked, "research", scope))
        ]
        print(f"\nfalse hits: {len(false)} of {len(scoped)}")
        assert false == []
        for scope, (kept, _) in scoped:
            hit = await cache.find(question(kept, "research", scope))
            assert hit is not None
            assert hit.report.sources == (SOURCE,)
    finally:
        await store.close()
