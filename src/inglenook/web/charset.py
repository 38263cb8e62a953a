"""Bytes of a page to text: the charset it declares, and whether its bytes agree.

Labels mean what they mean to browsers (https://encoding.spec.whatwg.org/#names-and-labels):
`gb2312` is gbk, `shift_jis` has Windows' additions, `latin1` is windows-1252.
"""

import codecs
import re
from collections.abc import Iterator

from turbohtml.detect import detect

from inglenook.documents.plain_text import MARKS

_HEAD_BYTES = 4096
"""Browsers look for a `<meta>` in 1,024 bytes and begin anew when one comes later."""
_SAMPLE_BYTES = 200_000
_MIN_LETTERS = 20
"""Fewer letters outside of ASCII say nothing of the charset."""
_ALIASES = {
    "ks_c_5601-1987": "euc-kr",  # one of theirs that Python's lookup mangles
    "ks_c_5601-1989": "euc-kr",
    "cp932": "shift_jis",
    "cp936": "gbk",
    "cp949": "euc-kr",
    "cp950": "big5",
    "utf16": "utf-16le",
}
"""Labels that pages use beside those of browsers."""

_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_META = re.compile(rb"<meta[\s/]([^>]*)", re.IGNORECASE)
_ATTRIBUTE = re.compile(rb"([^\s\"'>/=]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")
_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([^\s\"';,]+)", re.IGNORECASE)
_XML = re.compile(rb"\s*<\?xml[^>]*?encoding\s*=\s*[\"']([^\"']+)[\"']", re.IGNORECASE)
_TAGS = re.compile(rb"<[^>]*>")


def decode_page(data: bytes, content_type: str = "") -> str:
    """The text of a page; bytes that fit no declared charset become U+FFFD.

    Order: byte-order mark, UTF-8 if the bytes can be nothing else, header, `<meta>`, XML
    declaration, letter frequencies. Of declared charsets that contradict each other the one counts
    that reads the bytes; where several do, the one that their letters speak for.
    """
    for mark, encoding in MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    if data.isascii():
        # the escapes of ISO-2022-JP, which no other text holds
        return data.decode("whatwg-iso-2022-jp" if b"\x1b$" in data else "ascii")
    try:
        return data.decode()  # bytes of another charset are hardly ever valid UTF-8
    except UnicodeDecodeError:
        pass
    declared = list(dict.fromkeys(_declared(data, content_type)))
    texts = [data.decode(codec, "replace") for codec in declared]
    readable = [text for text in texts if _is_readable(text)]
    if len(set(readable)) == 1 or (readable and _foreign_chars(readable[0]) < _MIN_LETTERS):
        return readable[0]
    guess = data.decode(_guess(data), "replace")
    if guess in readable or not (readable or texts):
        return guess
    return readable[0] if readable else max(guess, texts[0], key=_readable_chars)


def _declared(data: bytes, content_type: str) -> Iterator[str]:
    if match := _CHARSET.search(content_type):
        yield from _codec(match[1])
    head = _COMMENT.sub(b"", data[:_HEAD_BYTES])
    for meta in _META.finditer(head):
        for codec in _codec(_meta_label(meta[1])):
            # a page whose <meta> can be read byte by byte is not in UTF-16, whatever it says
            yield "whatwg-utf-8" if codec.startswith("whatwg-utf-16") else codec
    if match := _XML.match(head):
        yield from _codec(match[1].decode("latin-1"))


def _meta_label(attributes: bytes) -> str:
    values = {
        name.lower(): (double or single or bare).decode("latin-1")
        for name, double, single, bare in _ATTRIBUTE.findall(attributes)
    }
    if b"charset" in values:
        return values[b"charset"]
    if values.get(b"http-equiv", "").strip().lower() == "content-type":
        match = _CHARSET.search(values.get(b"content", ""))
        return match[1] if match else ""
    return ""


def _codec(label: str) -> Iterator[str]:
    """The codec of a label, if there is one."""
    name = label.strip().lower()
    name = "whatwg-" + _ALIASES.get(name, name)
    try:
        codecs.lookup(name)
    except (LookupError, ValueError):
        return
    yield name


def _guess(data: bytes) -> str:
    """By letter frequencies alone: with its tags the page would only say again what it declares."""
    return detect(_TAGS.sub(b" ", data[:_SAMPLE_BYTES])).codec or "whatwg-windows-1252"


def _is_readable(text: str) -> bool:
    """One broken byte does not speak against a charset, a tenth of all foreign letters does."""
    return text.count("\ufffd") * 10 <= _foreign_chars(text)


def _foreign_chars(text: str) -> int:
    return len(text) - len(text.encode("ascii", "ignore"))


def _readable_chars(text: str) -> int:
    return len(text) - 2 * text.count("\ufffd")
