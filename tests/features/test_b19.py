"""B19: by stems from 60 % and 8 shared stems on, both as configured; more words do no harm."""

from pathlib import Path

import pytest

from inglenook.settings.sections import Cache
from inglenook.store.sqlite import SqliteStore
from tests.research.report_fakes import question, report, report_cache
from tests.research.test_report_cache import LONG, SAID_OTHERWISE

SHORT, SHORT_OTHERWISE = "side effects of aspirin", "aspirin side effect"


@pytest.mark.parametrize(
    ("kept", "asked", "min_overlap", "hits"),
    [
        (LONG, SAID_OTHERWISE, Cache().min_overlap, True),
        (SHORT, SHORT_OTHERWISE, Cache().min_overlap, False),
        (SHORT, SHORT_OTHERWISE, 1, True),
        (SHORT, SHORT_OTHERWISE, 0, True),
    ],
)
async def test_enough_stems_are_shared(
    tmp_path: Path, kept: str, asked: str, min_overlap: int, hits: bool
):
    store = SqliteStore(tmp_path)
    try:
        cache = report_cache(
            store, jaccard_percent=Cache().jaccard_percent, min_overlap=min_overlap
        )
        await cache.keep(question(kept), report())
        hit = await cache.find(question(asked))
        assert (hit is not None and hit.match == "words") == hits
    finally:
        await store.close()
