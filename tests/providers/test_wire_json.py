"""JSON over the wire survives what models and documents hold."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inglenook.providers.wire_json import decode, dicts_in, encode

ANY_TEXT = st.text(alphabet=st.characters())
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | ANY_TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner),
)


@given(JSON)
def test_every_value_is_encoded_as_valid_utf8_json(value: object) -> None:
    json.loads(encode(value).decode("utf-8", "strict"))


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_sound_text_round_trips(text: str) -> None:
    assert decode(encode({"t": [text]})) == {"t": [text]}


def test_a_lone_surrogate_becomes_the_replacement_character_and_a_pair_its_character() -> None:
    assert decode(encode({"a\ud800": "b\udc00", "c": "\ud83d\ude00"})) == {
        "a\ufffd": "b\ufffd",
        "c": "\U0001f600",
    }


def test_numbers_that_json_lacks_become_null() -> None:
    assert encode([float("nan"), float("inf")]) == b"[null,null]"


def test_a_lone_surrogate_in_an_answer_is_let_through() -> None:
    assert decode(b'{"a":"\\ud800"}') == {"a": "\ud800"}


def test_broken_utf8_is_replaced() -> None:
    assert decode(b'{"a":"x\xff"}') == {"a": "x\ufffd"}


@pytest.mark.parametrize("data", [b"", b"{", b"nope", b"[" * 100_000, b'{"a":' * 100_000])
def test_what_is_no_json_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  # the kind is the contract
        decode(data)


def test_dicts_in_leaves_out_what_is_no_object() -> None:
    assert dicts_in([{"a": 1}, None, 3, "x", {}]) == [{"a": 1}, {}]
    assert dicts_in({"a": 1}) == [{"a": 1}]
    assert dicts_in(None) == []
