"""Tools' argument schemas for envelope mode: one schema for a whole reply, and a form to fill in.

Pure. Source: https://github.com/ggml-org/llama.cpp/tree/master/grammars#json-schemas--gbnf
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from inglenook.messages import ToolSchema
from inglenook.providers import wire_json
from inglenook.providers.envelope_reply import ANSWER, ARGUMENTS, NAME
from inglenook.providers.wire_json import dict_in, dicts_in, text_in

MAX_NESTED = 4
"""Levels of a value that are shown as a form."""
_KEPT_KEYS = frozenset(
    ("type", "enum", "const", "required", "additionalProperties", "$ref", "anyOf", "oneOf", "allOf")
)
"""Of a tool's schema. Lengths and ranges make grammars large and slow, and one that llama.cpp
refuses; they are checked when the call comes."""


def reply_schema(tools: Sequence[ToolSchema]) -> dict[str, Any]:
    """JSON Schema of a reply: a call of one of `tools`, or an answer."""
    definitions: dict[str, Any] = {}
    replies = [_call_schema(tool, definitions) for tool in tools]
    replies.append(_object({ANSWER: {"type": "string"}}))
    schema: dict[str, Any] = {"type": "object", "anyOf": replies}
    return schema | {"$defs": definitions} if definitions else schema


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _call_schema(tool: ToolSchema, definitions: dict[str, Any]) -> dict[str, Any]:
    """What its own schema refers to moves into `definitions`, under names of its own."""
    prefix = f"#/$defs/{tool.name}."
    for name, schema in _definitions(tool.parameters).items():
        definitions[f"{tool.name}.{name}"] = _structure(schema, prefix)
    arguments = {"type": "object", **_structure(tool.parameters, prefix)}
    return _object({NAME: {"const": tool.name}, ARGUMENTS: arguments})


def _definitions(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    return dict_in(schema, "$defs") or dict_in(schema, "definitions")


def _structure(schema: object, prefix: str) -> Any:
    """What of `schema` says which shape a value has."""
    if isinstance(schema, list):
        return [_structure(each, prefix) for each in cast("list[object]", schema)]
    if not isinstance(schema, Mapping):
        return schema
    kept: dict[str, Any] = {}
    for key, value in cast("Mapping[str, object]", schema).items():
        if key in ("properties", "items") and isinstance(value, Mapping):
            inner = cast("Mapping[str, object]", value)
            kept[key] = (
                {name: _structure(each, prefix) for name, each in inner.items()}
                if key == "properties"
                else _structure(inner, prefix)
            )
        elif key == "$ref":
            kept[key] = prefix + str(value).rpartition("/")[2]
        elif key in _KEPT_KEYS:
            kept[key] = value if key in ("enum", "const") else _structure(value, prefix)
    return kept


def template(schema: Mapping[str, Any]) -> str:
    """A value of `schema` to be filled in, such as `{"query": "<What to look for>"}`."""
    return _template(schema, _definitions(schema), MAX_NESTED)


def _template(schema: Mapping[str, Any], defined: Mapping[str, Any], depth: int) -> str:
    """As `template`; what is too deep or too rare to be shown so is shown as its schema."""
    name = text_in(schema, "$ref").rpartition("/")[2]
    if name in defined and depth:
        return _template(dict_in(defined, name), defined, depth - 1)
    either = [each for each in dicts_in(schema.get("anyOf")) if each.get("type") != "null"]
    if len(either) == 1 and depth:
        about = {key: schema[key] for key in ("description", "default") if key in schema}
        return _template(either[0] | about, defined, depth - 1)
    said = str(schema.get("description") or "")
    if choices := schema.get("enum"):
        return _hole(" or ".join(wire_json.encode(each).decode() for each in choices), said, schema)
    match schema.get("type"):
        case "string":
            return f'"{_hole("", said, schema)}"'
        case "integer" | "number" | "boolean" as kind:
            return _hole(kind, said, schema)
        case "array" if depth and dict_in(schema, "items"):
            return f"[{_template(dict_in(schema, 'items'), defined, depth - 1)}, …]"
        case "object" if depth:
            return _object_template(schema, defined, depth)
        case _:
            return _hole(wire_json.encode(_structure(schema, "#/")).decode(), said, schema)


def _object_template(schema: Mapping[str, Any], defined: Mapping[str, Any], depth: int) -> str:
    required = schema.get("required") or ()
    entries: list[str] = []
    properties = dict_in(schema, "properties")
    for name in properties:
        value = _template(dict_in(properties, name), defined, depth - 1)
        entries.append(f'"{name}": {value}' + ("" if name in required else " (optional)"))
    return f"{{{', '.join(entries)}}}"


def _hole(kind: str, said: str, schema: Mapping[str, Any]) -> str:
    default = schema.get("default")
    parts = [part for part in (kind, said) if part] or ["text"]
    if default is not None:
        parts.append(f"default {wire_json.encode(default).decode()}")
    return f"<{', '.join(parts)}>"
