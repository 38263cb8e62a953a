"""The reply of envelope mode, read while it comes: one JSON object, a call or an answer.

Pure. A model that is held to the schema writes nothing else; what others write around or instead of
it is read as far as it can be. The text of an answer is shown decoded, a call is never shown.

Shape: {"name": str, "arguments": {…}} or {"answer": str}
"""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from inglenook.providers import wire_json
from inglenook.providers.calls import RawCall
from inglenook.providers.json_text import ends_value, next_text
from inglenook.providers.wire_json import Repeating, decode_repeating, repeats_a_key

NAME, ARGUMENTS, ANSWER = "name", "arguments", "answer"
NAMES = (NAME, "tool", "tool_name", "function")
"""The first is asked for; the others are what models write that nothing holds to it."""
ARGUMENT_NAMES = (ARGUMENTS, "parameters", "args", "input")
ANSWERS = (ANSWER, "final_answer", "response")

_State = Literal["start", "prose", "members", "value", "answer", "silent"]
_OPENING = re.compile(r"\s*(?:```\w*\s*)?(?=\{)")
_MAY_OPEN = re.compile(r"\s*(?:`{0,3}|```\w*\s*)")
_EMBEDDED = re.compile(rf'(?:```\w*\s*)?(?=\{{\s*"(?:{"|".join(ANSWERS)})"\s*:)')
"""An answer behind other words. A call there may have marks of the model's own around it and is
`RecoveringProvider`'s to find."""
_MAY_EMBED = re.compile(r'(?:`{1,3}\w*\s*)?(?:\{\s*(?:"\w*(?:"\s*)?)?)?')
_KEY = re.compile(r'[\s,]*"((?:[^"\\]|\\.)*)"\s*:\s*', re.DOTALL)
_MAY_BE_KEY = re.compile(r'[\s,]*(?:"(?:[^"\\]|\\.)*(?:\\|"\s*)?)?', re.DOTALL)
_NAMED = re.compile(rf'"(?:{"|".join(NAMES)})"\s*:\s*"([^"\\]*)"')


@dataclass(frozen=True, kw_only=True)
class Read:
    """What a whole reply was."""

    text: str
    """The answer, or what was said before a call."""
    due: str = ""
    """The part of `text` that was not shown yet."""
    call: RawCall | None = None
    broken: str | None = None
    """It is meant as a call and cannot be read; why, in one clause."""
    is_mended: bool = False
    """It was not just the object that was asked for."""


class EnvelopeReader:
    """Takes one reply piece by piece; however it is cut, the outcome is the same."""

    def __init__(self) -> None:
        self._state: _State = "start"
        self._raw: list[str] = []
        self._waiting = ""
        """What has come and is not understood yet."""
        self._shown: list[str] = []
        self._taken = 0
        """Characters before `_waiting`."""
        self._object_at: int | None = None
        self._key = ""
        self._skipped = _Skipped()
        self._has_answer = False

    def feed(self, piece: str) -> str:
        """The part of the answer that this piece brings."""
        self._raw.append(piece)
        if self._state == "silent":
            return ""
        self._waiting += piece
        shown: list[str] = []
        while True:
            before = (self._state, self._taken)
            match self._state:
                case "start":
                    self._read_start()
                case "prose":
                    shown.append(self._read_prose())
                case "members":
                    self._read_key()
                case "value":
                    self._read_value()
                case "answer":
                    shown.append(self._read_answer())
                case _:
                    pass
            if (self._state, self._taken) == before:
                break
        self._shown += shown
        return "".join(shown)

    def end(self, tools: Collection[str], *, is_cut: bool) -> Read:
        """
        Args:
            tools: Names of those that may be called.
            is_cut: The output limit ended the reply.
        """
        raw, shown = "".join(self._raw), "".join(self._shown)
        if self._object_at is None:
            return Read(text=raw, due=self._waiting, is_mended=bool(raw.strip()))
        value, is_whole = _object_in(raw[self._object_at :])
        is_mended = not is_whole or not _is_asked_for(value) or bool(raw[: self._object_at].strip())
        if self._has_answer:
            return Read(text=shown, is_mended=is_mended)
        before = shown.strip()
        if value is None:
            if broken := _broken(raw[self._object_at :], tools, before, is_cut=is_cut):
                return Read(text=before, broken=broken, is_mended=True)
        elif isinstance(value, Repeating) and value.repeats_itself and not before:
            return Read(text=before, broken="it has a key twice", is_mended=True)
        elif answer := _answer_in(value, tools):
            return Read(text=shown + answer, due=answer, is_mended=True)
        elif call := _call_in(value, tools, is_alone=not before):
            return Read(text=before, call=call, is_mended=is_mended)
        elif any(name in value for name in ANSWERS) or not (value or before):  # an empty one
            return Read(text=shown, is_mended=is_mended)
        return Read(text=raw, due=raw[len(shown) :], is_mended=True)

    def _take(self, length: int) -> str:
        taken, self._waiting = self._waiting[:length], self._waiting[length:]
        self._taken += length
        return taken

    def _begin_object(self) -> None:
        self._object_at = self._taken
        self._take(1)
        self._state = "members"

    def _read_start(self) -> None:
        if opening := _OPENING.match(self._waiting):
            self._take(opening.end())
            self._begin_object()
        elif not _MAY_OPEN.fullmatch(self._waiting):
            self._state = "prose"

    def _read_prose(self) -> str:
        if embedded := _EMBEDDED.search(self._waiting):
            text = self._take(embedded.start())
            self._take(embedded.end() - embedded.start())
            self._begin_object()
            return text
        for sign in re.finditer(r"[`{]", self._waiting):
            if _MAY_EMBED.fullmatch(self._waiting, sign.start()):
                return self._take(sign.start())
        return self._take(len(self._waiting))

    def _read_key(self) -> None:
        if key := _KEY.match(self._waiting):
            self._take(key.end())
            self._key = key[1]
            self._skipped = _Skipped()
            self._state = "silent" if self._key in NAMES else "value"
        elif not _MAY_BE_KEY.fullmatch(self._waiting):
            self._state = "silent"

    def _read_value(self) -> None:
        if self._skipped.is_fresh:
            self._take(len(self._waiting) - len(self._waiting.lstrip()))
            if self._key in ANSWERS and self._waiting.startswith('"'):
                self._take(1)
                self._state = "answer"
                return
        length = self._skipped.length_in(self._waiting)
        self._take(length)
        if self._waiting:
            self._state = "members" if self._waiting[0] == "," else "silent"

    def _read_answer(self) -> str:
        text, length = "", 0
        while True:
            piece, read = next_text(self._waiting, length)
            text += piece
            length += read
            if not read:
                break
        self._take(length)
        if ends_value(self._waiting):
            self._state = "silent"
        self._has_answer = self._has_answer or bool(text.strip())
        return text


class _Skipped:
    """A value that nobody is shown, measured while it comes."""

    def __init__(self) -> None:
        self.is_fresh = True
        self._depth = 0
        self._in_text = self._is_escaped = False

    def length_in(self, text: str) -> int:
        """How much of `text` still belongs to the value."""
        for position, sign in enumerate(text):
            if self._in_text:
                self._read_text(sign)
                continue
            if self._depth == 0 and sign in ",}":
                return position
            self.is_fresh = False
            if sign == '"':
                self._in_text = True
            elif sign in "{[":
                self._depth += 1
            elif sign in "}]":
                self._depth -= 1
        return len(text)

    def _read_text(self, sign: str) -> None:
        if self._is_escaped:
            self._is_escaped = False
        elif sign == "\\":
            self._is_escaped = True
        elif sign == '"':
            self._in_text = False


def _object_in(text: str) -> tuple[dict[str, Any] | None, bool]:
    """The object that `text` begins with, and whether nothing else is there.

    The last bracket may be missing: then nothing of the object is.
    """
    for closed in (text, text.rstrip() + "}"):
        try:
            value, end = json.JSONDecoder(strict=False).raw_decode(closed)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            if repeats_a_key(closed[:end]):
                value = decode_repeating(closed[:end])
            rest = closed[end:].strip()
            return cast("dict[str, Any]", value), closed is text and not rest
    return None, False


def _broken(text: str, tools: Collection[str], before: str, *, is_cut: bool) -> str | None:
    """What is wrong with `text`, no whole object, if it was to be a call; None: it is no call."""
    named = _NAMED.search(text)
    if before and (named is None or not _is_known(named[1], tools)):
        return None
    if named is None and not is_cut:
        return None
    call = f"the call of {named[1]!r}" if named else "it"
    return f"{call} was cut off at the model's output limit" if is_cut else f"{call} is broken JSON"


def _is_known(name: str, tools: Collection[str]) -> bool:
    return name.strip().lower() in {tool.lower() for tool in tools}


def _is_asked_for(value: Mapping[str, Any] | None) -> bool:
    if value is None or isinstance(value, Repeating):
        return False
    if set(value) == {ANSWER}:
        return isinstance(value[ANSWER], str)
    return set(value) == {NAME, ARGUMENTS} and isinstance(value[ARGUMENTS], dict)


def _answer_in(value: Mapping[str, Any], tools: Collection[str]) -> str:
    """An answer that is no string, stands beside an empty name, or that the model wrote as a call
    of a tool there is not."""
    for key in ANSWERS:
        answer: object = value.get(key)
        if answer is None or _name_in(value):
            continue
        if isinstance(answer, str):
            return answer
        inner = cast("dict[str, Any]", answer) if isinstance(answer, dict) else {}
        said = _answer_in(inner, tools) if len(inner) == 1 else ""  # the envelope twice
        return said or wire_json.encode(cast("object", answer)).decode()
    name = _name_in(value)
    if name is None or name not in ANSWERS or name in tools:
        return ""
    said = [v for v in _arguments_in(value).values() if isinstance(v, str)]
    return said[0] if said else ""


def _call_in(value: Mapping[str, Any], tools: Collection[str], *, is_alone: bool) -> RawCall | None:
    """The call that `value` is. In the middle of a text only tools that there are can be called;
    a reply that is nothing but a call may name a wrong one, and the model is told so."""
    function: object = value.get("function")
    if isinstance(function, dict):
        value = cast("dict[str, Any]", function)
    name = _name_in(value)
    if name is None:
        return None
    has_arguments = any(key in value for key in ARGUMENT_NAMES)
    if not (_is_known(name, tools) or (is_alone and has_arguments)):
        return None
    given = next((value[key] for key in ARGUMENT_NAMES if key in value), _arguments_in(value))
    return RawCall(None, name, given.text if isinstance(given, Repeating) else given)


def _name_in(value: Mapping[str, Any]) -> str | None:
    names = (value.get(key) for key in NAMES)
    return next((name for name in names if isinstance(name, str)), None)


def _arguments_in(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments of a call; where it has no object of them, what else stands beside the name."""
    for key in ARGUMENT_NAMES:
        given: object = value.get(key)
        if isinstance(given, dict):
            return cast("dict[str, Any]", given)
    return {key: entry for key, entry in value.items() if key not in NAMES}
