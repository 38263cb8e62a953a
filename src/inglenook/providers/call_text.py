"""Calls that a model wrote as text: one recogniser for all families' formats.

A text is calls or it is not: it has to consist of complete calls to allowed tools and the noise
around them (tags, fences, lead-ins), from its first character to its last. So a normal answer that
quotes or explains a call is never taken for one.

Formats: `<tool_call>{json}</tool_call>` (Hermes, Qwen), `<function=f><parameter=p>` (Qwen Coder),
`<invoke name="f"><parameter name="p">` (MiniMax, DeepSeek V3.2), `<arg_key>`/`<arg_value>` (GLM),
`<|tool_call_begin|>functions.f:0` (Kimi), `f<｜tool▁sep｜>` (DeepSeek), `[TOOL_CALLS]f[ARGS]{json}`
(Mistral), `<|python_tag|>` (Llama), `tool_code` and `call:f{p:…}` (Gemma), `functools[…]` (Phi),
`<|START_ACTION|>[…]` (Command R), `commentary to=functions.f` (gpt-oss), `>>>f` (Functionary),
`Calling tools: […]`, `Action: f` / `Action Input: {json}`, bare or fenced JSON and Python.
"""

import json
import re

from inglenook.messages import ToolSchema
from inglenook.providers.call_heads import MAX_HEAD_CHARS, CallHeads
from inglenook.providers.call_marks import NAMESPACE, after_noise
from inglenook.providers.call_shapes import FoundCall, ToolNames, required
from inglenook.providers.call_values import (
    MAX_PYTHON_CHARS,
    closing_bracket,
    escaped_pairs,
    object_in,
    one_call,
    pairs,
    parameters,
    python_literal,
    value_with_keys_once,
    with_keys_once,
)

MAX_CALL_CHARS = 200_000
"""Longer texts are answers; a file that is written in a call may be long."""
MAX_CALLS = 64
"""Tags that are tried in thinking, from the end; each try may read all that follows it."""

_EXPLICIT = re.compile(
    r"<(?:tool_calls?|function_calls?|longcat_tool_call|minimax:tool_call)>|\[tool_calls?\]"
    r"|<function[= ]|<invoke |<\|tool_calls?_(?:section_)?begin\|>|<｜tool▁calls▁begin｜>",
    re.IGNORECASE,
)
_FUNCTION = re.compile(
    rf"<{NAMESPACE}(?P<tag>function|invoke|tool|tool_call)"
    r"(?:=|\s+name=)[\"']?(?P<name>[\w.\-]{1,64})(?![\w.\-])[^<>]*>"
)
_TOOL_CODE = re.compile(r"\s*```tool_code[ \t]*\n(.*?)\n?```\s*(?:<end_of_turn>\s*)?", re.DOTALL)
_ARGUMENT_PAIR = re.compile(
    r"\s*<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>", re.DOTALL
)
_NAME = re.compile(r"((?:(?:functions|default_api)\.)?[\w\-]+)(?::\d+)?", re.IGNORECASE)
_CALLED_SO = re.compile(r"(?:\.call)?\(")
_CHILD = re.compile(r"\s*<([\w\-]+)>(.*?)</\1>\s*", re.DOTALL)
_NAMED_ELEMENT = re.compile(
    r"<(?:tool_)?name>\s*([\w.\-]+)\s*</(?:tool_)?name>\s*"
    r"<(arguments|parameters|args|input)>(.*?)</\2>",
    re.DOTALL,
)
_CLOSING_TAG = re.compile(rf"\s*(?:</{NAMESPACE}tool_call>|<\|/?tool_call\w*\|>)", re.IGNORECASE)
_json = json.JSONDecoder(strict=False)

Taken = tuple[list[FoundCall], int]


class CallText:
    """Finds calls to one run's tools in what the model wrote."""

    def __init__(self, names: ToolNames) -> None:
        self._names = names
        self._heads = CallHeads(names)

    def may_begin(self, head: str) -> bool:
        """Whether a text that begins like this may still turn out to be calls."""
        return self._heads.may_begin(head)

    def in_answer(self, text: str) -> list[FoundCall]:
        """The calls that `text` consists of; none where it is anything more."""
        if len(text) > MAX_CALL_CHARS or not self.may_begin(text[:MAX_HEAD_CHARS]):
            return []
        return self.all_of(text)

    def in_thinking(self, text: str) -> list[FoundCall]:
        """The calls that thinking ends with; in explicit tags, since models think about calls."""
        text = text[-MAX_CALL_CHARS:]
        for start in explicit_starts(text):
            if calls := self.all_of(text[start:]):
                return calls
        return []

    def all_of(self, text: str) -> list[FoundCall]:
        code = _TOOL_CODE.fullmatch(text)
        if code and len(code[1]) < MAX_PYTHON_CHARS and (calls := self._names.code_calls(code[1])):
            return calls
        calls = list[FoundCall]()
        position = 0
        while True:
            position = after_noise(text, position)
            if position == len(text):
                return calls
            taken = self.take(text, position)
            if taken is None:
                return []
            found, position = taken
            calls += found

    def take(self, text: str, start: int) -> Taken | None:
        """The calls written at `start` and where they end."""
        first = text[start]
        if text.startswith("{{", start):  # Qwen2.5 Coder: its template shows calls like this
            taken = self._take_value(text, start + 1)
            if taken is None or not text.startswith("}", taken[1]):
                return None
            return taken[0], taken[1] + 1
        if first in "{[":
            return self._take_value(text, start)
        if first == "<":
            return self._take_function(text, start) or self._take_element(text, start)
        return self._take_named(text, start)

    def _take_value(self, text: str, start: int) -> Taken | None:
        value: object
        is_python = False
        try:
            value, end = _json.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = closing_bracket(text, start)
            if end is None:
                return None
            source = text[start:end]
            value, is_python = python_literal(source), True
            if value is None:
                calls = self._names.python_calls(source)
                return (calls, end) if calls else None
        calls = self._names.calls_in(value)
        return (with_keys_once(calls, text[start:end], is_python=is_python), end) if calls else None

    def _take_function(self, text: str, start: int) -> Taken | None:
        """A tag with the tool's name, and in it JSON or parameters in tags."""
        found = _FUNCTION.match(text, start)
        tool = self._names.find(found["name"]) if found else None
        if found is None or tool is None:
            return None
        position = found.end()
        closing = re.compile(rf"\s*</{NAMESPACE}{found['tag']}>")
        brace = after_noise(text, position)
        if text[brace : brace + 1] == "{":
            try:
                value, end = _json.raw_decode(text, brace)
            except (ValueError, RecursionError):
                return None
            arguments = value_with_keys_once(value, text[brace:end])
        else:
            arguments, end = parameters(text, position, tool)
        closed = closing.match(text, end)
        return one_call(tool, arguments, closed.end()) if closed else None

    def _take_element(self, text: str, start: int) -> Taken | None:
        """`<tool><parameter>value</parameter></tool>`, or JSON in place of the inner tags; or
        `<name>` and `<arguments>`."""
        if named := _NAMED_ELEMENT.match(text, start):
            tool = self._names.find(named[1])
            return one_call(tool, object_in(named[3]), named.end()) if tool else None
        found = _CHILD.match(text, start)
        tool = self._names.find_known(found[1]) if found else None
        if found is None or tool is None:
            return None
        arguments = object_in(found[2])
        if arguments is None:
            arguments = pairs(_CHILD, found[2], tool)
        return one_call(tool, arguments, found.end())

    def _take_named(self, text: str, start: int) -> Taken | None:
        """The tool's name, then its arguments: Python, JSON, or GLM's pairs."""
        if text.startswith("print(", start):
            return self._take_python(text, start, start + len("print"))
        if text.startswith("call:", start):
            return self._take_escaped(text, start + len("call:"))
        found = _NAME.match(text, start)
        tool = self._names.find(found[1]) if found else None
        if found is None or tool is None:
            return None
        position = found.end()
        if bracket := _CALLED_SO.match(text, position):
            return self._take_python(text, start, bracket.end() - 1)
        if _ARGUMENT_PAIR.match(text, position):
            end = position
            while pair := _ARGUMENT_PAIR.match(text, end):
                end = pair.end()
            return one_call(tool, pairs(_ARGUMENT_PAIR, text[position:end], tool), end)
        return self._take_arguments(tool, text, position)

    def _take_python(self, text: str, start: int, bracket: int) -> Taken | None:
        end = closing_bracket(text, bracket)
        calls = self._names.python_calls(text[start:end]) if end else None
        return (calls, end) if calls and end else None

    def _take_escaped(self, text: str, start: int) -> Taken | None:
        """`f{name:<escape>text<escape>,name:3}`: FunctionGemma."""
        found = _NAME.match(text, start)
        tool = self._names.find(found[1]) if found else None
        if found is None or tool is None:
            return None
        arguments, end = escaped_pairs(text, found.end(), tool)
        return one_call(tool, arguments, end)

    def _take_arguments(self, tool: ToolSchema, text: str, after_name: int) -> Taken | None:
        position = after_noise(text, after_name)
        if text[position : position + 1] != "{":
            is_whole = not required(tool) and _CLOSING_TAG.match(text, after_name)
            return ([FoundCall(name=tool.name, arguments={})], after_name) if is_whole else None
        value: object
        try:
            value, end = _json.raw_decode(text, position)
        except (ValueError, RecursionError):
            end = closing_bracket(text, position)
            if end is None:
                return None
            return one_call(tool, python_literal(text[position:end]), end)
        return one_call(tool, value_with_keys_once(value, text[position:end]), end)


def explicit_starts(text: str) -> list[int]:
    """Where explicit tags of calls stand in thinking, outside of inline code; the last few."""
    starts = [found.start() for found in _EXPLICIT.finditer(text)][-MAX_CALLS:]
    return [start for start in starts if text.count("`", 0, start) % 2 == 0]
