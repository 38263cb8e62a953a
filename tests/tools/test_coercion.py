"""Arguments are made to fit a schema field by field; only for reads is anything guessed."""

import json
import math
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Literal, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from inglenook.errors import ToolError
from inglenook.messages import ToolCall
from inglenook.tools.base import ToolSpec
from inglenook.tools.coercion import MAX_TOLD, NO_GUESS, coerced
from inglenook.tools.registry import validated

Schema = Mapping[str, Any]
INTEGER, NUMBER, STRING = {"type": "integer"}, {"type": "number"}, {"type": "string"}
BOOLEAN, NULL = {"type": "boolean"}, {"type": "null"}
DAYS = {"type": "string", "enum": ["day", "week", "last-month"]}


def listed(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def one(field: Schema, *, required: bool = True, **more: Schema) -> dict[str, Any]:
    """A tool's schema of the field `a`."""
    names = ["a"] if required else []
    return {"type": "object", "properties": {"a": field, **more}, "required": names}


def taken(field: Schema, value: object, *, may_guess: bool = False) -> Any:
    """What `value` becomes in a required field; each change is noted exactly once."""
    fitting, changes = coerced({"a": value}, one(field), may_guess=may_guess)
    assert bool(changes) == (json.dumps(fitting["a"]) != json.dumps(value))
    return fitting["a"]


def refusal(field: Schema, value: object, *, may_guess: bool = True) -> str:
    with pytest.raises(ToolError) as caught:
        coerced({"a": value}, one(field), may_guess=may_guess)
    return str(caught.value)


class Same:
    """Equal to values of the same JSON only: `1 == True == 1.0` in Python."""

    def __init__(self, value: object) -> None:
        self.text = json.dumps(value)

    def __eq__(self, other: object) -> bool:
        return json.dumps(other) == self.text

    def __repr__(self) -> str:
        return self.text


PAIR = {"type": "object", "properties": {"n": INTEGER, "on": BOOLEAN}, "required": ["n"]}


@pytest.mark.parametrize(
    ("field", "sent", "wanted"),
    [
        (INTEGER, "3", 3),
        (INTEGER, " -3 ", -3),
        (INTEGER, "3.0", 3),
        (INTEGER, 3.0, 3),
        (INTEGER, "1e3", 1000),
        (INTEGER, "12345678901234567890", 12345678901234567890),
        (NUMBER, "0.25", 0.25),
        (NUMBER, "3", 3),
        (NUMBER, 3, 3),
        (BOOLEAN, "false", False),
        (BOOLEAN, " True", True),
        (BOOLEAN, False, False),
        (STRING, "true", "true"),
        (STRING, "3", "3"),
        (STRING, 3, "3"),
        (STRING, " kept ", " kept "),
        (DAYS, " Week", "week"),
        ({"enum": [1, 2]}, "2", 2),
        ({"enum": ["1", "2"]}, 2, "2"),
        ({"enum": [1, 2]}, 1.0, 1),
        ({"const": "x"}, "X", "x"),
        (listed(STRING), '["a", "b"]', ["a", "b"]),
        (listed(INTEGER), '["1", 2.0]', [1, 2]),
        (listed(INTEGER), ["1", 2], [1, 2]),
        (listed(STRING), "a", ["a"]),
        (listed(INTEGER), "3", [3]),
        (listed(STRING), 3, ["3"]),
        (listed(PAIR), {"n": "1"}, [{"n": 1}]),
        (listed(PAIR), '{"n": "1"}', [{"n": 1}]),
        (listed(PAIR), [{"n": "1", "on": "true"}, {"n": 2}], [{"n": 1, "on": True}, {"n": 2}]),
        (PAIR, '{"n": 1.0}', {"n": 1}),
        (PAIR, {"n": 1, "on": None, "more": 1}, {"n": 1}),
        ({"anyOf": [INTEGER, NULL]}, "3", 3),
        ({"anyOf": [INTEGER, NULL]}, "null", None),
        ({"anyOf": [INTEGER, NULL]}, None, None),
        ({"anyOf": [INTEGER, STRING]}, "3", "3"),
        ({"anyOf": [BOOLEAN, INTEGER]}, "1", 1),
        ({"oneOf": [PAIR, listed(PAIR)]}, '[{"n": "1"}]', [{"n": 1}]),
        ({"type": ["integer", "null"]}, "3", 3),
        ({"allOf": [DAYS], "description": "when"}, "DAY", "day"),
        ({"allOf": [INTEGER, {"minimum": 1}]}, "3", "3"),
        ({}, "3", "3"),
        (cast("Schema", True), "3", "3"),
    ],
)
def test_what_has_one_reading_is_taken_for_every_tool(field: Schema, sent: object, wanted: object):
    assert taken(field, sent) == Same(wanted)
    assert taken(field, sent, may_guess=True) == Same(wanted)


@pytest.mark.parametrize(
    ("field", "sent", "wanted"),
    [
        (INTEGER, 3.7, 3),
        (INTEGER, "-3.7", -3),
        (INTEGER, 1e20, 10**20),
        (BOOLEAN, 1, True),
        (BOOLEAN, "no", False),
        (STRING, True, "true"),
        (STRING, 1.1, "1.1"),
        (STRING, ["a"], "a"),
        (INTEGER, ["3"], 3),
        (DAYS, '"day"', "day"),
        (DAYS, "Last month.", "last-month"),
        (listed(STRING), "a, b", ["a, b"]),
        (listed(STRING), "null", ["null"]),
        (listed(STRING), "['a', 'b']", ["a", "b"]),
        ({"anyOf": [INTEGER, NULL]}, "", None),
        (PAIR, [{"n": 1}], {"n": 1}),
    ],
)
def test_what_loses_something_is_guessed_for_reads_and_refused_for_others(
    field: Schema, sent: object, wanted: object
):
    assert taken(field, sent, may_guess=True) == Same(wanted)
    [note] = coerced({"a": sent}, one(field), may_guess=True)[1]
    assert note.endswith(", a guess")
    assert refusal(field, sent, may_guess=False).startswith("a: wanted ")


@pytest.mark.parametrize(
    ("field", "sent", "said"),
    [
        (INTEGER, "three", "a: wanted an integer, got 'three'"),
        (INTEGER, True, "a: wanted an integer, got True"),
        (NUMBER, False, "a: wanted a number, got False"),
        (INTEGER, "", "a: wanted an integer, got ''"),
        (INTEGER, "1,000", "a: wanted an integer, got '1,000'"),
        (INTEGER, math.nan, "a: wanted an integer, got nan"),
        (NUMBER, "1e999", "a: wanted a number, got '1e999'"),
        (INTEGER, None, "a: wanted an integer, got None"),
        (INTEGER, [1, 2], "a: wanted an integer, got [1, 2]"),
        (INTEGER, {"n": 1}, "a: wanted an integer, got {'n': 1}"),
        (listed({}), "[b'x']", "a: wanted an array, each entry a value, got \"[b'x']\""),
        (BOOLEAN, [], "a: wanted a boolean (true or false), got []"),
        (BOOLEAN, "maybe", "a: wanted a boolean (true or false), got 'maybe'"),
        (BOOLEAN, 2, "a: wanted a boolean (true or false), got 2"),
        (STRING, None, "a: wanted a string, got None"),
        (STRING, {"b": 1}, "a: wanted a string, got {'b': 1}"),
        (DAYS, "year", "a: wanted one of 'day', 'week', 'last-month', got 'year'"),
        (
            {"type": "integer", "minimum": 1, "maximum": 20},
            "x",
            "a: wanted an integer from 1 to 20, got 'x'",
        ),
        ({"type": "integer", "minimum": 1}, "x", "a: wanted an integer of at least 1, got 'x'"),
        (listed(INTEGER), ["x"], "a.0: wanted an integer, got 'x'"),
        (listed(STRING), '["a", "b', 'a: wanted an array, each entry a string, got \'["a", "b\''),
        (listed(PAIR), [{"n": 1}, {}], "a.1.n: is missing, wanted an integer"),
        (PAIR, '{"n": 1, "n": 2}', "a: wanted an object with 'n', got '{\"n\": 1, \"n\": 2}'"),
        (listed(INTEGER), "(1, 2)", "a: wanted an array, each entry an integer, got '(1, 2)'"),
        (
            listed({}),
            "[{'n': 1, 'n': 2}]",
            "a: wanted an array, each entry a value, got \"[{'n': 1, 'n': 2}]\"",
        ),
        (PAIR, "n", "a: wanted an object with 'n', got 'n'"),
        ({"anyOf": [INTEGER, NULL]}, "x", "a: wanted an integer or null, got 'x'"),
        ({"anyOf": [PAIR, NULL]}, {"n": "x"}, "a.n: wanted an integer, got 'x'"),
    ],
)
def test_what_cannot_be_read_names_the_field_the_value_and_what_is_wanted(
    field: Schema, sent: object, said: str
):
    assert refusal(field, sent) == said


def test_a_guess_that_is_not_made_says_why():
    assert refusal(INTEGER, 3.7, may_guess=False) == f"a: wanted an integer, got 3.7{NO_GUESS}"


def test_a_missing_argument_is_named_with_what_is_wanted():
    with pytest.raises(ToolError, match="a: is missing, wanted one of 'day', 'week', 'last-month'"):
        coerced({}, one(DAYS), may_guess=True)


@pytest.mark.parametrize("may_guess", [True, False])
def test_null_for_an_optional_field_leaves_it_to_its_default(may_guess: bool):
    schema = one(INTEGER, required=False)
    assert coerced({"a": None}, schema, may_guess=may_guess) == ({}, ("a: None left out",))


def test_nothing_in_words_for_an_optional_field_is_a_guess():
    schema = one(INTEGER, required=False)
    assert coerced({"a": "none"}, schema, may_guess=True) == ({}, ("a: 'none' left out, a guess",))
    with pytest.raises(ToolError):
        coerced({"a": "none"}, schema, may_guess=False)


def test_arguments_that_are_not_known_are_dropped_and_named():
    fitting, changes = coerced({"a": {"n": 1, "x": 2}, "b": 3}, one(PAIR), may_guess=False)
    assert fitting == {"a": {"n": 1}}
    assert changes == ("dropped unknown argument 'a.x'", "dropped unknown argument 'b'")


def test_an_object_that_takes_any_field_keeps_them_and_coerces_what_it_knows():
    free = {"type": "object", "additionalProperties": INTEGER}
    assert taken(free, {"x": "1", "y": 2}) == {"x": 1, "y": 2}
    assert taken({"type": "object"}, {"x": "1"}) == {"x": "1"}


def test_the_first_of_several_lossless_readings_is_a_guess():
    several = {"anyOf": [listed(INTEGER), INTEGER]}
    made, changes = coerced({"a": "3"}, one(several), may_guess=True)
    assert made == {"a": [3]}
    assert changes[-1] == "a: '3' has more than one reading, a guess"
    assert refusal(several, "3", may_guess=False).startswith("a: wanted an array")


def test_many_changes_are_counted_not_listed():
    _, changes = coerced({"a": ["1"] * 50}, one(listed(INTEGER)), may_guess=False)
    assert len(changes) == MAX_TOLD + 1
    assert changes[-1] == "and 40 more"
    assert refusal(listed(INTEGER), ["x"] * 50).endswith("; and 40 more")


def test_long_and_deep_values_are_shown_in_part():
    deep: Any = "x"
    for _ in range(500):
        deep = [deep, 0]
    assert len(refusal(INTEGER, "x" * 10_000)) < 200
    assert len(refusal(INTEGER, deep)) < 200
    assert len(refusal(STRING, 10**5000)) < 200


def outcome(
    sent: dict[str, Any], schema: Schema, *, may_guess: bool = True
) -> dict[str, Any] | str:
    """The fitting arguments, or the error's text."""
    try:
        return coerced(sent, schema, may_guess=may_guess)[0]
    except ToolError as error:
        return str(error)


# --- schemas that nobody vouches for ---------------------------------------------------------


def test_references_are_followed_into_the_schema_itself():
    tree = {
        "type": "object",
        "properties": {"value": INTEGER, "next": {"$ref": "#/$defs/tree"}},
        "required": ["value"],
    }
    schema = one({"$ref": "#/$defs/tree"}) | {"$defs": {"tree": tree}}
    sent = {"a": {"value": "1", "next": {"value": "2", "next": None}}}
    assert coerced(sent, schema, may_guess=False)[0] == {"a": {"value": 1, "next": {"value": 2}}}


A_LOOP = {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}
IN_ITSELF = {"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]}}}
ALL_OF_ITSELF = {"$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}}}
HOSTILE: list[dict[str, Any]] = [
    one({"$ref": "#/$defs/a"}) | A_LOOP,
    one({"$ref": "#/$defs/a"}) | ALL_OF_ITSELF,
    one({"$ref": "#/nowhere"}),
    one({"$ref": "https://127.0.0.1/schema"}),
    one({"type": 7, "enum": "x", "items": 3, "anyOf": {}}),
    {"type": "object", "properties": [], "required": "a"},
    {"$ref": "#"},
    {"anyOf": [one(INTEGER)]},
    {},
]


@pytest.mark.parametrize("schema", [*HOSTILE, one({"$ref": "#/$defs/a"}) | IN_ITSELF])
@pytest.mark.parametrize("value", [1, "x", [], {"a": {"a": 1}}, None])
def test_a_schema_that_makes_no_sense_ends_in_a_result_or_an_error(schema: Schema, value: object):
    assert len(str(outcome({"a": value}, schema))) < 1000


def test_deep_arguments_end_in_an_error():
    schema = one({"$ref": "#/$defs/l"}) | {"$defs": {"l": listed({"$ref": "#/$defs/l"})}}
    deep: list[Any] = []
    for _ in range(900):
        deep = [deep]
    with pytest.raises(ToolError, match="nested too deeply"):
        coerced({"a": deep}, schema, may_guess=True)


# --- any arguments against any of these ------------------------------------------------------


class Mood(StrEnum):
    GLAD = "glad"
    SAD = "sad"


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")

    n: int
    mood: Mood = Mood.GLAD


class Outer(BaseModel):
    text: str
    k: int = Field(default=5, ge=1, le=20)
    share: float | None = None
    on: bool = False
    recency: Literal["day", "week"] | None = None
    tags: tuple[str, ...] = ()
    inner: Inner | None = None
    inners: list[Inner] = []
    either: int | list[int] | Inner = 0
    table: dict[str, int] = {}
    anything: Any = None


class Tree(BaseModel):
    value: float
    children: list["Tree"] = []


MODELS = [Outer, Inner, Tree]
SCHEMAS = [model.model_json_schema() for model in MODELS] + HOSTILE

words = st.sampled_from(
    ["", "3", "3.7", "true", "No", "null", "day", "DAY ", "glad", "three", "1e999", "[1, 2]",
     '["a"]', '{"n": "1"}', '{"n": 1, "n": 2}', '[{"n": 1}', "['a']", "a, b", "\ud800", "9" * 5000]
)  # fmt: skip
scalars = st.none() | st.booleans() | st.integers() | st.floats() | words | st.text(max_size=5)
names = st.sampled_from([*Outer.model_fields, *Inner.model_fields, "value", "children", "a", "zz"])
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4),
    max_leaves=8,
)
arguments = st.dictionaries(names, values, max_size=6)


def fits(value: Any, schema: Any, root: Schema) -> bool:
    """An independent judge of what the schemas here say of types, fields and allowed values."""
    if not isinstance(schema, dict):
        return True
    known = cast("dict[str, Any]", schema)
    if "$ref" in known:
        return fits(value, root["$defs"][known["$ref"].removeprefix("#/$defs/")], root)
    if "anyOf" in known:
        return any(fits(value, each, root) for each in known["anyOf"])
    if "enum" in known and value not in known["enum"]:
        return False
    match known.get("type"):
        case "object":
            fields = known.get("properties", {})
            others = known.get("additionalProperties", not fields)
            return (
                isinstance(value, dict)
                and all(name in value for name in known.get("required", []))
                and all(
                    fits(entry, fields.get(name, others), root)
                    and (name in fields or others is not False)
                    for name, entry in cast("dict[str, Any]", value).items()
                )
            )
        case "array":
            entries = cast("list[Any]", value) if isinstance(value, list) else [value]
            items = known.get("items")
            return isinstance(value, list) and all(fits(each, items, root) for each in entries)
        case str() as kind:
            return _is(kind, value)
        case _:
            return True


def _is(kind: str, value: object) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    types = {"string": str, "integer": int, "number": (int, float), "null": type(None)}
    return kind != "boolean" and isinstance(value, types[kind])


@given(arguments, st.sampled_from(SCHEMAS), st.booleans())
def test_any_arguments_are_coerced_once_and_for_all_or_refused(
    sent: dict[str, Any], schema: Schema, may_guess: bool
):
    before = repr(sent)
    made = outcome(sent, schema, may_guess=may_guess)
    if isinstance(made, dict):
        again = coerced(made, schema, may_guess=may_guess)
        assert repr(again) == repr((made, ()))
        assert schema in HOSTILE or fits(made, schema, schema)
    assert repr(sent) == before, "what the model sent is never written into"


@given(arguments, st.sampled_from(SCHEMAS))
def test_what_is_lossless_is_taken_alike_where_guessing_is_allowed(
    sent: dict[str, Any], schema: Schema
):
    try:
        lossless = coerced(sent, schema, may_guess=False)
    except ToolError:
        return
    assert repr(coerced(sent, schema, may_guess=True)) == repr(lossless)


@given(arguments, st.sampled_from(MODELS), st.sampled_from(["read", "write"]))
def test_any_arguments_make_a_tools_own_object_or_an_error(
    sent: dict[str, Any], model: type[BaseModel], effect: Any
):
    spec = ToolSpec(name="t", description="", arguments=model, effect=effect)
    try:
        made = validated(spec, ToolCall(id="c", name="t", arguments=sent))[0]
    except ToolError as error:
        made = str(error)
    assert isinstance(made, model) or str(made).startswith("t was not run, ")
