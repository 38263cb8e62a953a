"""JSON as it goes over the wire: fast where the text is sound, and never a crash where it is not.

Owns encoding and decoding only; what the values mean is the providers' affair.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from pydantic_core import PydanticSerializationError, from_json, to_json


def decode(data: bytes) -> Any:
    """The value of one JSON document. Lone surrogates and broken UTF-8 are let through.

    Raises:
        ValueError: It is no JSON, or nested too deeply to be read.
    """
    try:
        return from_json(data)
    except ValueError:
        # pydantic_core is three times as fast but refuses "\ud800", which models do emit
        try:
            return json.loads(data.decode("utf-8", "replace"))
        except RecursionError as error:
            raise ValueError("nested too deeply") from error


def repeats_a_key(text: str) -> bool:
    """Whether an object in JSON `text` has a key twice: parsers differ in which one they take.

    Text that is no JSON, or nested too deeply, repeats nothing: who decodes it says so.
    """
    repeated = False

    def keep(pairs: list[tuple[str, object]]) -> dict[str, object]:
        nonlocal repeated
        kept = dict(pairs)
        repeated = repeated or len(kept) < len(pairs)
        return kept

    try:
        json.JSONDecoder(strict=False, object_pairs_hook=keep).decode(text)
    except (ValueError, RecursionError):
        return False
    return repeated


class Repeating(dict[str, object]):
    """An object in which a key stands twice, or in an object inside; it holds the last value."""

    def __init__(self, pairs: Sequence[tuple[str, object]]) -> None:
        super().__init__(pairs)
        self.repeats_itself = len(self) < len(pairs)
        """Not only an object inside of it does."""
        inner = (f"{json.dumps(key, ensure_ascii=False)}: {_text(value)}" for key, value in pairs)
        self.text = f"{{{', '.join(inner)}}}"
        """Its JSON, with all that stood there."""


def decode_repeating(text: str) -> Any:
    """As `decode`, of text that `repeats_a_key`: the objects that do are `Repeating`."""

    def keep(pairs: list[tuple[str, object]]) -> dict[str, object]:
        kept = dict(pairs)
        is_repeating = len(kept) < len(pairs) or any(_holds_repeating(v) for v in kept.values())
        return Repeating(pairs) if is_repeating else kept

    return json.JSONDecoder(strict=False, object_pairs_hook=keep).decode(text)


def _holds_repeating(value: object) -> bool:
    if isinstance(value, list):
        return any(_holds_repeating(entry) for entry in cast("list[object]", value))
    return isinstance(value, Repeating)


def _text(value: object) -> str:
    if isinstance(value, Repeating):
        return value.text
    if isinstance(value, list):
        return f"[{', '.join(map(_text, cast('list[object]', value)))}]"
    return json.dumps(value, ensure_ascii=False)


def encode(value: object) -> bytes:
    """Compact JSON in UTF-8.

    A lone surrogate becomes U+FFFD: as an escape it is refused by llama.cpp's parser, and UTF-8
    has no place for it. NaN and infinities become null.
    """
    try:
        return to_json(value, inf_nan_mode="null")
    except (PydanticSerializationError, UnicodeEncodeError):
        return to_json(_sound(value), inf_nan_mode="null")


def _sound(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, Mapping):
        entries = cast("Mapping[object, object]", value)
        return {_sound(key): _sound(entry) for key, entry in entries.items()}
    if isinstance(value, (list, tuple)):
        return [_sound(entry) for entry in cast("list[object]", value)]
    return value


def is_json(data: bytes) -> bool:
    try:
        decode(data)
    except ValueError:
        return False
    return True


def dict_in(value: Mapping[str, Any], key: str) -> dict[str, Any]:
    """The object under `key`, or an empty one where a server put something else."""
    inner: object = value.get(key)
    return cast("dict[str, Any]", inner) if isinstance(inner, dict) else {}


def text_in(value: Mapping[str, Any], key: str) -> str:
    """The string under `key`, or an empty one where a server put something else."""
    inner: object = value.get(key)
    return inner if isinstance(inner, str) else ""


def dicts_in(value: object) -> list[dict[str, Any]]:
    """The objects of a list, or of a lone object; whatever else a server put there is left out."""
    entries = cast("list[object]", value) if isinstance(value, list) else [value]
    return [cast("dict[str, Any]", entry) for entry in entries if isinstance(entry, dict)]


def first_dict_in(value: object) -> dict[str, Any]:
    """The first of `dicts_in`, or an empty one."""
    if isinstance(value, list):
        listed = cast("list[object]", value)
        if listed and isinstance(listed[0], dict):  # as nearly always
            return cast("dict[str, Any]", listed[0])
    entries = dicts_in(cast("object", value))
    return entries[0] if entries else {}
