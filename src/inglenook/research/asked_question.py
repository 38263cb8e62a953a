"""A question as the report cache keeps it: its language, its terms, and what it is found by."""

import json
from dataclasses import dataclass

from inglenook.research.content_gate import VERSION as GATE_VERSION
from inglenook.research.content_gate import Content, content_of
from inglenook.research.question_words import QUESTION_WORDS
from inglenook.research.words import language_of, stem, stop_words

FORMAT = "1"
MIN_TERM_CHARS = 3
MAX_QUESTION_CHARS = 4_000
"""A longer question is not looked up: it is a document rather than a question."""


@dataclass(frozen=True, kw_only=True)
class Question:
    text: str
    mode: str
    """Name of the strategy."""
    version: str
    """Of its instructions."""
    circumstances: tuple[str, ...] = ()
    """All else that an answer hangs on: the conversation before it, the user, recency, tools."""


@dataclass(frozen=True, kw_only=True)
class AskedQuestion:
    """A question, taken apart."""

    language: str
    content: Content
    terms: tuple[str, ...]
    stems: frozenset[str]

    @classmethod
    def of(cls, text: str) -> "AskedQuestion | None":
        """None for a question that cannot be told from others."""
        if len(text) > MAX_QUESTION_CHARS:
            return None
        language = language_of(text)
        content = content_of(text, language)
        if not content.bag:
            return None
        # of stop words alone: then they are all that it says
        terms = tuple(terms_of(text, language)) or content.bag
        return cls(
            language=language,
            content=content,
            terms=terms,
            stems=frozenset(stem(term, language) for term in terms),
        )

    def key(self, scope: str) -> str:
        forms = [[word.form for word in part] for part in self.content.parts]
        return json.dumps([scope, f"{self.language}|{' '.join(self.terms)}", forms])

    def family(self, scope: str) -> str:
        return json.dumps([scope, self.language, self.content.bag])


def scope_of(question: Question, mode: str) -> str:
    return json.dumps([FORMAT, GATE_VERSION, mode, question.version, *question.circumstances])


def terms_of(question: str, language: str) -> list[str]:
    """Its words in order, without short ones, stop words and what people say around a question."""
    known = QUESTION_WORDS.get(language)
    empty = stop_words(language)
    if known:
        empty |= known.grammar | known.outputs | {word for each in known.asking for word in each}
    content = content_of(question, "")  # of no language: nothing is left out
    words = (word.form for part in content.parts for word in part)
    return [
        word
        for word in words
        if (len(word) >= MIN_TERM_CHARS and word not in empty) or _is_ideograph(word)
    ]


def _is_ideograph(word: str) -> bool:
    return len(word) == 1 and ord(word) > 0x0E00 and word.isalpha()
