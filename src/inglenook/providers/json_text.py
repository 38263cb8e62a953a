"""The content of a JSON string, decoded while it comes.

Pure. Whatever piece of it has come, what is given out is final: a character whose escape is not
there whole waits. Escapes that JSON does not have, and quotes that should have been escaped, are
taken as they stand, since small models write them.
"""

import re

_PLAIN = re.compile(r'[^"\\]+')
_QUOTE_ENDS = re.compile(r'"\s*(?:\}|,\s*")')
_QUOTE_MAY_END = re.compile(r'"\s*(?:,\s*)?')
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "/": "/"}
_HEX = re.compile(r"[0-9a-fA-F]{4}")
_ESCAPE = re.compile(r"\\u[0-9a-fA-F]{4}")
_MAY_BE_ESCAPE = re.compile(r"(?:\\(?:u[0-9a-fA-F]{0,3})?)?")
_HIGH, _LOW = range(0xD800, 0xDC00), range(0xDC00, 0xE000)


def next_text(text: str, at: int) -> tuple[str, int]:
    """The next part of a JSON string's content from `at` on, and the characters it took; none
    where the string ends, or where more must come before it is known what it is."""
    if plain := _PLAIN.match(text, at):
        return plain[0], plain.end() - at
    if at == len(text):
        return "", 0
    if text[at] == '"':
        if _QUOTE_ENDS.match(text, at) or _QUOTE_MAY_END.fullmatch(text, at):
            return "", 0
        return '"', 1  # a quote that the model forgot to escape
    if at + 1 == len(text):
        return "", 0
    if text[at + 1] != "u":
        return _ESCAPES.get(text[at + 1], text[at : at + 2]), 2
    return _unicode_escape(text, at)


def _unicode_escape(text: str, at: int) -> tuple[str, int]:
    """`\\uXXXX` at `at`, with the one after it where they are one character together."""
    digits, after = text[at + 2 : at + 6], text[at + 6 : at + 12]
    if not _HEX.fullmatch(digits):
        return (text[at : at + 2], 2) if len(digits) == 4 else _unfinished(text, at)
    unit = int(digits, 16)
    if unit not in _HIGH:
        return chr(unit), 6
    if len(after) < 6 and _MAY_BE_ESCAPE.fullmatch(after):
        return "", 0
    if _ESCAPE.fullmatch(after) and int(after[2:], 16) in _LOW:
        return chr(0x10000 + ((unit - 0xD800) << 10) + int(after[2:], 16) - 0xDC00), 12
    return chr(unit), 6


def _unfinished(text: str, at: int) -> tuple[str, int]:
    """An escape at the end of what has come: nothing, or what can never become one."""
    return ("", 0) if _MAY_BE_ESCAPE.fullmatch(text, at) else (text[at : at + 2], 2)


def ends_value(text: str) -> bool:
    """Whether `text` begins with the quote that ends a value inside an object."""
    return bool(_QUOTE_ENDS.match(text))
