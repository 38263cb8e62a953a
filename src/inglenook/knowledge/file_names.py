"""What a file's name becomes before anybody sees it: one printable line of bounded length.

A name is whatever somebody could write on a disk or in a request; it goes into prompts and onto
terminals, where a newline or an escape sequence in it would pass for ours.
"""

import os
import unicodedata

MAX_FILE_NAME_CHARS = 255
"""Of a name with its relative path; a longer one keeps both ends, and so its kind."""
_UNPRINTABLE = "\N{REPLACEMENT CHARACTER}"


def printable_name(name: str) -> str:
    """`name` for people and models; two files may get the same one, so it identifies nothing."""
    text = unicodedata.normalize("NFC", os.fsencode(name).decode("utf-8", "replace"))
    line = " ".join(text.split())
    shown = "".join(
        char if char.isprintable() else _UNPRINTABLE
        for char in line
        if unicodedata.category(char) != "Cf"  # direction marks and joiners: nothing is lost
    )
    if len(shown) <= MAX_FILE_NAME_CHARS:
        return shown or _UNPRINTABLE
    half = (MAX_FILE_NAME_CHARS - 1) // 2
    return f"{shown[:half]}…{shown[-half:]}"
