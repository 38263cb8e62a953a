"""Words as the full-text index knows them, and queries that can never be a syntax error.

No stemmer and no language guess: a long word is indexed whole and by its first letters, which
finds most inflections; text written without spaces is indexed by character and character pair.
"""

import re
import unicodedata
from collections.abc import Iterator

UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Burmese, Khmer
    "\u3040-\u30ff"  # kana
    "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # ideographs
    "\uac00-\ud7af"  # Hangul: spaced, but a word carries its particles
)
"""Characters, as a regex class, of which a run is not one word."""
PREFIX_CHARS = 6
"""Measured on the four-language FAQ set (bench/retrieval_faq.py): 5 to 7 are alike."""
MAX_QUERY_TERMS = 64
MAX_WORD_CHARS = 64

_WORD = re.compile(rf"[{UNSPACED}]+|[^\W_{UNSPACED}]+")
_UNSPACED_START = re.compile(f"[{UNSPACED}]")


def terms(text: str) -> Iterator[str]:
    """The terms of `text`, in order, repeated as often as they occur."""
    for match in _WORD.finditer(unicodedata.normalize("NFKC", text).casefold()):
        word = match[0]
        if _UNSPACED_START.match(word):
            yield from word
            yield from (word[at : at + 2] for at in range(len(word) - 1))
            continue
        word = word[:MAX_WORD_CHARS]
        yield word
        # a number's first digits are another number
        if len(word) > PREFIX_CHARS and word.isalpha():
            yield word[:PREFIX_CHARS]


def match_expression(query: str) -> str | None:
    """An FTS5 query for any of the query's terms; None where it has none.

    Source: https://www.sqlite.org/fts5.html#full_text_query_syntax
    """
    unique = dict.fromkeys(terms(query))
    return " OR ".join(f'"{term}"' for term in list(unique)[:MAX_QUERY_TERMS]) or None
