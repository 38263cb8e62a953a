"""What a model wrote in place of calls, as far as it is no answer.

`call_text.py` finds texts that consist of sound calls and nothing else. Here is the rest of what
must not pass for an answer: a call after a few words, or with the model's invention of its result
behind it; calls to tools that do not exist, which become calls for the registry to refuse; calls
that cannot be read, which run nothing and are named, so that the model is asked again.

Examples in an answer stay: what is fenced, quoted or announced as one is never a call.
"""

import json
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Literal, NamedTuple

from inglenook.messages import ToolSchema
from inglenook.providers.call_heads import MAX_HEAD_CHARS
from inglenook.providers.call_marks import MARK, UNSAID, WORDED_MARK, after_noise
from inglenook.providers.call_shapes import AnyToolName, FoundCall, ToolNames
from inglenook.providers.call_text import MAX_CALL_CHARS, CallText, explicit_starts
from inglenook.providers.call_values import MAX_PYTHON_CHARS, closing_bracket
from inglenook.providers.calls import MALFORMED_ARGUMENTS
from inglenook.providers.lead_ins import (
    MAX_LEAD_IN_CHARS,
    goes_on,
    intends,
    is_announced,
    is_open,
    is_thought,
    leads_in,
)
from inglenook.providers.quoting import is_quoted, is_quoted_line
from inglenook.providers.think_tags import without_tokens

CUT_BEFORE_NAME = "it ends before the name of a tool"
TO_ALL = ">>>all\n"
"""What Functionary writes before words that are for the user."""

SLACK_CHARS = 100
"""White space and thinking's remains around a lead-in, which its limit does not count."""

_KEYS = r"(?:name|tool|tool_name|function|function_name|action)"
_NAME_VALUE = re.compile(
    rf"[{{,\[]\s*[\"']{_KEYS}[\"']\s*:\s*[\"']((?:functions\.)?[A-Za-z_][\w.\-]{{0,63}})[\"']"
)
_NAME_TAG = re.compile(
    r"<(?:\w+:|｜DSML｜)?(?:function|invoke|tool)(?:=|\s+name=)[\"']?([A-Za-z_][\w.\-]{0,63})[\"'\s>]"
)
_NAME_WORD = re.compile(
    r"((?:functions\.)?[A-Za-z_][\w\-]{0,63})(?::\d+)?\s*"
    r"(?:<arg_key>|\[ARGS\]|\[CALL_ID\]|<\||<｜|\{|\(|```json|\*{0,2}action input\s*:|json\s*\{)",
    re.IGNORECASE,
)
_CUT_OBJECT = re.compile(
    rf"\[?\s*\{{\s*[\"']{_KEYS}[\"']\s*:\s*[\"']([\w.\-]+)[\"']\s*,\s*"
    r"[\"'](?:arguments|parameters|args|input|params)[\"']\s*:"
)
_CUT_AFTER_NAME = re.compile(
    rf"\[?\s*\{{\s*[\"']{_KEYS}[\"']\s*:\s*[\"']([\w.\-]+)[\"']\s*(?:,\s*[\"']?\w{{0,12}}[\"']?)?\s*\Z"
)
_CUT_PYTHON = re.compile(r"\[?\s*((?:functions\.|default_api\.)?\w+)\(\s*(?:\w+\s*=|[\"'])")
_CUT_BEFORE_NAME = re.compile(r"[\[{<\s]*[\"']?[\w=]{0,20}[\"']?\s*:?\s*[\"']?[\w.\-]{0,64}\Z")
_CLOSING = re.compile(
    r"</(?:tool_call|function_call|function|invoke)s?>|\[/tool_call", re.IGNORECASE
)
_LINE = re.compile(r"\n[ \t]{0,3}(?=\S)")
_json = json.JSONDecoder(strict=False)


class Written(NamedTuple):
    lead_in: str
    """What the model said before its call; most say nothing."""
    calls: Sequence[FoundCall]
    malformed: str | None = None
    """Why there are no calls, though the text is meant as one, in one clause."""


class Place(NamedTuple):
    """Where a call may begin: at a mark, at words that are one, or at the beginning of a line."""

    start: int
    end: int
    kind: Literal["mark", "words", "line"]


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

    def in_thinking(self, text: str) -> Written | None:
        """The calls that thinking ends with, for a reply that says nothing else."""
        if calls := self._sound.in_thinking(text):
            return Written("", calls)
        for start in explicit_starts(text):
            if why := self._why_cut(text, start):
                return Written("", [], why)
        return None

    def in_answer(self, text: str) -> Written | None:
        """The calls in place of an answer; None where `text` is one."""
        if calls := self._sound.in_answer(text):
            return Written("", calls)
        text = text[:MAX_CALL_CHARS].lstrip().removeprefix(TO_ALL)
        if self.may_begin(text[:MAX_HEAD_CHARS]) and (why := self._why_cut_bare(text)):
            return Written("", [], why)
        for place in _places(text):
            if place.kind == "line":
                written = self._unmarked(text, place.start)
            elif is_quoted(text, place.start, place.end) or is_quoted_line(text, place.start):
                return None
            else:
                written = self._marked(text, place)
            if written is not None or place.kind == "mark":
                return written
        return None

    def _unmarked(self, text: str, start: int) -> Written | None:
        """A call without a mark of its own that ends the reply, after words of intent."""
        lead_in = text[:start].strip()
        if not self.may_begin(text[start : start + MAX_HEAD_CHARS]) or not intends(lead_in):
            return None
        if _is_unseen_thought(text[:start]):
            lead_in = ""
        if calls := self._sound.all_of(text[start:]):
            return Written(lead_in, calls)
        why = self._why_cut_bare(text[start:])
        return Written(lead_in, [], why) if why else None

    def _marked(self, text: str, place: Place) -> Written | None:
        start = place.start
        before = without_tokens(text[:start])
        is_said = not UNSAID.fullmatch(before) and not _is_unseen_thought(before)
        lead_in = before.strip() if is_said else ""
        if is_said and not (leads_in(before) if place.kind == "mark" else intends(lead_in)):
            return None
        calls, end, why = self._calls_from(text, start)
        if not calls and why is None:
            return None
        rest = text[end:].strip()
        if goes_on(rest) or (is_open(lead_in) and rest):
            return None
        if is_announced(lead_in) and any(self._names.find(call.name) is None for call in calls):
            return None  # a placeholder such as `tool_name`
        return Written(lead_in, calls, None if calls else why)

    def _calls_from(self, text: str, start: int) -> tuple[list[FoundCall], int, str | None]:
        """The calls written from `start` on, where they end, and why they end there if what
        follows is a call that cannot be read."""
        calls: list[FoundCall] = []
        position = start
        while True:
            begun, position = position, after_noise(text, position)
            if position == len(text):
                why = None if calls or begun == position else CUT_BEFORE_NAME
                return calls, position, why
            marked = begun == start or bool(MARK.search(text, begun, position))
            marked = marked or bool(MARK.match(text, position))
            if not marked and text[position] not in "{[":
                return calls, position, None
            taken = self._any.take(text, position)
            if taken is None:
                return self._with_cut(calls, text, position) if marked else (calls, position, None)
            found, position = taken
            calls += found

    def _with_cut(
        self, calls: list[FoundCall], text: str, position: int
    ) -> tuple[list[FoundCall], int, str | None]:
        """`calls`, and what can be said of the one at `position` that cannot be read.

        Beside sound calls it becomes a call, too, and so does one to a tool that there is not: its
        result tells the model.
        """
        closing = _CLOSING.search(text, position)
        end = closing.start() if closing else len(text)
        name = _name_at(text, position, end)
        if name is None:
            is_cut = _CUT_BEFORE_NAME.match(text, position)
            return (calls, len(text), CUT_BEFORE_NAME) if is_cut else (calls, position, None)
        if calls or not self._names.is_tool(name):
            source = {MALFORMED_ARGUMENTS: text[position:end].strip()}
            return [*calls, FoundCall(name=name, arguments=source)], len(text), None
        return [], len(text), _unreadable(name, is_cut=closing is None)

    def _why_cut(self, text: str, start: int) -> str | None:
        """Why the call in explicit tags at `start`, to a tool of the run, cannot be read."""
        position = after_noise(text, start)
        name = _name_at(text, position, len(text))
        if name is None or not self._names.is_tool(name) or _CLOSING.search(text, position):
            return None
        return _unreadable(name, is_cut=True)

    def _why_cut_bare(self, text: str) -> str | None:
        """Why a reply that is nothing but one call to a tool of the run cannot be read."""
        start = after_noise(text, 0)
        patterns = (_CUT_OBJECT, _CUT_AFTER_NAME, _CUT_PYTHON)
        found = next((found for each in patterns if (found := each.match(text, start))), None)
        if found is None or not self._names.is_tool(found[1]):
            return None
        is_object = "{" in found[0]
        if is_object and _is_json(text, start):
            return None
        end = closing_bracket(text, start if text[start] in "{[" else text.index("(", start))
        is_whole = end is not None and after_noise(text, end) == len(text)
        is_open = end is None and len(text) - start < MAX_PYTHON_CHARS
        if is_open or (is_object and is_whole):
            return _unreadable(found[1], is_cut=is_open)
        return None


def _places(text: str) -> Iterator[Place]:
    """The places in the first words of a text, up to the first mark."""
    limit = MAX_LEAD_IN_CHARS + SLACK_CHARS
    if words := WORDED_MARK.match(text):
        yield Place(*words.span(), "words")
    mark = MARK.search(text, 0, limit)
    for line in _LINE.finditer(text, 0, mark.start() if mark else limit):
        start = line.end()
        if words := WORDED_MARK.match(text, start):
            yield Place(*words.span(), "words")
        elif text.count("```", 0, start) % 2 == 0:
            yield Place(start, start, "line")
    if mark is not None:
        yield Place(*mark.span(), "mark")


def _is_unseen_thought(before: str) -> bool:
    """Whether what stands before a call is a ReAct thought, held back with it."""
    return len(before) < MAX_HEAD_CHARS and is_thought(before)


def _name_at(text: str, position: int, end: int) -> str | None:
    """The name in a call that cannot be read, if that can."""
    if text[position : position + 1] in ("{", "["):
        name = _NAME_VALUE.search(text, position, end)
    else:
        name = _NAME_TAG.match(text, position) or _NAME_WORD.match(text, position)
    return name[1].removeprefix("functions.") if name else None


def _unreadable(name: str, *, is_cut: bool) -> str:
    name = name.removeprefix("functions.")
    fault = "ends before it is complete" if is_cut else "cannot be read"
    return f"the call of {name!r} {fault}"


def _is_json(text: str, start: int) -> bool:
    try:
        _json.raw_decode(text, start)
    except (ValueError, RecursionError):
        return False
    return True
