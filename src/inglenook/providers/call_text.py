"""Calls that a model wrote as text: one recogniser for all families' formats.

A text is calls or it is not: it has to consist of complete calls to allowed tools and the noise
around them (tags, fences, lead-ins), from its first character to its last. So a normal answer that
quotes or explains a call is never taken for one.

Formats: `<tool_call>{json}</tool_call>` (Hermes, Qwen), `<function=f><parameter=p>` (Qwen Coder),
`<arg_key>`/`<arg_value>` (GLM), `<|tool_call_begin|>functions.f:0` (Kimi), `f<｜tool▁sep｜>`
(DeepSeek), `[TOOL_CALLS]f[ARGS]{json}` (Mistral), `<|python_tag|>` (Llama), `tool_code` (Gemma),
`Calling tools: […]`, `Action: f` / `Action Input: {json}`, bare or fenced JSON and Python.
"""

import json
import re

from inglenook.providers.call_shapes import FIRST_KEYS, FoundCall, ToolNames
from inglenook.providers.call_values import (
    closing_bracket,
    object_in,
    one_call,
    pairs,
    python_literal,
    value_with_keys_once,
    with_keys_once,
)

MAX_CALL_CHARS = 200_000
"""Longer texts are answers; a file that is written in a call may be long."""
MAX_CALLS = 64
"""Tags that are tried in thinking, from the end; each try may read all that follows it."""

TAGS = (
    "tool_call|tool_calls|function_call|function_calls|longcat_tool_call|tool_code|tool_use"
    "|tools?|functions|invocation|calls?|action|minimax:tool_call"
)
_TOKEN = r"<\|[\w▁]{1,40}\|>|<｜[^｜<>\n]{1,40}｜>"  # noqa: S105  # markup, no secret
TOKEN = re.compile(_TOKEN)
"""A control token of a chat template; none belongs in a reply."""
TOKEN_BEGINS = re.compile(r"(?:<(?:[|｜][\w▁ ]{0,40}[|｜]?)?)?")
"""The beginning of one, or nothing."""
_NOISE = re.compile(
    rf"\s+|[,;]|</?(?:{TAGS})>|\[/?(?:tool_calls?|function_calls?|TOOL_CALLS?)\]|\[ARGS\]|{_TOKEN}"
    r"|```[a-z_]*|function(?=<｜tool▁sep｜>)"
    r"|(?:calling tools?|tool calls?|action(?: input)?|arguments|observation)\s*:"
    r"|thought:[^\n]*\n",
    re.IGNORECASE,
)
_EXPLICIT = re.compile(
    r"<(?:tool_calls?|function_calls?|longcat_tool_call|minimax:tool_call)>|\[tool_calls?\]"
    r"|<function[= ]|<invoke |<\|tool_calls?_(?:section_)?begin\|>|<｜tool▁calls▁begin｜>",
    re.IGNORECASE,
)
_FUNCTION = re.compile(
    r"<(function|invoke)(?:=|\s+name=)[\"']?([\w.\-]+)[\"']?\s*>(.*?)</\1>", re.DOTALL
)
_PARAMETER = re.compile(
    r"\s*<parameter(?:=|\s+name=)[\"']?([\w.\-]+)[\"']?[^<>]*>(.*?)</parameter>\s*", re.DOTALL
)
_ARGUMENT_PAIR = re.compile(
    r"\s*<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>", re.DOTALL
)
_NAME = re.compile(r"(?:functions\.)?([\w\-]+)(?::\d+)?", re.IGNORECASE)
_CHILD = re.compile(r"\s*<([\w\-]+)>(.*?)</\1>\s*", re.DOTALL)
_FIRST_KEY = re.compile(r"\{\{?\s*(?:$|[\"'](\w*)($|[\"']))")
_FIRST_NAME = re.compile(
    r"\{\{?\s*[\"'](?:name|tool|tool_name|action)[\"']\s*:\s*[\"']([^\"']*)[\"']"
)
_json = json.JSONDecoder(strict=False)


class CallText:
    """Finds calls to one run's tools in what the model wrote."""

    def __init__(self, names: ToolNames) -> None:
        self._names = names

    def in_answer(self, text: str) -> list[FoundCall]:
        """The calls that `text` consists of; none where it is anything more."""
        if len(text) > MAX_CALL_CHARS or not self.may_begin(text[:400]):
            return []
        return self._all_of(text)

    def in_thinking(self, text: str) -> list[FoundCall]:
        """The calls that thinking ends with; in explicit tags, since models think about calls."""
        text = text[-MAX_CALL_CHARS:]
        starts = [found.start() for found in _EXPLICIT.finditer(text)][-MAX_CALLS:]
        for start in starts:
            is_quoted = text.count("`", 0, start) % 2
            if not is_quoted and (calls := self._all_of(text[start:])):
                return calls
        return []

    def may_begin(self, head: str) -> bool:
        """Whether a text that begins like this may still turn out to be calls."""
        head = head.lstrip()
        while token := TOKEN.match(head):
            if "tool" in token[0] or "python_tag" in token[0]:
                return True
            head = head[token.end() :].lstrip()
        first = head[:1]
        if first == "{":
            return self._may_begin_object(head)
        if first == "[":
            rest = head[1:].lstrip()
            return not rest or self._may_begin_object(rest) or self._may_begin_word(head)
        if first == "`":
            return self._may_begin_fence(head)
        return bool(TOKEN_BEGINS.fullmatch(head)) or self._may_begin_word(head)

    def _all_of(self, text: str) -> list[FoundCall]:
        calls: list[FoundCall] = []
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

    def take(self, text: str, start: int) -> tuple[list[FoundCall], int] | None:
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

    def _take_value(self, text: str, start: int) -> tuple[list[FoundCall], int] | None:
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

    def _take_function(self, text: str, start: int) -> tuple[list[FoundCall], int] | None:
        found = _FUNCTION.match(text, start)
        tool = self._names.find(found[2]) if found else None
        if found is None or tool is None:
            return None
        body = found[3]
        arguments = object_in(body)
        if arguments is None:
            arguments = pairs(_PARAMETER, body, tool)
        return one_call(tool, arguments, found.end())

    def _take_element(self, text: str, start: int) -> tuple[list[FoundCall], int] | None:
        """`<tool><parameter>value</parameter></tool>`, or JSON in place of the inner tags."""
        found = _CHILD.match(text, start)
        tool = self._names.find_known(found[1]) if found else None
        if found is None or tool is None:
            return None
        arguments = object_in(found[2])
        if arguments is None:
            arguments = pairs(_CHILD, found[2], tool)
        return one_call(tool, arguments, found.end())

    def _take_named(self, text: str, start: int) -> tuple[list[FoundCall], int] | None:
        """The tool's name, then its arguments: Python, JSON, or GLM's pairs."""
        found = _NAME.match(text, start)
        tool = self._names.find(found[1]) if found else None
        if found is None or tool is None:
            return None
        position = found.end()
        if text[position : position + 1] == "(":
            end = closing_bracket(text, position)
            calls = self._names.python_calls(text[start:end]) if end else None
            return (calls, end) if calls and end else None
        if _ARGUMENT_PAIR.match(text, position):
            end = position
            while pair := _ARGUMENT_PAIR.match(text, end):
                end = pair.end()
            return one_call(tool, pairs(_ARGUMENT_PAIR, text[position:end], tool), end)
        position = after_noise(text, position)
        if text[position : position + 1] != "{":
            return None
        try:
            value, end = _json.raw_decode(text, position)
        except (ValueError, RecursionError):
            return None
        return one_call(tool, value_with_keys_once(value, text[position:end]), end)

    def _may_begin_object(self, head: str) -> bool:
        key = _FIRST_KEY.match(head)
        if key is None:
            return False
        if key[2] and key[1] not in FIRST_KEYS:
            meant = "final_answer" if key[1] == "answer" else key[1]
            return self._names.find(meant) is not None
        name = _FIRST_NAME.match(head)
        return name is None or self._names.find(name[1]) is not None

    def _may_begin_fence(self, head: str) -> bool:
        if len(head) < 3:
            return "```".startswith(head)
        info, newline, rest = head[3:].partition("\n")
        language = info.strip().lower()
        languages = ("json", "python", "py", "tool_code", "tool_call", "xml", "text", "")
        if not newline:
            return head.startswith("```") and any(known.startswith(language) for known in languages)
        return language in languages and not rest.startswith("`") and self.may_begin(rest)

    def _may_begin_word(self, head: str) -> bool:
        low = head.lower()
        if any(start.startswith(low[: len(start)]) for start in _STARTS):
            return True
        for name in self._names.lower:
            for start in (f"<{name}>", f"[{name}("):
                if start.startswith(low[: len(start)]):
                    return True
            for start in (name, f"functions.{name}"):
                if start.startswith(low):
                    return True
                if low.startswith(start) and not _NOT_ARGUMENTS.match(low, len(start)):
                    return True
        return False


def after_noise(text: str, position: int) -> int:
    """The position after tags, fences and lead-ins that stand at `position`."""
    while noise := _NOISE.match(text, position):
        position = noise.end()
    return position


_STARTS = (
    *(f"<{tag.replace('s?', '')}" for tag in TAGS.split("|")),
    *("<function=", "<function ", "<invoke "),
    *("[tool_call", "[function_call"),
    *("calling tool", "tool call:", "tool calls:", "action:", "thought:"),
)
_NOT_ARGUMENTS = re.compile(r"(?::\d+)?(?:\w|\s*[^\s({\[<`\"':a])")
"""What cannot stand between a tool's name and its arguments (`a` for `Action Input:`)."""
