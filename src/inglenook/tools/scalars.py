"""One plain value read as another JSON type: a number written as text, a boolean in capitals.

Pure. A reading is lossless where the value can mean nothing else; everything else is a guess, and
the caller decides who may guess. A boolean is never a number.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

_INTEGER = re.compile(r"[+-]?[0-9]{1,300}")
_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,300}\.?[0-9]{0,300}|\.[0-9]{1,300})(?:[eE][+-]?[0-9]{1,3})?")
_EXACT_FLOAT = 2**53
"""From here on neighbouring whole numbers share a float."""
_MAX_BITS = 1024
"""Python refuses to write an integer of more than 4,300 digits as text."""
_NO_WORD = re.compile(r"[\W_]+")


class Read(NamedTuple):
    value: Any
    is_guess: bool = False


def as_string(value: object) -> Read | None:
    match value:
        case str():
            return Read(value)
        case bool():
            return Read(json.dumps(value), is_guess=True)
        case int() if value.bit_length() <= _MAX_BITS:
            return Read(str(value))
        case float() if math.isfinite(value):
            return Read(repr(value), is_guess=True)  # 1.10, a version, has become 1.1 on its way
        case _:
            return None


def as_integer(value: object) -> Read | None:
    """`3`, `3.0`, `"3"`, `"3.0"`; by guess also `3.7`, whose fraction is cut off."""
    number = _number(value)
    if number is None or isinstance(number.value, int):
        return number
    whole = int(number.value)
    is_exact = whole == number.value and abs(whole) < _EXACT_FLOAT
    return Read(whole, is_guess=not is_exact)


def as_number(value: object) -> Read | None:
    return _number(value)


def _number(value: object) -> Read | None:
    if isinstance(value, (bool, int)):
        return None if isinstance(value, bool) else Read(value)
    if isinstance(value, float):
        return Read(value) if math.isfinite(value) else None
    if not isinstance(value, str):
        return None
    text = value.strip()
    if _INTEGER.fullmatch(text):
        return Read(int(text))
    if _NUMBER.fullmatch(text) and math.isfinite(number := float(text)):
        return Read(number)
    return None


_WORDS = {"true": True, "false": False}
_LOOSE_WORDS = {"1": True, "yes": True, "on": True, "0": False, "no": False, "off": False}


def as_boolean(value: object) -> Read | None:
    """`true`, `"False"`; by guess also `1`, `"no"`, `"on"`."""
    if isinstance(value, bool):
        return Read(value)
    if isinstance(value, str):
        word = value.strip().lower()
        if word in _WORDS:
            return Read(_WORDS[word])
        return Read(_LOOSE_WORDS[word], is_guess=True) if word in _LOOSE_WORDS else None
    return Read(value == 1, is_guess=True) if value in (0, 1) else None


def as_null(value: object) -> Read | None:
    """`null`, `"null"`; by guess also `""` and `"none"`."""
    if value is None:
        return Read(None)
    if isinstance(value, str) and (word := value.strip().lower()) in ("null", "none", ""):
        return Read(None, is_guess=word != "null")
    return None


AS_TYPE: Mapping[str, Callable[[object], Read | None]] = {
    "string": as_string,
    "integer": as_integer,
    "number": as_number,
    "boolean": as_boolean,
    "null": as_null,
}


def as_one_of(value: object, allowed: Sequence[object]) -> Read | None:
    """The allowed value that `value` means: in other capitals, or by guess but for punctuation."""
    for each in allowed:
        if type(each) is type(value) and each == value:
            return Read(value)
    text = _text(value)
    if text is None:
        return None
    for plain in (_capitals_apart, _words_alone):
        wanted = plain(text)
        found = [each for each in allowed if plain(_text(each) or "") == wanted]
        if wanted and len(found) == 1:
            return Read(found[0], is_guess=plain is _words_alone)
    return None


def _text(value: object) -> str | None:
    """A plain value as JSON would write it, a string without its quotes; 1.0 as 1."""
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT_FLOAT:
        value = int(value)
    if isinstance(value, (bool, float)) or value is None:
        return json.dumps(value)
    read = as_string(value)
    return read.value if read else None


def _capitals_apart(text: str) -> str:
    return text.strip().casefold()


def _words_alone(text: str) -> str:
    return _NO_WORD.sub("", text.casefold())
