"""The values in calls that a model wrote as text: Python, JSON objects, pairs of tags.

Pure. A value with a key twice means two things: it is kept as text, and no tool runs with it.
"""

import ast
import json
import re
from collections.abc import Sequence
from typing import Any, cast

from inglenook.messages import ToolSchema
from inglenook.providers.call_shapes import FoundCall, from_text, repeats_a_python_key
from inglenook.providers.calls import MALFORMED_ARGUMENTS
from inglenook.providers.wire_json import repeats_a_key

MAX_PYTHON_CHARS, MAX_PYTHON_DEPTH = 20_000, 40
"""Python's own parser may exhaust the C stack on hostile nesting."""

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


def python_literal(source: str) -> object:
    """The value of a Python literal; None where it is none."""
    try:
        return ast.literal_eval(source)
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


def one_call(tool: ToolSchema, arguments: Any, end: int) -> tuple[list[FoundCall], int] | None:
    if not isinstance(arguments, dict):
        return None
    return [FoundCall(name=tool.name, arguments=arguments)], end  # pyright: ignore[reportUnknownArgumentType]
