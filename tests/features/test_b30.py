"""B30: a research task is the end of the conversation, under its heading, and then the question."""

from hypothesis import given
from hypothesis import strategies as st

from inglenook.messages import Message, ToolCall
from inglenook.research.instructions import HISTORY_CHARS, task_text


def test_both_parts_have_their_headings():
    said = [
        Message(role="system", text="You are…"),
        Message(role="user", text="I am in Paris."),
        Message(role="assistant", text="", tool_calls=(ToolCall(id="1", name="x", arguments={}),)),
        Message(role="tool", text="a secret page", call_id="1", tool_name="x"),
        Message(role="assistant", text="Lovely."),
    ]
    assert task_text("How high is it?", said) == (
        "CONVERSATION HISTORY\nuser: I am in Paris.\n\nassistant: Lovely.\n\n"
        "CURRENT QUERY\nHow high is it?"
    )


def test_without_a_conversation_there_is_the_question_alone():
    assert task_text("How high is it?", []) == "CURRENT QUERY\nHow high is it?"


@given(st.lists(st.text(max_size=3_000), max_size=8))
def test_of_a_long_one_the_last_4000_characters_are_left(texts: list[str]):
    said = [Message(role="user", text=text) for text in texts]
    whole = "\n\n".join(f"user: {text.strip()}" for text in texts if text.strip())
    text = task_text("q", said)
    if len(whole) > HISTORY_CHARS == 4_000:
        assert text == f"CONVERSATION HISTORY\n...{whole[-4_000:]}\n\nCURRENT QUERY\nq"
    elif whole:
        assert text == f"CONVERSATION HISTORY\n{whole}\n\nCURRENT QUERY\nq"
