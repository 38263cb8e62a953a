"""Words as the full-text index knows them, and queries that can never be a syntax error.

No stemmer and no language guess: a long word is indexed whole and by its first letters, which
finds most inflections; text written without spaces is indexed by character and character pair.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import islice

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

_ACCENT = re.compile(r"[\u0300-\u036f]")
_WORD = re.compile(rf"[{UNSPACED}]+|[^\W_{UNSPACED}]+")
_UNSPACED_START = re.compile(f"[{UNSPACED}]")


def terms(text: str) -> Iterator[str]:
    """The terms of `text`, in order, repeated as often as they occur."""
    for match in _WORD.finditer(_folded(text)):
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


def _folded(text: str) -> str:
    """Without case and accents; recomposed, as Hangul and kana come apart too."""
    apart = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFC", _ACCENT.sub("", apart)).casefold()


def query_terms(query: str) -> list[str]:
    """Its first `MAX_QUERY_TERMS` different terms."""
    return list(islice(dict.fromkeys(terms(query)), MAX_QUERY_TERMS))


def any_of(wanted: Iterable[str]) -> str:
    """An FTS5 query for any of the terms, of which there is at least one.

    Terms hold letters and digits alone, so that quoting them is enough. The index's tokenizer
    is `ascii`, which splits them as they are joined here, at blanks.
    Source: https://www.sqlite.org/fts5.html#full_text_query_syntax
    """
    return " OR ".join(f'"{term}"' for term in wanted)
