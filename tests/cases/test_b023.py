"""B023: a compaction never splits a reply from its results, wherever the boundary falls."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from inglenook.context.compaction import Compacting, compacted
from inglenook.context.tokens import message_estimate
from inglenook.messages import Message, ToolCall

FIXED = [Message(role="system", text="Be brief.")]


def look(id: str) -> ToolCall:
    return ToolCall(id=id, name="look", arguments={})


def turn(user: bool, results: Sequence[int], answer: bool, n: int) -> list[Message]:
    messages: list[Message] = []
    if user:
        messages.append(Message(role="user", text=f"question {n}"))
    if results:
        calls = tuple(
            ToolCall(id=f"c{n}.{i}", name="look", arguments={}) for i in range(len(results))
        )
        messages.append(Message(role="assistant", tool_calls=calls))
        messages += [
            Message(role="tool", call_id=call.id, tool_name="look", text="x" * size)
            for call, size in zip(calls, results, strict=True)
        ]
    if answer:
        messages.append(Message(role="assistant", text=f"answer {n}"))
    return messages


turns = st.lists(
    st.tuples(st.booleans(), st.lists(st.integers(0, 3_000), max_size=4), st.booleans()), max_size=8
)


def history_of(parts: list[tuple[bool, list[int], bool]]) -> list[Message]:
    history = [*FIXED, Message(role="user", text="the first question")]
    for n, (user, results, answer) in enumerate(parts):
        history += turn(user, results, answer, n)
    return history


def assert_pairs(messages: Sequence[Message]) -> None:
    open_ids: list[str] = []
    for message in messages:
        if message.role == "tool":
            assert message.call_id in open_ids, "a result without its call"
            open_ids.remove(message.call_id or "")
        else:
            assert not open_ids, "a call without its result"
            open_ids = [call.id for call in message.tool_calls]
    assert not open_ids


@given(turns, st.integers(100, 6_000), st.sampled_from([1, 2]))
def test_every_compaction_leaves_a_valid_history(
    parts: list[tuple[bool, list[int], bool]], room: int, attempt: int
):
    history = history_of(parts)
    cut = Compacting().cut(history, fixed=1, room_tokens=room, attempt=attempt)
    if cut is None:
        return
    after = compacted(
        history,
        start=cut.start,
        end=cut.end,
        summary="All was looked at.",
        shorten_to=cut.shorten_to,
        shelve=lambda text, limit: text[:limit],
    )
    assert_pairs(after)
    assert after[0] is history[0]
    users = [message for message in history if message.role == "user"]
    assert [m for m in after if m.role == "user"][-1:] == users[-1:], "the last one, to the letter"
    kept = [m for m in after if m in history]
    assert kept == [m for m in history if m in kept], "in the same order"
    assert after[-1].role == history[-1].role


def test_a_boundary_inside_a_parallel_batch():
    big = "x" * 8_000
    calls = (
        ToolCall(id="a", name="look", arguments={}),
        ToolCall(id="b", name="look", arguments={}),
    )
    history = [
        *FIXED,
        Message(role="user", text="old"),
        Message(role="assistant", text="y" * 4_000),
        Message(role="user", text="new"),
        Message(role="assistant", tool_calls=calls),
        Message(role="tool", call_id="a", tool_name="look", text=big),
        Message(role="tool", call_id="b", tool_name="look", text="short"),
    ]
    room = message_estimate(history[-1]) + message_estimate(history[0]) + 600
    cut = Compacting().cut(history, fixed=1, room_tokens=room, attempt=1)
    assert cut is not None
    assert cut.end == 4, "both results stay with their call"
    assert cut.shorten_to is not None
