"""B14: reports are kept by language and normalised words, beside the searches and pages."""

import sqlite3
from pathlib import Path

from inglenook.research.asked_question import terms_of
from inglenook.store.sqlite import SqliteStore
from tests.research.report_fakes import question, report, report_cache


async def test_the_same_words_in_other_dress_are_one_entry_of_kind_research(tmp_path: Path):
    store = SqliteStore(tmp_path)
    try:
        cache = report_cache(store)
        await cache.keep(question("Please explain the physics of a space elevator"), report("old"))
        await cache.keep(question("the physics of a space elevator!"), report("new"))
        hit = await cache.find(question("Tell me about the physics of a space elevator"))
        assert hit is not None
        assert (hit.match, hit.report.answer) == ("exact", "new")
        assert hit.terms == "physics space elevator"
    finally:
        await store.close()
    with sqlite3.connect(tmp_path / "inglenook.db") as db:
        rows = db.execute("SELECT kind, length(key) FROM cache").fetchall()
    assert rows == [("research", 32)]  # a digest: a question is nobody's to read


def test_tokens_have_three_characters_at_least():
    assert terms_of("the GDP of an EU state", "en") == ["gdp"]
