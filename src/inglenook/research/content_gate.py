"""Two questions ask the same only if they say the same: the test that stands before similarity.

Vectors and word counts cannot tell "safe" from "not safe", or "from A to B" from "from B to A".
Here everything but a short list of empty words is content, and content must be equal: negations,
words of direction and polarity, numbers, units, quotations and names as they are, other words up to
their inflection. Its order must be equal too, except that a phrase of place may stand first or
last, and that "the A of B" is "the B A". What is not certainly the same is not the same.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from inglenook.knowledge.terms import UNSPACED
from inglenook.research.question_words import QUESTION_WORDS, QuestionWords, words_in
from inglenook.research.words import stem

VERSION = "1"
"""Part of the cache's keys: what another version took for equal is not looked at."""
MIN_SHARED_CHARS = 3
"""Two forms of one word begin alike by so many characters."""
_QUOTED = r"\"[^\"]+\"|“[^”]+”|«[^»]+»|„[^“”]+[“”]|`[^`]+`"
_NUMBER = r"(?<![\w.])[-+\u2212]?[$€£¥]?\d+(?:[.,:/-]\d+)*[%°]?"
_LETTERS = rf"[^\W\d_{UNSPACED}](?:[^\W\d_{UNSPACED}]|[\u0300-\u036f])*(?:[+#]+(?!\w))?"
_SIGNS = r"[<>=\u2264\u2265\u2260*/&%°$€£¥+^~]+"
_TOKEN = re.compile(rf"{_QUOTED}|{_NUMBER}|[{UNSPACED}]|{_LETTERS}|\d+|{_SIGNS}|,")
_ENGLISH = (
    (re.compile(r"\b(?:can't|cannot|can not)\b", re.I), "can not"),
    (re.compile(r"\bwon't\b", re.I), "will not"),
    (re.compile(r"\bshan't\b", re.I), "shall not"),
    (re.compile(r"n't\b", re.I), " not"),
    (re.compile(r"'(?:s|re|m)\b", re.I), ""),
    (re.compile(r"'ve\b", re.I), " have"),
    (re.compile(r"'ll\b", re.I), " will"),
    (re.compile(r"'d\b", re.I), " would"),
    (re.compile(r"\bhow to\b", re.I), "how"),
)
_BEFORE_I = words_in(
    "can do should if how when may must will did am would could and that what where why have"
)
"""Behind these "I" is the one who asks; elsewhere it is a number, as in "World War I"."""


@dataclass(frozen=True, kw_only=True)
class Word:
    form: str
    """As it stands there, in lower case; a quotation and a name in capitals as they are."""
    stem: str
    is_exact: bool = False
    """A number, a sign, a quotation, a name in capitals: it has no other forms."""
    is_name: bool = False
    """It has a capital letter where the language asks for none."""
    has_capital: bool = False


@dataclass(frozen=True, kw_only=True)
class Content:
    language: str
    parts: tuple[tuple[Word, ...], ...]
    """The main part, then the phrases that may change places."""

    @property
    def bag(self) -> tuple[str, ...]:
        """Equal for questions that might match: their stems, sorted."""
        return tuple(sorted(word.stem for part in self.parts for word in part))


def content_of(question: str, language: str) -> Content:
    known = QUESTION_WORDS.get(language)
    words = list(_words(question, language))
    if known is None:
        return Content(language=language, parts=(tuple(w for w in words if w.form != ","),))
    parts = _parts(_without_end(_without_start(words, known), known), known)
    main, *phrases = [tuple(w for w in part if not _is_empty(part, w, known)) for part in parts]
    return Content(
        language=language,
        parts=(_compound(main, known), *sorted(phrases, key=lambda part: [w.stem for w in part])),
    )


def may_match(one: Content, other: Content) -> bool:
    """Whether an answer to one of the questions may be an answer to the other."""
    if one.language != other.language or not one.bag or len(one.parts) != len(other.parts):
        return False
    known = QUESTION_WORDS.get(one.language)
    return all(
        len(part) == len(same) and all(_equal(a, b, known) for a, b in zip(part, same, strict=True))
        for part, same in zip(one.parts, other.parts, strict=True)
    )


def _equal(one: Word, other: Word, known: QuestionWords | None) -> bool:
    if one.form == other.form:
        return one.is_exact == other.is_exact
    if one.stem != other.stem or one.is_exact or other.is_exact or known is None:
        return False
    # German writes all nouns like names
    if known.stemmer != "german" and (
        one.is_name or other.is_name or (one.has_capital and other.has_capital)
    ):
        return False
    shared = 0
    for a, b in zip(one.form, other.form, strict=False):
        if a != b:
            break
        shared += 1
    endings = frozenset((one.form[shared:], other.form[shared:]))
    return shared >= MIN_SHARED_CHARS and endings in known.inflections


def _words(question: str, language: str) -> Iterator[Word]:
    text = unicodedata.normalize("NFC", question).replace("\u2019", "'").replace("\u2018", "'")
    if language == "en":
        for pattern, replacement in _ENGLISH:
            text = pattern.sub(replacement, text)
    shouts = text.isupper()
    is_start = True
    for match in _TOKEN.finditer(text):
        token = match[0]
        yield _word(token, language, is_start=is_start, shouts=shouts)
        behind = text[match.end() : match.end() + 1]
        is_start = behind in ".?!:" and behind != ""


def _word(token: str, language: str, *, is_start: bool, shouts: bool) -> Word:
    folded = token.casefold()
    if not token[0].isalpha() or token[-1] in "+#":
        return Word(form=folded if token[0] not in '"“«„`' else token, stem=folded, is_exact=True)
    known = QUESTION_WORDS.get(language)
    has_capital = token != token.lower() and not shouts
    is_name = has_capital and not is_start
    # "US", "IT", "WHO"; a single letter begins a sentence, or is one as in "vitamin A"
    is_marked = token.isupper() and (len(token) > 1 or (is_name and folded != "i"))
    if known and has_capital and is_marked and _is_function_word(folded, known):
        return Word(form=token, stem=token, is_exact=True, is_name=True)
    return Word(
        form=folded,
        stem=stem(folded, language),
        is_name=is_name,
        has_capital=has_capital,
    )


def _is_function_word(folded: str, known: QuestionWords) -> bool:
    return (
        folded in known.grammar
        or folded in known.places
        or folded in known.about
        or (folded,) in known.asking
        or folded in {"us", "it", "who", "may"}
    )


def _without_start(words: Sequence[Word], known: QuestionWords) -> list[Word]:
    """Without "please give me a detailed report on"."""
    left = list(words)
    was_asked = False
    while left:
        if size := _phrase_at(left, known):
            left = left[size:]
            was_asked = True
        elif (
            left[0].form == ","
            or _is_grammar(left, 0, known)
            or (was_asked and left[0].form in known.about & _PREPOSITIONS)
        ):
            left = left[1:]
        elif size := _output_at(left, known):
            left = left[size:]
        else:
            break
    return left


def _phrase_at(words: Sequence[Word], known: QuestionWords) -> int:
    """How many words of what people say before they ask stand at the beginning."""
    for size in (5, 4, 3, 2, 1):
        head = words[:size]
        phrase = tuple(word.form for word in head if not word.is_exact)
        if len(phrase) == size and phrase in known.asking:
            return size
    return 0


def _output_at(words: Sequence[Word], known: QuestionWords) -> int:
    """The length of "a detailed report on" at the beginning; "research funding" is none."""
    at = 0
    while at < len(words) and (words[at].form in known.outputs or words[at].form in known.grammar):
        at += 1
    if not at or at == len(words) or words[at].form not in known.about:
        return 0
    # "how" and "who" begin the question itself
    return at + 1 if words[at].form in _PREPOSITIONS else at


_PREPOSITIONS = words_in(
    "about on of regarding concerning into über zu zum zur sur concernant sobre acerca su sul "
    "sulla sui sulle sull sullo sugli riguardo over о об обо про o na temat om kring"
)


def _without_end(words: Sequence[Word], known: QuestionWords) -> list[Word]:
    left = list(words)
    while left:
        forms = tuple(word.form for word in left)
        end = next((end for end in known.ends if forms[-len(end) :] == end), None)
        if left[-1].form == ",":
            left.pop()
        elif end and len(end) < len(left):
            del left[-len(end) :]
        else:
            break
    return left


def _parts(words: Sequence[Word], known: QuestionWords) -> list[list[Word]]:
    """The main part first; a phrase in front of it ends at a comma or where the question begins."""
    parts: list[list[Word]] = [[]]
    rest = list(words)
    if rest and rest[0].form in known.places:
        end = next(
            (
                at
                for at in range(1, len(rest))
                if rest[at].form == "," or _phrase_at(rest[at:], known) or _asks(rest[at], known)
            ),
            None,
        )
        if end is not None:
            parts.append(rest[:end])
            rest = _without_start(rest[end:], known)
    at_end = parts[0]
    for word in rest:
        if word.form in known.places and parts[0]:
            at_end = [word]
            parts.append(at_end)
        else:
            at_end.append(word)
    return parts


def _asks(word: Word, known: QuestionWords) -> bool:
    return word.form in known.about and word.form not in _PREPOSITIONS


def _is_empty(part: Sequence[Word], word: Word, known: QuestionWords) -> bool:
    if word.form == ",":
        return True
    at = next(at for at, each in enumerate(part) if each is word)
    return _is_grammar(part, at, known) or (word.form in known.weights and not word.is_name)


def _is_grammar(words: Sequence[Word], at: int, known: QuestionWords) -> bool:
    word = words[at]
    if word.is_exact or word.form not in known.grammar:
        return False
    is_number = word.form == "i" and at > 0 and words[at - 1].form not in _BEFORE_I
    return not (known.stemmer == "english" and is_number)


def _compound(words: tuple[Word, ...], known: QuestionWords) -> tuple[Word, ...]:
    """`A of B` as `B A`."""
    at = [n for n, word in enumerate(words) if word.form in known.of]
    if len(at) != 1 or at[0] in (0, len(words) - 1):
        return words
    return words[at[0] + 1 :] + words[: at[0]]
