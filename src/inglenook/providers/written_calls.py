"""Replies that are plainly tool calls, though not fit to run as they stand.

`call_text.py` finds texts that consist of sound calls and nothing else. Here is the rest of what
must not pass for an answer: a marked call after a short lead-in, or with the model's invention of
its result behind it; calls to tools that do not exist; calls cut off. The last two become calls
too, so that the registry refuses them and the model is told.

Examples in an answer stay: what is fenced, quoted or announced as one is never a call.
"""

import json
import re
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from inglenook.messages import ToolSchema
from inglenook.providers.call_shapes import AnyToolName, FoundCall, ToolNames
from inglenook.providers.call_text import MAX_CALL_CHARS, CallText, after_noise
from inglenook.providers.call_values import MAX_PYTHON_CHARS, closing_bracket
from inglenook.providers.calls import MALFORMED_ARGUMENTS
from inglenook.providers.quoting import is_quoted

MAX_LEAD_IN_CHARS = 200
"""What a model says before it calls; what is longer is an answer with an example in it."""

_TAG_NAMES = "tool_call tool_calls function_call function_calls longcat_tool_call minimax:tool_call"
MARK_LITERALS = (
    *(f"<{name}>" for name in _TAG_NAMES.split()),
    *("[tool_call]", "[tool_calls]", "<function=", "<invoke ", "<|python_tag|>"),
    *("<|tool_call_begin|>", "<|tool_calls_begin|>", "<|tool_calls_section_begin|>"),
    *("<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>"),
)
"""What only a call begins with."""
MARK = re.compile("|".join(map(re.escape, MARK_LITERALS)), re.IGNORECASE)
_WORDED_MARK = re.compile(
    r"(?:thought:[^\n]*\n\s*)?"
    r"(?:action\s*:\s*[\w.\-]+[ \t]*\n\s*action input\s*:|calling tools?\s*:\s*(?=[\[{]))",
    re.IGNORECASE,
)
"""Words that mark a call, at the beginning of a reply only."""
_EXPLAINS = re.compile(
    r"\b(?:examples?|exemples?|ejemplos?|beispiele?|formats?|syntax|syntaxe|sintaxis|templates?"
    r"|looks? like|calls? looks?|is how)\b",
    re.IGNORECASE,
)
_NAME_VALUE = re.compile(
    r"[{,]\s*[\"'](?:name|tool|tool_name|function|function_name|action)[\"']\s*:\s*"
    r"[\"'](?:functions\.)?([A-Za-z_][\w.\-]{0,63})[\"']"
)
_NAME_TAG = re.compile(r"<(?:function|invoke)(?:=|\s+name=)[\"']?([A-Za-z_][\w.\-]{0,63})[\"'\s>]")
_NAME_WORD = re.compile(
    r"(?:functions\.)?([A-Za-z_][\w\-]{0,63})(?::\d+)?"
    r"\s*(?:<arg_key>|\[ARGS\]|<\||<｜|\{|\(|```json|action input\s*:)",
    re.IGNORECASE,
)
_CUT_OBJECT = re.compile(
    r"\{\s*[\"'](?:name|tool|tool_name|function_name)[\"']\s*:\s*[\"']([\w.\-]+)[\"']\s*,\s*"
    r"[\"'](?:arguments|parameters|args|input|params)[\"']\s*:"
)
_CUT_PYTHON = re.compile(r"(?:functions\.)?(\w+)\(\s*(?:\w+\s*=|[\"'])")
_CLOSING = re.compile(
    r"</(?:tool_call|function_call|function|invoke)s?>|\[/tool_call", re.IGNORECASE
)
_json = json.JSONDecoder(strict=False)


class Written(NamedTuple):
    lead_in: str
    """What the model said before its call; most say nothing."""
    calls: Sequence[FoundCall]


class WrittenCalls:
    """Finds what the model wrote in place of calls to one run's tools."""

    def __init__(self, tools: Sequence[ToolSchema]) -> None:
        self._tools = tools  # most replies with calls have no text to look at

    @cached_property
    def _names(self) -> ToolNames:
        return ToolNames(self._tools)

    @cached_property
    def _sound(self) -> CallText:
        return CallText(self._names)

    @cached_property
    def _any(self) -> CallText:
        return CallText(AnyToolName(self._tools))

    def may_begin(self, head: str) -> bool:
        """Whether a text that begins like this may still turn out to be calls."""
        return self._sound.may_begin(head)

    def in_thinking(self, text: str) -> list[FoundCall]:
        return self._sound.in_thinking(text)

    def in_answer(self, text: str) -> Written | None:
        """The calls in place of an answer; None where `text` is one."""
        if calls := self._sound.in_answer(text):
            return Written("", calls)
        text = text[:MAX_CALL_CHARS].lstrip()
        if cut := self._cut_bare(text):
            return Written("", [cut])
        if _WORDED_MARK.match(text):
            return self._marked(text, 0)
        mark = MARK.search(text, 0, MAX_LEAD_IN_CHARS + 100)
        if mark is None or is_quoted(text, mark.start(), mark.end()):
            return None
        return self._marked(text, mark.start())

    def _marked(self, text: str, start: int) -> Written | None:
        lead_in = text[after_noise(text, 0) : start].strip()
        if lead_in and not _leads_in(lead_in, text[:start]):
            return None
        calls, end = self._calls_from(text, start)
        if not calls:
            return None
        rest = text[end:].strip()
        is_announced = lead_in.endswith(":")
        if _EXPLAINS.search(rest, 0, MAX_LEAD_IN_CHARS) or (is_announced and rest):
            return None
        if is_announced and any(self._names.find(call.name) is None for call in calls):
            return None  # a placeholder such as `tool_name`
        return Written(lead_in, calls)

    def _calls_from(self, text: str, start: int) -> tuple[list[FoundCall], int]:
        """The calls written from `start` on, up to the first thing that is none."""
        calls: list[FoundCall] = []
        position = start
        while True:
            begun, position = position, after_noise(text, position)
            if position == len(text):
                return calls, position
            marked = begun == start or bool(MARK.search(text, begun, position))
            marked = marked or bool(MARK.match(text, position))
            if not marked and text[position] not in "{[":
                return calls, position
            taken = self._any.take(text, position)
            if taken is None:
                cut = _cut_marked(text, position) if marked else None
                return (calls, position) if cut is None else ([*calls, cut], len(text))
            found, position = taken
            calls += found

    def _cut_bare(self, text: str) -> FoundCall | None:
        """A reply that is nothing but one call to a known tool, and broken."""
        start = after_noise(text, 0)
        found = _CUT_OBJECT.match(text, start) or _CUT_PYTHON.match(text, start)
        if found is None or self._names.find(found[1]) is None:
            return None
        is_object = text[start] == "{"
        if is_object and _is_json(text, start):
            return None
        end = closing_bracket(text, start if is_object else text.index("(", start))
        is_whole = end is not None and after_noise(text, end) == len(text)
        is_open = end is None and len(text) - start < MAX_PYTHON_CHARS
        if is_open or (is_object and is_whole):
            return _malformed(found[1], text[start:])
        return None


def _leads_in(lead_in: str, before: str) -> bool:
    """Whether a call may follow: after a few words that announce no example of one."""
    if len(lead_in) > MAX_LEAD_IN_CHARS or _EXPLAINS.search(lead_in):
        return False
    return before.rstrip(" \t").endswith("\n") or lead_in.endswith((".", "!", "?", "…"))


def _cut_marked(text: str, position: int) -> FoundCall | None:
    """The call at `position` that cannot be read, if its name can."""
    closing = _CLOSING.search(text, position)
    end = closing.start() if closing else len(text)
    if text[position] in "{[":
        name = _NAME_VALUE.search(text, position, end)
    else:
        name = _NAME_TAG.match(text, position) or _NAME_WORD.match(text, position)
    return _malformed(name[1], text[position:end].strip()) if name else None


def _malformed(name: str, source: str) -> FoundCall:
    return FoundCall(name=name, arguments={MALFORMED_ARGUMENTS: source})


def _is_json(text: str, start: int) -> bool:
    try:
        _json.raw_decode(text, start)
    except (ValueError, RecursionError):
        return False
    return True


def begins_mark(text: str) -> int:
    """Where `text` ends in the beginning of a mark; its length if it does not."""
    start = max(text.rfind("<", -32), text.rfind("[", -32))
    if start < 0:
        return len(text)
    tail = text[start:].lower()
    return start if any(mark.startswith(tail) for mark in MARK_LITERALS) else len(text)
