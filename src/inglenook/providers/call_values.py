"""The values in calls that a model wrote as text: Python, JSON objects, pairs of tags.

Pure. A value with a key twice means two things: it is kept as text, and no tool runs with it.
"""

import ast
import json
import re
from collections.abc import Sequence
from typing import Any, cast

from inglenook.messages import ToolSchema
from inglenook.providers.call_marks import NAMESPACE
from inglenook.providers.call_shapes import FoundCall, from_text, repeats_a_python_key
from inglenook.providers.calls import MALFORMED_ARGUMENTS
from inglenook.providers.wire_json import repeats_a_key

MAX_PYTHON_CHARS, MAX_PYTHON_DEPTH = 20_000, 40
"""Python's own parser may exhaust the C stack on hostile nesting."""

_PARAMETER = re.compile(
    rf"\s*<{NAMESPACE}parameter(?:=|\s+name=)[\"']?(?P<name>[\w.\-]{{1,64}})(?![\w.\-])[^<>]*>"
)
_PARAMETER_ENDS = re.compile(
    rf"</{NAMESPACE}parameter>"
    rf"(?=\s*(?:<{NAMESPACE}parameter[=\s]|</{NAMESPACE}(?:function|invoke|tool|tool_call)>|\Z))"
)
_ESCAPED = re.compile(
    r"\s*(\w{1,64})\s*:\s*(?:<escape>(.*?)<escape>\s*|([^\s,{}<>][^,{}<>]*))(?:,|(?=\}))", re.DOTALL
)
_json = json.JSONDecoder(strict=False)


def with_keys_once(
    calls: Sequence[FoundCall], source: str, *, is_python: bool = False
) -> list[FoundCall]:
    """`calls` as they are, or with `source` for arguments where a key stands in it twice."""
    if is_python:
        is_repeated = repeats_a_python_key(ast.parse(source.strip(), mode="eval"))
    else:
        is_repeated = repeats_a_key(source)
    if not is_repeated:
        return list(calls)
    return [FoundCall(name=call.name, arguments={MALFORMED_ARGUMENTS: source}) for call in calls]


def value_with_keys_once(value: Any, source: str) -> Any:
    return {MALFORMED_ARGUMENTS: source} if repeats_a_key(source) else value


def closing_bracket(text: str, start: int) -> int | None:
    """The position after the bracket that closes the one at `start`, strings skipped."""
    depth = 0
    quote = ""
    position = start
    end = min(len(text), start + MAX_PYTHON_CHARS)
    while position < end:
        character = text[position]
        if quote:
            if character == "\\":
                position += 1
            elif character == quote:
                quote = ""
        elif character in "\"'":
            quote = character
        elif character in "([{":
            depth += 1
            if depth > MAX_PYTHON_DEPTH:
                return None
        elif character in ")]}":
            depth -= 1
            if depth == 0:
                return position + 1
        position += 1
    return None


class _JsonNames(ast.NodeTransformer):
    """`true`, `false` and `null`, as models mix them into Python."""

    def visit_Name(self, node: ast.Name) -> ast.AST:  # ast's own name
        known = {"true": True, "false": False, "null": None}
        return ast.Constant(known[node.id]) if node.id in known else node


def python_literal(source: str) -> object:
    """The value of a Python literal; None where it is none."""
    try:
        return ast.literal_eval(_JsonNames().visit(ast.parse(source.strip(), mode="eval")))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def object_in(body: str) -> dict[str, Any] | None:
    try:
        value: object = _json.decode(body.strip())
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    return value_with_keys_once(cast("dict[str, Any]", value), body.strip())


def pairs(pattern: re.Pattern[str], body: str, tool: ToolSchema) -> dict[str, Any] | None:
    """Names and values that `body` consists of; None where there is something else in it."""
    arguments: dict[str, Any] = {}
    position = 0
    while found := pattern.match(body, position):
        name = found[1].strip()
        if name in arguments:
            return {MALFORMED_ARGUMENTS: body}
        arguments[name] = from_text(tool, name, found[2])
        position = found.end()
    return None if body[position:].strip() else arguments


def parameters(text: str, start: int, tool: ToolSchema) -> tuple[dict[str, Any], int]:
    """The `<parameter=name>value</parameter>`s from `start` on, and where they end.

    A value goes on to the closing tag that another tag of the call stands behind, so that a file
    with such a tag in it is not cut.
    """
    arguments: dict[str, Any] = {}
    position = start
    while (opening := _PARAMETER.match(text, position)) and (
        closing := _PARAMETER_ENDS.search(text, opening.end())
    ):
        name, position = opening["name"], closing.end()
        if name in arguments:
            arguments = {MALFORMED_ARGUMENTS: text[start:position]}
        elif MALFORMED_ARGUMENTS not in arguments:
            arguments[name] = from_text(tool, name, text[opening.end() : closing.start()])
    return arguments, position


def escaped_pairs(text: str, start: int, tool: ToolSchema) -> tuple[dict[str, Any] | None, int]:
    """The arguments in `{name:<escape>text<escape>,name:3}`; None where it is anything else."""
    if text[start : start + 1] != "{":
        return None, start
    arguments: dict[str, Any] = {}
    position = start + 1
    while pair := _ESCAPED.match(text, position):
        name, position = pair[1], pair.end()
        if name in arguments:
            return {MALFORMED_ARGUMENTS: text[start:position]}, position
        arguments[name] = pair[2] if pair[2] is not None else from_text(tool, name, pair[3].strip())
    return (arguments, position + 1) if text.startswith("}", position) else (None, start)


def one_call(tool: ToolSchema, arguments: Any, end: int) -> tuple[list[FoundCall], int] | None:
    if not isinstance(arguments, dict):
        return None
    return [FoundCall(name=tool.name, arguments=arguments)], end  # pyright: ignore[reportUnknownArgumentType]
