"""Terms find inflections and text without spaces; no query text is ever a syntax error."""

import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inglenook.knowledge.terms import MAX_QUERY_TERMS, any_of, query_terms, terms


def _found(query: str, *texts: str) -> set[int]:
    """Row numbers, from 1, of the texts that the query finds."""
    wanted = query_terms(query)
    if not wanted:
        return set()
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute(
            "CREATE VIRTUAL TABLE t USING fts5 (x, tokenize='unicode61 remove_diacritics 2')"
        )
        db.executemany("INSERT INTO t VALUES (?)", [(" ".join(terms(text)),) for text in texts])
        return {n for (n,) in db.execute("SELECT rowid FROM t WHERE t MATCH ?", (any_of(wanted),))}


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Everybody has thirty days of leave.", "LEAVE"),
        ("the installed packages", "installing"),
        ("Die Paketverwaltung", "Paketverwaltungen"),
        ("un été à la plage", "ete"),
        ("请问如何安装软件包？", "软件"),
        ("日本語のテキスト", "テキ"),
        ("한국어로 쓰인", "한국어"),
        ("ｆｕｌｌｗｉｄｔｈ", "fullwidth"),
        ("get_current_datetime", "current"),
        ("a-b C++ x86_64", "x86"),
    ],
)
def test_words_are_found_in_other_forms(text: str, query: str):
    assert _found(query, text, "unrelated") == {1}


@given(st.text(max_size=200))
def test_the_index_splits_terms_as_they_are(text: str):
    """Else a term that was counted would not be the term that is asked for."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE VIRTUAL TABLE t USING fts5 (x, tokenize = 'ascii')")
        db.execute("CREATE VIRTUAL TABLE v USING fts5vocab (t, row)")
        db.execute("INSERT INTO t VALUES (?)", (" ".join(terms(text)),))
        assert {term for (term,) in db.execute("SELECT term FROM v")} == set(terms(text))


def test_a_number_is_not_found_by_another_with_the_same_start():
    assert _found("20261199", "order 20261130") == set()


@given(st.text(max_size=200) | st.text(alphabet='"()*:^-+ANDORNEAR{}', max_size=60))
def test_any_text_is_a_valid_query(query: str):
    _found(query, "some text", "AND OR NOT")


@pytest.mark.parametrize("query", ["", "  ", "?!", '"', "\0", "\ud800", "🙂"])
def test_a_query_without_words_asks_nothing(query: str):
    assert query_terms(query) == []


def test_an_endless_query_is_bounded():
    assert len(query_terms(" ".join(f"w{n}" for n in range(5000)))) == MAX_QUERY_TERMS
