"""Any history in, valid history out; what was valid comes out as the same objects."""

import sys
from collections.abc import Sequence
from itertools import pairwise
from types import FrameType

from hypothesis import given
from hypothesis import strategies as st

from inglenook.context.cleanup import (
    NO_ANSWER,
    NOT_RECORDED,
    OPENING,
    valid_history,
)
from inglenook.messages import Message, Reasoning, ToolCall
from tests.support import say, user

DETAILS = '<details type="tool_calls" done="true">\n<summary>Ran</summary>\n</details>'


def call(id: str, name: str = "f") -> ToolCall:
    return ToolCall(id=id, name=name, arguments={"a": 1})


def result(id: str | None, text: str = "r", name: str | None = "f") -> Message:
    return Message(role="tool", text=text, call_id=id, tool_name=name)


def system(text: str) -> Message:
    return Message(role="system", text=text)


# --- an independent judge ------------------------------------------------------------------


def faults(history: Sequence[Message]) -> list[str]:
    """What a strict provider would refuse."""
    ids = [call.id for message in history for call in message.tool_calls]
    spoken = [message.role for message in history if message.role != "system"]
    neighbours = pairwise(history)
    return [
        *(["ids repeat"] * (len(set(ids)) < len(ids))),
        *(["an id is blank"] * any(not id.strip() or len(id) > 512 for id in ids)),
        *(f"begins with {role}" for role in spoken[:1] if role != "user"),
        *(fault for message in history for fault in faults_of(message)),
        *(fault for last, message in neighbours for fault in faults_between(last, message)),
        *pairing_faults(history),
    ]


def faults_of(message: Message) -> list[str]:
    calls = message.tool_calls
    is_answer, is_result = message.role == "assistant", message.role == "tool"
    return [
        *(["an empty answer"] * (is_answer and not message.text.strip() and not calls)),
        *(["a nameless call"] * any(not call.name.strip() for call in calls)),
        *(["a rendered trace"] * (is_answer and DETAILS in message.text)),
        *([f"calls of {message.role}"] * (not is_answer and bool(calls))),
        *([f"thinking of {message.role}"] * (not is_answer and bool(message.reasoning))),
        *(["a call's id"] * (not is_result and (message.call_id or message.tool_name) is not None)),
    ]


def faults_between(last: Message, message: Message) -> list[str]:
    two_answers = last.role == message.role == "assistant" and not last.tool_calls
    return [
        *(["two answers in a row"] * two_answers),
        *([f"the user after {last.role}"] * (message.role == "user" and last.role in AFTER_USER)),
    ]


AFTER_USER = ("user", "tool")


def pairing_faults(history: Sequence[Message]) -> list[str]:
    found: list[str] = []
    wanted: list[ToolCall] = []
    for message in history:
        if message.role != "tool":
            found += ["a call without a result"] * bool(wanted)
            wanted = list(message.tool_calls) if message.role == "assistant" else []
        elif not wanted:
            found.append("a result without a call")
        else:
            due = wanted.pop(0)
            if (message.call_id, message.tool_name) != (due.id, due.name):
                found.append(f"a result of {message.call_id} where {due.id} was due")
    return found + ["a call without a result"] * bool(wanted)


# --- any history -------------------------------------------------------------------------

ids = st.sampled_from(["", " ", "a", "b", "c", "\x00", "x" * 600])
calls = st.builds(
    ToolCall,
    id=ids,
    name=st.sampled_from(["f", "g", "", "  "]),
    arguments=st.just({}),
)
texts = st.lists(
    st.sampled_from(
        ["", " ", "hi", "\n", DETAILS, '<details type="reasoning">', "<details>", "</details>"]
    ),
    max_size=5,
).map("".join)
messages = st.builds(
    Message,
    role=st.sampled_from(["system", "user", "assistant", "tool", "tool", "assistant"]),
    text=texts,
    tool_calls=st.lists(calls, max_size=3).map(tuple),
    call_id=st.none() | ids,
    tool_name=st.sampled_from([None, "f", "g", ""]),
    reasoning=st.none() | st.just(Reasoning(text="hm", field="thinking")),
)
histories = st.lists(messages, max_size=12)


@given(histories)
def test_any_history_becomes_valid(history: list[Message]):
    assert faults(valid_history(history)) == []


@given(histories)
def test_what_is_valid_comes_out_as_the_same_objects(history: list[Message]):
    valid = valid_history(history)
    again = valid_history(valid)
    assert len(again) == len(valid)
    assert all(new is old for new, old in zip(again, valid, strict=True))


@given(histories)
def test_what_the_user_said_is_kept_in_its_order(history: list[Message]):
    before = "\n\n".join(m.text for m in history if m.role == "user" and m.text.strip())
    valid = [m for m in valid_history(history) if m is not OPENING]
    assert before == "\n\n".join(m.text for m in valid if m.role == "user" and m.text.strip())
    notices = [m.text for m in history if m.role == "system"]
    assert notices == [m.text for m in valid if m.role == "system"]


# --- single faults -----------------------------------------------------------------------

ASK, GO_ON = user("hi"), user("go on")


def test_a_whole_conversation_is_left_alone():
    history = [
        ASK,
        say("", call("1"), call("2", "g")),
        result("1"),
        result("2", name="g"),
        system("notice"),
        say("so"),
        GO_ON,
    ]
    assert all(a is b for a, b in zip(valid_history(history), history, strict=True))


def test_a_nameless_call_goes_with_its_result():
    history = [ASK, say("", call("1", " "), call("2")), result("1", name=""), result("2"), GO_ON]
    assert valid_history(history) == [ASK, say("", call("2")), result("2"), NO_ANSWER, GO_ON]


def test_a_nameless_call_without_an_id_takes_its_own_result_with_it():
    history = [ASK, say("", call("", ""), call("")), result(None, "1", None), result(None, "2")]
    [_, asked, answered] = valid_history(history)
    assert [each.name for each in asked.tool_calls] == ["f"]
    assert answered.text == "2"


def test_blank_and_repeated_ids_are_made_unique_and_results_follow_their_calls():
    turn = [say("", call("x"), call("x")), result("x", "1"), result("x", "2")]
    other = [say("", call(""), call("", "g")), result(None, "4", "g"), result("", "3", "f")]
    valid = valid_history([ASK, *turn, *turn, *other])
    assert valid == valid_history([ASK, *turn, *turn, *other]), "deterministic"
    assert [m.text for m in valid if m.role == "tool"] == ["1", "2", "1", "2", "3", "4"]
    assert valid[1].tool_calls[0].id == "x", "the first keeps its id"
    assert faults(valid) == []


def test_results_out_of_order_follow_their_calls_in_the_calls_order():
    history = [
        result("2", "second"),
        ASK,
        say("", call("1"), call("2")),
        system("notice"),
        GO_ON,
        result("1", "first"),
    ]
    asked = say("", call("1"), call("2"))
    first, second = result("1", "first"), result("2", "second")
    assert valid_history(history) == [
        ASK, asked, first, second, system("notice"), GO_ON
    ]  # fmt: skip


def test_results_without_a_call_go():
    history = [result("gone"), ASK, say("", call("1")), result("1"), result("1", "again"), say("x")]
    assert valid_history(history) == [ASK, say("", call("1")), result("1"), say("x")]


def test_a_call_without_a_result_gets_one_that_says_so():
    history = [ASK, say("", call("1"), call("2")), result("2"), GO_ON]
    assert valid_history(history)[2] == result("1", NOT_RECORDED)


def test_a_repeated_id_does_not_give_an_old_call_a_new_result():
    history = [ASK, say("", call("x")), GO_ON, say("", call("x")), result("x", "new")]
    valid = valid_history(history)
    assert [m.text for m in valid if m.role == "tool"] == [NOT_RECORDED, "new"]


def test_results_under_one_id_go_to_the_nearest_call_that_waits_for_one():
    twice = [say("", call("x")), say("", call("x"))]
    valid = valid_history([ASK, *twice, result("x", "1"), result("x", "2"), result("x", "3")])
    assert [m.text for m in valid if m.role == "tool"] == ["2", "1"]


def test_a_result_without_an_id_is_of_no_later_call():
    history = [ASK, result(None, "lost"), say("", call("1")), GO_ON]
    assert valid_history(history)[2].text == NOT_RECORDED


def test_answers_in_a_row_are_one_answer_and_so_is_text_before_a_call():
    thought = Reasoning(text="hm", field="thinking")
    second = Message(role="assistant", text="b", tool_calls=(call("1"),), reasoning=thought)
    history = [ASK, say("a"), say(""), second, result("1"), say("c"), say("d")]
    joined = Message(
        role="assistant", text="a\n\nb", tool_calls=second.tool_calls, reasoning=thought
    )
    assert valid_history(history) == [ASK, joined, result("1"), say("c\n\nd")]


def test_questions_in_a_row_are_one_question():
    assert valid_history([user("a"), user("b")]) == [user("a\n\nb")]


def test_an_assistant_that_begins_keeps_its_words():
    hello = say("Shall I use A or B?")
    assert valid_history([system("s"), hello, user("B")]) == [
        system("s"), OPENING, hello, user("B")
    ]  # fmt: skip


def test_nothing_stays_nothing():
    assert valid_history([]) == valid_history([result("1")]) == valid_history([say("")]) == []


def steps_for(size: int) -> int:
    """Python and C calls that it takes to mend a history of every fault."""
    several = [call("")] * size, [call("x")] * size
    history = [
        *[result("y")] * size,
        ASK,
        *(say("", *calls) for calls in several),
        *[result(None)] * size,
        *[result("x")] * size,
        *[say("", call("x"))] * size,
        *[say("x")] * size,
        *[ASK] * size,
    ]
    steps = 0

    def count(frame: FrameType, event: str, arg: object) -> None:
        nonlocal steps
        steps += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        valid_history(history)
    finally:
        sys.setprofile(None)
    return steps


def test_twice_the_faults_cost_twice_the_steps():
    assert steps_for(400) < 2.2 * steps_for(200)
