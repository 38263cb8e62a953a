"""What will leave this machine, as a person can read it: nothing in it is invisible."""

import unicodedata
from urllib.parse import urlsplit

BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters and signs of which nothing is seen."""


def exact(text: str) -> str:
    """`text` on one line, with all that cannot be seen or acts on a terminal as an escape."""
    return "".join(char if _is_seen(char) else escaped(char) for char in text)


def shown_host(url: str) -> str:
    """The host of an address; one in other letters than ours in both of its forms."""
    host = urlsplit(url).hostname or "(no host)"
    try:
        plain = host.encode("idna").decode("ascii")
        letters = plain.encode("ascii").decode("idna")
    except UnicodeError:
        return exact(host)
    return exact(plain) if letters == plain else f"{exact(letters)} ({exact(plain)})"


def _is_seen(char: str) -> bool:
    if char == " ":
        return True
    is_variant = "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"
    hidden = unicodedata.category(char)[0] in "CZ"
    return not (hidden or is_variant or char in BLANK)


def escaped(char: str) -> str:
    """A character as Python writes it in a string: `\\x1b`, `\\u200b`, `\\U000e0041`."""
    code = ord(char)
    if code < 256:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
