"""Repeats: the calls that a run has made, told apart by what they mean, not by how they read."""

import re
from collections.abc import Sequence
from typing import NamedTuple, cast

from inglenook.events import ToolFinished
from inglenook.messages import ToolCall
from inglenook.tools.registry import plain_name


class Outcome(NamedTuple):
    """What a call gave, and how often it was made with that result."""

    result: str
    is_error: bool
    blocked: bool
    times: int


class Repeats:
    """How often each call was made with the same result and no write between."""

    def __init__(self) -> None:
        self._seen: dict[str, Outcome] = {}
        self._keys: dict[str, str] = {}
        """Of calls that have no result yet, by id: each is asked for more than once."""
        self._last = ""
        self._in_a_row = 0

    def of(self, call: ToolCall) -> Outcome | None:
        """None if the call was not made yet."""
        return self._seen.get(self._key(call))

    def in_a_row(self, call: ToolCall) -> int:
        """How many times it was made at the end, with no other call between, whatever came back."""
        return self._in_a_row if self._last == self._key(call) else 0

    def note(self, event: ToolFinished, *, is_write: bool) -> None:
        if is_write and not event.is_error:
            self._seen.clear()
        key = self._key(event.call)
        self._keys.pop(event.call.id, None)
        self._in_a_row = self._in_a_row + 1 if key == self._last else 1
        self._last = key
        seen = self._seen.get(key)
        if seen is not None and (event.from_memory or seen.result == event.result):
            self._seen[key] = seen._replace(times=seen.times + 1)
        else:
            self._seen[key] = Outcome(event.result, event.is_error, event.blocked, 1)

    def _key(self, call: ToolCall) -> str:
        key = self._keys.get(call.id)
        if key is None:
            key = self._keys[call.id] = _repeat_key(call)
        return key


def _repeat_key(call: ToolCall) -> str:
    """The same for calls that a tool would take alike: "1" is 1, and null is left out.

    Flat arguments are told by their text: walking them costs more than all the rest.
    """
    text = repr(sorted(call.arguments.items()))
    if _NEEDS_WALK.search(text):
        text = repr(_meant(dict(call.arguments)))
    return plain_name(call.name) + text.replace("'", "").replace('"', "")


def _meant(value: object) -> object:
    if isinstance(value, dict):
        pairs = cast("dict[str, object]", value).items()
        return sorted((key, _meant(each)) for key, each in pairs if each is not None)
    if isinstance(value, list | tuple):
        return [_meant(each) for each in cast("Sequence[object]", value)]
    if isinstance(value, bool):
        return str(value).lower()
    return int(value) if isinstance(value, float) and value.is_integer() else value


_NEEDS_WALK = re.compile(r"\.0|None|True|False|\{|\[.*\[")
