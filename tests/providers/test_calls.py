"""Calls get unique ids and object arguments, whatever the server sent."""

import pytest

from inglenook.messages import Message
from inglenook.providers.calls import (
    MALFORMED_ARGUMENTS,
    RawCall,
    arguments_of,
    finished_calls,
    made_id,
)
from tests.providers.streaming import QUESTION, call_history


@pytest.mark.parametrize(
    ("sent", "taken"),
    [
        ({"a": 1}, {"a": 1}),
        ('{"a": 1}', {"a": 1}),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ("", {}),
        ("  ", {}),
        (None, {}),
        ("null", {}),
        ('{"a": ', None),
        ("[1]", None),
        ("2+2", None),
        ('{"a": 1, "a": 2}', None),
        ('{"a": {"b": 1, "b": 1}}', None),
        ('"{\\"a\\": 1, \\"a\\": 2}"', None),
        ('{"a": {"b": 1}, "b": 2}', {"a": {"b": 1}, "b": 2}),
        ([1], None),
        ([], {}),
        ("[]", {}),
        (3, None),
    ],
)
def test_arguments_are_an_object_or_none(sent: object, taken: object) -> None:
    assert arguments_of(sent) == taken


def test_malformed_arguments_are_kept_as_text_and_reported() -> None:
    calls, repairs = finished_calls([RawCall("c", "calculate", '{"expression": "2+')], QUESTION)
    assert calls[0].arguments == {MALFORMED_ARGUMENTS: '{"expression": "2+'}
    assert "calculate" in repairs[0]


def test_key_that_stands_twice_is_refused_and_reported() -> None:
    text = '{"expression": "2+2", "expression": "3+3"}'
    calls, repairs = finished_calls([RawCall("c", "calculate", text)], QUESTION)
    assert calls[0].arguments == {MALFORMED_ARGUMENTS: text}
    assert repairs == ("the arguments of 'calculate' had a key twice and were kept as text",)


def test_good_ids_are_kept_and_others_are_made() -> None:
    sent = ["functions.a:0", "", None, 7, "x" * 600, "a\nb", "functions.a:0"]
    calls, repairs = finished_calls([RawCall(id_, "a", {}) for id_ in sent], QUESTION)
    ids = [call.id for call in calls]
    assert ids[0] == "functions.a:0"
    assert len(set(ids)) == len(ids)
    assert all(len(id_) == 9 and id_.isalnum() for id_ in ids[1:])
    assert repairs == ()


def test_an_id_that_the_conversation_has_seen_is_not_used_again() -> None:
    calls, _ = finished_calls([RawCall("call_1", "calculate", {})], call_history())
    assert calls[0].id != "call_1"


def test_made_ids_are_the_same_for_the_same_place_and_differ_from_step_to_step() -> None:
    assert made_id(QUESTION, 0, "a", set()) == made_id(QUESTION, 0, "a", set())
    one = Message(role="tool", text="4", call_id="x")
    other = Message(role="tool", text="4", call_id="y")
    places = [(QUESTION, 0), (QUESTION, 1), ((*QUESTION, one), 0), ((*QUESTION, other), 0)]
    assert len({made_id(messages, position, "a", set()) for messages, position in places}) == 4
    taken = {made_id(QUESTION, 0, "a", set())}
    assert made_id(QUESTION, 0, "a", taken) not in taken
