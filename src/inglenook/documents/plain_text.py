"""Bytes to clean text: charset, line ends, invisible characters."""

import codecs
import re

from turbohtml.detect import detect

MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DETECT_BYTES = 200_000
"""Enough for letter frequencies; detection reads every byte it is given."""
MAX_CONTROL_SHARE = 0.02
"""More control characters than this is a binary file with a text file's name."""

_INVISIBLE = re.compile(
    # controls but tab and newline; soft hyphen, zero-width space, byte-order mark; bidirectional
    # overrides and tag characters, which hide instructions from the person who reads the file
    r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u200b\u202a-\u202e\u2060\u2066-\u2069\ufeff]"
    r"|[\ud800-\udfff]|[\U000e0000-\U000e007f]"
)
_LINE_END = re.compile(r"\r\n?|[\x85\u2028\u2029]")
_PAGE_END = re.compile(r"[\x0b\x0c]")
_TRAILING_SPACE = re.compile(r"[^\S\n]+$", re.MULTILINE)
_BLANK_LINES = re.compile(r"\n{3,}")
_WIDE_GAP = re.compile(r"[^\S\n]{40,}")


def decode(data: bytes) -> str | None:
    """The text of a file that declares no charset; None where it holds no text.

    Order: byte-order mark, UTF-8 if valid, UTF-16 by its zero bytes, letter frequencies.
    """
    for mark, encoding in MARKS:
        if data.startswith(mark):
            return _text_or_none(data[len(mark) :].decode(encoding, "replace"))
    try:
        return _text_or_none(data.decode())
    except UnicodeDecodeError:
        pass
    if encoding := _utf16_without_mark(data[:4096]):
        return _text_or_none(data.decode(encoding, "replace"))
    codec = detect(data[:_DETECT_BYTES]).codec or "cp1252"
    return _text_or_none(data.decode(codec, "replace"))


def clean(text: str) -> str:
    """`text` with `\\n` line ends, at most one blank line in a row and nothing invisible in it."""
    text = _LINE_END.sub("\n", text)
    text = _PAGE_END.sub("\n\n", text)
    text = _INVISIBLE.sub("", text)
    text = _TRAILING_SPACE.sub("", text)
    text = _WIDE_GAP.sub(" " * 40, text)
    return _BLANK_LINES.sub("\n\n", text).strip("\n")


def _utf16_without_mark(head: bytes) -> str | None:
    even, odd = head[0::2].count(0), head[1::2].count(0)
    half = len(head) // 2
    if half and odd > half * 0.4 and even < half * 0.1:
        return "utf-16-le"
    if half and even > half * 0.4 and odd < half * 0.1:
        return "utf-16-be"
    return None


def control_share(text: str) -> float:
    """How much of `text` no text has: control characters, and bytes that could not be read."""
    sample = text[:100_000]
    odd = sum(1 for c in sample if c < " " and c not in "\t\n\r\f\v") + sample.count("\ufffd")
    return odd / len(sample) if odd > 2 else 0.0


def _text_or_none(text: str) -> str | None:
    return None if control_share(text) > MAX_CONTROL_SHARE else text
