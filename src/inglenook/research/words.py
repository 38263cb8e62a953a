"""The language of a question, its stems and its stop words; the libraries load when used."""

from functools import cache
from importlib import import_module
from typing import Any

from inglenook.research.question_words import QUESTION_WORDS

FALLBACK = "en"
STEMMERS = {code: words.stemmer for code, words in QUESTION_WORDS.items()} | {
    "ar": "arabic",
    "el": "greek",
    "hi": "hindi",
}
"""Snowball algorithms by ISO 639-1 code. Source: https://snowballstem.org/algorithms/"""
UNSTEMMED = ("bg", "fa", "he", "ja", "ko", "th", "uk", "zh")
"""Languages that are told apart, and whose words are taken as they are. The fewer there are, the
fewer short questions are taken for another one than their paraphrase."""


def language_of(text: str) -> str:
    """ISO 639-1 code of the likeliest of the languages known here."""
    if not any(char.isalpha() for char in text):
        return FALLBACK
    return str(_identifier().classify(text)[0])


def stem(word: str, language: str) -> str:
    """`word`, in lower case, without its inflection where the language has a stemmer."""
    algorithm = STEMMERS.get(language)
    return word if algorithm is None else _stemmer(algorithm).stemWord(word)


@cache
def stop_words(language: str) -> frozenset[str]:
    return frozenset(import_module("stopwordsiso").stopwords([language]))


@cache
def _stemmer(algorithm: str) -> Any:
    return import_module("snowballstemmer").stemmer(algorithm)


@cache
def _identifier() -> Any:
    langid = import_module("py3langid.langid")
    identifier = langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE)
    identifier.set_languages([*STEMMERS, *UNSTEMMED])
    return identifier
