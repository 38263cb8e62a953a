"""What a JSON Schema says of one value, for coercion and for errors that a model reads.

Any schema is let through, an MCP server's too: what is not understood asks for nothing.
Source: https://json-schema.org/draft/2020-12/json-schema-validation
"""

import reprlib
from collections.abc import Mapping, Sequence
from typing import Any, cast

MAX_REFERENCES = 20
MAX_NAMED = 20
"""Allowed values and fields that an error lists."""
MAX_WORDS_DEPTH = 2
MAX_BRANCHES = 8

Schema = Mapping[str, Any]

_shown = reprlib.Repr()
_shown.maxstring = _shown.maxother = 80
_shown.maxlevel = 3

_TYPES = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "a boolean (true or false)",
    "null": "null",
    "array": "an array",
    "object": "an object",
}


def shown(value: object) -> str:
    """`value` for an error or a note, cut where it is long or deep."""
    try:
        return _shown.repr(value)
    except ValueError:  # an integer of more than 4,300 digits has no text
        return "a number of thousands of digits"


def mapping(value: object) -> Schema:
    return cast("Schema", value) if isinstance(value, dict) else {}


def entries(value: object) -> Sequence[object]:
    return cast("list[object]", value) if isinstance(value, list) else ()


def alternatives(schema: Schema) -> Sequence[object]:
    """The schemas of which one must fit; none where the schema has a type of its own."""
    if "type" in schema:
        return [{**schema, "type": kind} for kind in entries(schema["type"])]
    return entries(schema.get("anyOf")) or entries(schema.get("oneOf"))


def allowed_values(schema: Schema) -> Sequence[object]:
    return [schema["const"]] if "const" in schema else entries(schema.get("enum"))


def required_fields(schema: Schema) -> Sequence[str]:
    return [name for name in entries(schema.get("required")) if isinstance(name, str)]


def field_of(schema: Schema, name: str) -> object | None:
    """The schema of the field; None where an object of `schema` has no such field.

    A schema that names its fields and says nothing of others has no others: models invent
    arguments, and pydantic's and zod's schemas leave the word out.
    """
    fields = mapping(schema.get("properties"))
    if name in fields:
        return fields[name]
    others: object = schema.get("additionalProperties")
    if others is None:
        is_open = not fields or "patternProperties" in schema or "allOf" in schema
        return {} if is_open else None
    return None if others is False else others


def resolved(root: Schema, schema: object) -> Schema:
    """The schema behind references into `root` and behind an `allOf` of one."""
    for _ in range(MAX_REFERENCES):
        known = mapping(schema)
        if "$ref" not in known and "allOf" not in known:
            return known
        parts = entries(known.get("allOf"))
        if isinstance(reference := known.get("$ref"), str):
            schema = _target(root, reference)
        elif len(parts) == 1:
            rest = {key: value for key, value in known.items() if key != "allOf"}
            schema = rest | dict(mapping(parts[0]))
        else:
            return known
    return {}


def _target(root: Schema, reference: str) -> object:
    if not reference.startswith("#"):
        return {}
    found: object = root
    for key in reference[1:].split("/")[1:]:
        found = mapping(found).get(key.replace("~1", "/").replace("~0", "~"))
    return found


def wanted(root: Schema, schema: object, depth: int = 0) -> str:
    """What `schema` takes, in words: `an integer from 1 to 20`, `one of 'day', 'week'`."""
    known = resolved(root, schema)
    if depth > MAX_WORDS_DEPTH:
        return "a value"
    if allowed := allowed_values(known):
        listed = ", ".join(shown(value) for value in allowed[:MAX_NAMED])
        return f"one of {listed}" if len(allowed) > 1 else listed
    if branches := alternatives(known):
        words = dict.fromkeys(wanted(root, each, depth + 1) for each in branches[:MAX_BRANCHES])
        return " or ".join(words)
    kind: object = known.get("type")
    words = _TYPES.get(kind, "a value") if isinstance(kind, str) else "a value"
    if kind == "array" and "items" in known:
        return f"{words}, each entry {wanted(root, known['items'], depth + 1)}"
    if kind == "object" and (names := required_fields(known)):
        return f"{words} with {', '.join(map(repr, names[:MAX_NAMED]))}"
    return words + _bounds(known)


def _bounds(schema: Schema) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f" from {low} to {high}"
    if low is not None:
        return f" of at least {low}"
    return f" of at most {high}" if high is not None else ""
