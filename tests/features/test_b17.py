"""B17: vectors come after the report, from its words in their order; no failure is in the way."""

import asyncio
from pathlib import Path

from inglenook.store.sqlite import SqliteStore
from tests.research.report_fakes import FakeEmbedder, question, report, report_cache
from tests.research.test_report_cache import LONG, SAID_OTHERWISE


async def test_vectors_are_written_behind_from_the_words_in_order(tmp_path: Path):
    store = SqliteStore(tmp_path)
    try:
        before = report_cache(store)  # an earlier time, without an embedder
        await before.keep(question("zebra stripes and apple trees"), report())
        embedder = FakeEmbedder()
        cache = report_cache(store, embedder=embedder)
        assert embedder.passages == []
        assert not await cache.embed_batch()
        assert embedder.passages == [["zebra stripes apple trees"]]
        await cache.embed_batch()
        assert len(embedder.passages) == 1
    finally:
        await store.close()


async def test_the_background_task_embeds_what_is_kept_while_it_runs(tmp_path: Path):
    store = SqliteStore(tmp_path)
    try:
        embedder = FakeEmbedder()
        cache = report_cache(store, embedder=embedder)
        async with asyncio.TaskGroup() as group:
            task = group.create_task(cache.keep_embedding())
            await cache.keep(question("zebra stripes"), report())
            while await store.cache_unembedded("research", embedder.id, 1):
                await asyncio.sleep(0)
            task.cancel()
        assert embedder.passages == [["zebra stripes"]]
    finally:
        await store.close()


async def test_a_slow_or_broken_embedder_leaves_the_look_up_to_stems(tmp_path: Path):
    store = SqliteStore(tmp_path)
    try:
        embedder = FakeEmbedder()
        cache = report_cache(store, embedder=embedder, query_timeout_s=0.01)
        await cache.keep(question(LONG), report())
        await cache.embed_batch()
        embedder.held = asyncio.Event()  # never set
        slow = await cache.find(question(SAID_OTHERWISE))
        embedder.held, embedder.fault = None, "gone"
        broken = await cache.find(question(SAID_OTHERWISE))
        assert [hit and hit.match for hit in (slow, broken)] == ["words", "words"]
        await cache.keep(question("another one about bridges"), report())
        assert not await cache.embed_batch()
    finally:
        await store.close()
