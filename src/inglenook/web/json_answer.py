"""A JSON service's answer, of which nothing is certain, and its text as a page would show it."""

import json
from collections.abc import Mapping, Sequence
from html import unescape
from typing import cast

MARKED_WORDS = ("b", "strong", "em", "mark")


def json_object(body: bytes) -> Mapping[str, object] | None:
    """The object in `body`; None where there is anything else."""
    try:
        value: object = json.loads(body)
    except (ValueError, RecursionError):  # RecursionError: thousands of open brackets
        return None
    return cast(Mapping[str, object], value) if isinstance(value, dict) else None


def fields(value: object) -> Mapping[str, object]:
    """`value` where it is an object, else an empty one."""
    return cast(Mapping[str, object], value) if isinstance(value, dict) else {}


def items(value: object) -> Sequence[object]:
    """`value` where it is a list, else an empty one."""
    return cast(Sequence[object], value) if isinstance(value, list) else ()


def string(value: object) -> str:
    return value if isinstance(value, str) else ""


def shown_text(value: object) -> str:
    """Text with words marked by tags: they keep their places, and entities are decoded once.

    Tags without an end are text: such a title is about HTML.
    """
    text = string(value)
    for tag in MARKED_WORDS:
        start, end = f"<{tag}>", f"</{tag}>"
        if text.count(start) == text.count(end):
            text = text.replace(start, "").replace(end, "")
    return unescape(text)
