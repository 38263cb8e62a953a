"""Replies put together from chunks as the servers of this world really send them."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inglenook.events import ReasoningDelta
from inglenook.messages import Reasoning, Usage
from inglenook.providers.base import ModelReply
from inglenook.providers.calls import MALFORMED_ARGUMENTS
from inglenook.providers.openai_reply import OpenAIReply
from tests.providers.streaming import QUESTION


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def piece(arguments: Any = None, **fields: Any) -> dict[str, Any]:
    """One tool-call fragment: `index`, `id` and `name` where given."""
    function = {key: fields.pop(key) for key in ("name",) if key in fields}
    if arguments is not None:
        function["arguments"] = arguments
    return chunk(tool_calls=[{**fields, "function": function}])


def put_together(*chunks: dict[str, Any]) -> ModelReply:
    reply = OpenAIReply()
    for each in chunks:
        reply.take(each)
    return reply.finished(QUESTION)


def calls_of(*chunks: dict[str, Any]) -> list[tuple[str, Any]]:
    reply = put_together(*chunks)
    return [(call.name, dict(call.arguments)) for call in reply.message.tool_calls]


A, B = ("a", {"x": 1}), ("b", {"y": 2})
EMPTY: dict[str, Any] = {}


@pytest.mark.parametrize(
    ("fragments", "expected"),
    [
        pytest.param(
            [
                piece("", index=0, id="c1", name="a"),
                piece('{"x"', index=0),
                piece(": 1}", index=0),
                piece("", index=1, id="c2", name="b"),
                piece('{"y": 2}', index=1),
            ],
            [A, B],
            id="as documented",
        ),
        pytest.param(
            [
                piece('{"x": 1}', index=0, id="c1", name="a"),
                piece('{"y": 2}', index=0, id="c2", name="b"),
            ],
            [A, B],
            id="one index for all",
        ),
        pytest.param(
            [
                piece('{"x": 1}', index=0, id=None, name="a"),
                piece('{"x": 1}', index=0, id=None, name="a"),
            ],
            [A, A],
            id="one index for all and no ids",
        ),
        pytest.param(
            [piece('{"x": 1}', name="a"), piece('{"y"', name="b"), piece(": 2}")],
            [A, B],
            id="no index and no ids",
        ),
        pytest.param(
            [
                piece('{"x"', index=0, id="c1", name="a"),
                piece(": 1}", index=0, id="c9"),
            ],
            [A],
            id="a new id for every fragment",
        ),
        pytest.param(
            [
                piece('{"x"', index=0, id="c1", name="a"),
                piece('{"y"', index=1, id="c2", name="b"),
                piece(": 1}", index=0),
                piece(": 2}", index=1),
            ],
            [A, B],
            id="interleaved",
        ),
        pytest.param(
            [
                piece('{"x"', index=0, id="c1", name="a"),
                piece(": 1}", index=0, id="c1", name="a"),
            ],
            [A],
            id="id and name repeated with every fragment",
        ),
        pytest.param(
            [
                piece('{"x": 1}', index=0, id="c1", name="a"),
                piece('{"x": 1}', index=0, id="c1", name="a"),
            ],
            [A],
            id="whole call sent once more",
        ),
        pytest.param(
            [
                piece('{"x": 1}', index=0, id="c1", name="a"),
                piece('{"y"', index=0, id="c1", name="b"),
                piece(": 2}", index=0, id="c1"),
            ],
            [A, B],
            id="one index and one id for all",
        ),
        pytest.param(
            [
                piece('{"x": 1}', index=0, id="c1", name="a"),
                piece("\n", index=0, id="c1", name="a"),
            ],
            [A],
            id="white space after a whole call",
        ),
        pytest.param(
            [piece({"x": 1}, index=0, id="c1", name="a"), piece({"y": 2}, index=1, name="b")],
            [A, B],
            id="arguments as an object",
        ),
        pytest.param([piece(None, index=0, id="c1", name="a")], [("a", EMPTY)], id="no arguments"),
        pytest.param([piece("", index=0, id="c1", name="a")], [("a", EMPTY)], id="empty arguments"),
        pytest.param([piece('{"x": 1}', index=0, id="c1")], [("", {"x": 1})], id="no name"),
        pytest.param(
            [piece('{"x": 1}', index=0), piece(None, index=0, id="c1", name="a")],
            [A],
            id="name and id last",
        ),
    ],
)
def test_fragments_become_calls(fragments: list[dict[str, Any]], expected: object) -> None:
    assert calls_of(*fragments, chunk("tool_calls")) == expected


def test_cut_arguments_are_kept_as_text() -> None:
    assert calls_of(piece('{"x": ', index=0, id="c", name="a"), chunk("length")) == [
        ("a", {MALFORMED_ARGUMENTS: '{"x": '})
    ]


@given(arguments=st.dictionaries(st.text(), st.text() | st.integers(), max_size=4), data=st.data())
def test_any_cut_of_the_arguments_gives_the_same_call(
    arguments: dict[str, Any], data: st.DataObject
) -> None:
    text = json.dumps(arguments)
    places = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    edges = [0, *places, len(text)]
    parts = [text[start:end] for start, end in zip(edges, edges[1:], strict=False)]
    first = piece("", index=0, id="c", name="a")
    assert calls_of(first, *(piece(part, index=0) for part in parts)) == [("a", arguments)]


def test_text_and_reasoning_come_as_deltas_and_in_the_reply() -> None:
    reply = OpenAIReply()
    first = reply.take(chunk(role="assistant", content="", reasoning_content="hm"))
    second = reply.take(chunk(content="Hi", reasoning_content=None))
    assert [(type(part), getattr(part, "text", "")) for part in first] == [(ReasoningDelta, "hm")]
    assert [getattr(part, "text", "") for part in second] == ["Hi"]
    message = reply.finished(QUESTION).message
    assert message.text == "Hi"
    assert message.reasoning == Reasoning(text="hm", field="reasoning_content")


def test_reasoning_beside_an_empty_content_is_seen() -> None:
    parts = OpenAIReply().take(chunk(content=None, reasoning_content="hm"))
    assert [(type(part), getattr(part, "text", "")) for part in parts] == [(ReasoningDelta, "hm")]


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning", "thinking", "thought"])
def test_reasoning_keeps_the_name_it_came_under(name: str) -> None:
    reply = put_together(chunk(**{name: "a"}), chunk(**{name: "b"}))
    assert reply.message.reasoning == Reasoning(text="ab", field=name)


def test_reasoning_sent_under_two_names_is_taken_once() -> None:
    reply = put_together(chunk(reasoning_content="a", reasoning="a"))
    assert reply.message.reasoning == Reasoning(text="a", field="reasoning_content")
    reply = put_together(chunk(reasoning_content="", reasoning="a"))
    assert reply.message.reasoning == Reasoning(text="a", field="reasoning")


def test_empty_reasoning_is_remembered_as_a_field() -> None:
    reply = put_together(chunk(content=None, reasoning_content=""))
    assert reply.message.reasoning == Reasoning(text="", field="reasoning_content")


def test_reasoning_details_are_joined_by_index_and_kept() -> None:
    def detail(**fields: Any) -> dict[str, Any]:
        return chunk(reasoning_details=[{"type": "reasoning.text", "index": 0, **fields}])

    other = {"type": "reasoning.encrypted", "index": 1, "data": "zz"}
    reply = put_together(
        detail(text="a"), detail(text="b", signature="s"), chunk(reasoning_details=[other])
    )
    assert reply.message.reasoning is not None
    assert reply.message.reasoning.details == (
        {"type": "reasoning.text", "index": 0, "text": "ab", "signature": "s"},
        other,
    )


def test_reasoning_details_without_text_field_are_still_shown() -> None:
    parts = OpenAIReply().take(chunk(reasoning_details=[{"type": "reasoning.text", "text": "a"}]))
    assert [type(part) for part in parts] == [ReasoningDelta]


def test_first_finish_reason_and_last_usage_count() -> None:
    reply = put_together(
        {**chunk(content="a"), "usage": {"prompt_tokens": 5, "completion_tokens": 1}},
        chunk("length"),
        {**chunk("stop"), "usage": {"prompt_tokens": 5, "completion_tokens": 2}},
        {"choices": [], "usage": None},
    )
    assert reply.finish_reason == "length"
    assert reply.usage == Usage(input_tokens=5, output_tokens=2)


def test_a_negative_count_is_none() -> None:
    reply = OpenAIReply()
    reply.take({"choices": [], "usage": {"prompt_tokens": -5, "completion_tokens": 1}})
    assert reply.usage is None


def test_whole_message_in_place_of_a_delta_is_taken() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "a", "arguments": '{"x": 1}'}}
    choice = {"index": 0, "finish_reason": "tool_calls"}
    message = {"role": "assistant", "content": "Hi", "tool_calls": [call]}
    reply = put_together({"choices": [{**choice, "message": message}]})
    assert reply.message.text == "Hi"
    assert reply.message.tool_calls[0].arguments == {"x": 1}


def test_content_as_a_list_of_parts_is_joined() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert put_together(chunk(content=parts)).message.text == "ab"


def test_other_choices_are_left_out() -> None:
    other = {"choices": [{"index": 1, "delta": {"content": "no"}}]}
    assert put_together(chunk(content="a"), other).message.text == "a"


KEYS = [
    *("choices", "delta", "message", "content", "tool_calls", "function", "name", "arguments"),
    *("index", "id", "usage", "prompt_tokens", "completion_tokens", "finish_reason"),
    *("reasoning", "reasoning_details", "text", "type"),
]
SHAPES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.just('{"a":1}'),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6)
    ),
    max_leaves=16,
)


@given(st.lists(st.dictionaries(st.sampled_from(KEYS), SHAPES, max_size=6), max_size=5))
def test_whatever_json_comes_the_reply_is_sound(chunks: list[dict[str, Any]]) -> None:
    reply = put_together(*chunks)
    ids = [call.id for call in reply.message.tool_calls]
    assert all(ids)
    assert len(set(ids)) == len(ids)
    assert all(isinstance(call.name, str) for call in reply.message.tool_calls)


def test_thousands_of_calls_and_fragments_are_put_together() -> None:
    """What it costs is measured by bench/recovery.py."""
    many = [piece('{"x": 1}', index=n, id=f"c{n}", name="a") for n in range(20_000)]
    assert len(put_together(*many).message.tool_calls) == 20_000
    detail = {"type": "reasoning.text", "index": 0, "text": "word " * 20}
    pieces = [chunk(reasoning_details=[detail]) for _ in range(20_000)]
    reasoning = put_together(*pieces).message.reasoning
    assert reasoning is not None
    assert reasoning.details[0]["text"] == "word " * 400_000
