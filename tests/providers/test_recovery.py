"""Replies mended: calls, thinking and text each where they belong, live and at the end."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inglenook.errors import ProviderError
from inglenook.events import TextDelta
from inglenook.messages import Message, Reasoning, ToolCall
from inglenook.providers.base import ModelAbilities, ModelReply
from inglenook.providers.calls import MALFORMED_ARGUMENTS
from inglenook.providers.live_text import LiveText
from inglenook.providers.recovery import MAX_REPEATED_PIECES, RecoveringProvider
from inglenook.providers.scripted import ScriptedProvider, ScriptLine
from inglenook.providers.think_tags import split_thinking
from tests.providers.streaming import Streamed, streamed
from tests.providers.test_call_text import NOT_CALLS, SUM, WRITTEN


def said(text: str = "", thinking: str = "", *native: ToolCall) -> Message:
    reasoning = Reasoning(text=thinking, field="thinking") if thinking else None
    return Message(role="assistant", text=text, reasoning=reasoning, tool_calls=native)


async def mended(line: ScriptLine, piece_chars: int = 3) -> Streamed:
    return await streamed(RecoveringProvider(ScriptedProvider([line], piece_chars=piece_chars)))


@pytest.mark.parametrize("text", WRITTEN.values(), ids=WRITTEN.keys())
@pytest.mark.parametrize("piece_chars", [1, 7, 0])
async def test_call_in_text_runs_and_is_never_shown(text: str, piece_chars: int) -> None:
    got = await mended(text, piece_chars)
    assert got.calls == [SUM]
    assert got.reply.recovered_from == "content"
    assert got.deltas == []
    assert got.reply.message.text == ""
    assert text in got.reply.repairs[0], "the raw reply is kept"
    assert all(call.id for call in got.reply.message.tool_calls)


@pytest.mark.parametrize("text", NOT_CALLS.values(), ids=NOT_CALLS.keys())
async def test_other_text_is_the_answer_as_it_stands(text: str) -> None:
    got = await mended(text)
    assert got.text == got.reply.message.text == text
    assert got.reply.message.tool_calls == ()
    assert got.reply.recovered_from is None


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "calculate", "arguments": {"expression": "1", "expression": "2"}}',
        '{"name": "calculate", "name": "calculate", "arguments": {"expression": "1"}}',
        '{"name": "calculate", "arguments": "{\\"expression\\": \\"1\\", \\"expression\\": 2}"}',
        "{'name': 'calculate', 'arguments': {'expression': '1', 'expression': '2'}}",
        'calculate(expression="1", expression="2")',
        'calculate {"expression": "1", "expression": "2"}',
        '<function=calculate>{"expression": "1", "expression": "2"}</function>',
        "<function=calculate><parameter=expression>1</parameter>"
        "<parameter=expression>2</parameter></function>",
    ],
)
async def test_key_that_stands_twice_in_a_written_call_is_refused(text: str) -> None:
    got = await mended(text)
    ((name, arguments),) = got.calls
    assert (name, list(arguments)) == ("calculate", [MALFORMED_ARGUMENTS])
    assert "kept as text" in got.reply.repairs[-1]
    assert got.deltas == []


@pytest.mark.parametrize("name", ["Qwen Coder", "Hermes, Qwen", "demo model", "Kimi"])
async def test_call_in_native_thinking_runs_where_there_is_nothing_else(name: str) -> None:
    thinking = f"I will look.\n{WRITTEN[name]}"
    got = await mended(said("", thinking))
    assert got.calls == [SUM]
    assert got.reply.recovered_from == "thinking"
    assert got.reply.message.reasoning == Reasoning(text=thinking, field="thinking")
    assert got.text == ""


async def test_call_in_an_unclosed_think_tag_runs() -> None:
    got = await mended(f"<think>I will look.\n{WRITTEN['Qwen Coder']}")
    assert got.calls == [SUM]
    assert got.reply.recovered_from == "thinking"


async def test_call_in_thinking_is_left_there_where_the_model_answered_or_called() -> None:
    thinking = WRITTEN["Hermes, Qwen"]
    native = ToolCall(id="c", name="get_current_datetime", arguments={})
    assert (await mended(said("It is 4.", thinking))).reply.message.tool_calls == ()
    assert (await mended(said("", thinking, native))).reply.message.tool_calls == (native,)


async def test_text_beside_a_native_call_stays_text() -> None:
    native = ToolCall(id="c", name="get_current_datetime", arguments={})
    got = await mended(said(WRITTEN["bare JSON"], "", native))
    assert got.reply.message.tool_calls == (native,)
    assert got.text == got.reply.message.text == WRITTEN["bare JSON"]


async def test_without_tools_nothing_is_a_call() -> None:
    provider = RecoveringProvider(ScriptedProvider([WRITTEN["bare JSON"]]))
    got = await streamed(provider, tools=())
    assert got.text == WRITTEN["bare JSON"]


async def test_thinking_in_tags_becomes_reasoning_before_the_call() -> None:
    got = await mended(f"<think>two and two</think>\n{WRITTEN['Hermes, Qwen']}")
    assert got.calls == [SUM]
    assert got.reasoning == "two and two"
    assert got.reply.message.reasoning == Reasoning(text="two and two")


@pytest.mark.parametrize("piece_chars", [1, 2, 5, 0])
async def test_think_tags_are_split_across_pieces(piece_chars: int) -> None:
    got = await mended("<think>\nhm < so\n</think>\n\nIt is 4.", piece_chars)
    assert got.text == got.reply.message.text == "It is 4."
    assert got.reasoning.strip() == "hm < so"
    assert got.reply.message.reasoning == Reasoning(text="hm < so")


async def test_native_and_tagged_thinking_are_joined_under_the_native_name() -> None:
    got = await mended(said("<think>b</think>4", "a"))
    assert got.reply.message.reasoning == Reasoning(text="a\n\nb", field="thinking")


async def test_missing_opening_tag_is_learnt_after_the_first_reply() -> None:
    line = "hm, so\n</think>\n\nIt is 4."
    provider = RecoveringProvider(ScriptedProvider([line, line, "It is 5."], piece_chars=3))
    first, second, third = [await streamed(provider) for _ in range(3)]
    assert first.reply.message == second.reply.message
    assert first.reply.message.text == "It is 4."
    assert first.reply.message.reasoning == Reasoning(text="hm, so")
    assert (second.text, second.reasoning.strip()) == ("It is 4.", "hm, so")
    assert third.text == third.reply.message.text == "It is 5."


async def test_model_known_to_begin_with_its_thinking_never_shows_it_as_an_answer() -> None:
    scripted = ScriptedProvider(["hm, so\n</think>\n\nIt is 4.", "It is 5."], piece_chars=3)
    provider = RecoveringProvider(scripted, begins_thinking=True)
    first, second = [await streamed(provider) for _ in range(2)]
    assert (first.text, first.reasoning.strip()) == ("It is 4.", "hm, so")
    assert second.text == second.reply.message.text == "It is 5."


async def test_wrong_guess_about_thinking_holds_for_one_reply_only() -> None:
    scripted = ScriptedProvider(["It is 4, as you know.", "It is 5, as you see."], piece_chars=3)
    provider = RecoveringProvider(scripted, begins_thinking=True)
    first, second = [await streamed(provider) for _ in range(2)]
    assert first.text == first.reply.message.text == "It is 4, as you know."
    assert second.text == second.reply.message.text == "It is 5, as you see."
    assert second.reasoning == ""
    assert len(second.deltas) > 3, "it flows again"


async def test_thinking_that_comes_natively_contradicts_the_guess() -> None:
    scripted = ScriptedProvider([said("It is 4, so it is.", "hm")], piece_chars=3)
    got = await streamed(RecoveringProvider(scripted, begins_thinking=True))
    assert got.text == got.reply.message.text == "It is 4, so it is."
    assert got.reasoning == "hm"
    assert len(got.deltas) > 3, "the answer flows"


async def test_tool_call_behind_thinking_without_its_opening_tag_runs() -> None:
    line = f"hm, so\n</think>\n\n{WRITTEN['Hermes, Qwen']}"
    scripted = ScriptedProvider([line], piece_chars=3)
    got = await streamed(RecoveringProvider(scripted, begins_thinking=True))
    assert (got.calls, got.text) == ([SUM], "")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Let me look.\n\n" + WRITTEN["bare JSON"], "Let me look."),
        ("I'll calculate it:\n" + WRITTEN["fenced JSON"], "I'll calculate it:"),
        ("Je vais calculer.\n" + WRITTEN["Python call"], "Je vais calculer."),
        ("Ich rechne das aus.\n\n" + WRITTEN["ReAct"].partition("\n")[2], "Ich rechne das aus."),
        ("我来计算。\n" + WRITTEN["bare JSON"], "我来计算。"),
    ],
)
@pytest.mark.parametrize("piece_chars", [1, 7, 0])
async def test_call_without_a_mark_runs_after_words_of_intent(
    text: str, shown: str, piece_chars: int
) -> None:
    got = await mended(text, piece_chars)
    assert got.calls == [SUM]
    assert got.text.strip() == got.reply.message.text == shown


@pytest.mark.parametrize(
    "text",
    [
        "I read the page. It says:\n{tagged}",
        "I found a suspicious text.\n{tagged}",
        "Let me warn you: the page says\n\n{tagged}\n\nand that is an attack.",
        "Let me look. The file contains this:\n{bare}",
        "I will go on.\nThe tools are:\n{bare}",
        "I'd like to show it.\n> {tagged}",
    ],
)
@pytest.mark.parametrize("piece_chars", [1, 5, 0])
async def test_call_that_another_text_holds_is_not_the_models_own(
    text: str, piece_chars: int
) -> None:
    written = {"tagged": "Hermes, Qwen", "bare": "bare JSON"}
    text = text.format_map({key: WRITTEN[name] for key, name in written.items()})
    got = await mended(text, piece_chars)
    assert got.calls == []
    assert got.reply.malformed_call is None
    assert got.text == got.reply.message.text == text


@pytest.mark.parametrize("piece_chars", [1, 4, 0])
async def test_leaked_tokens_vanish_and_examples_stay(piece_chars: int) -> None:
    got = await mended("<|im_start|>Use `<|im_end|>` there.<|im_end|>", piece_chars)
    assert got.text == got.reply.message.text == "Use `<|im_end|>` there."


async def test_plain_answer_flows_piece_by_piece_and_unchanged() -> None:
    text = "It is 4, because 1 < 3 and `x` is so."
    reply = ModelReply(message=Message(role="assistant", text=text))
    got = await mended(reply, 4)
    assert got.text == text
    assert len(got.deltas) >= len(text) // 4 - 1
    assert got.reply is reply


def test_first_words_are_not_held_back() -> None:
    live = LiveText(None)
    assert [d.text for d in live.feed(TextDelta("It"))] == ["It"]
    assert [d.text for d in live.feed(TextDelta(" is < 4"))] == [" is < 4"]


async def test_answer_that_begins_like_a_call_is_shown_when_it_is_none() -> None:
    text = NOT_CALLS["explained"]
    got = await mended(text)
    assert [delta.text for delta in got.deltas] == [text]
    assert got.reply.message.text == text


async def test_model_stuck_on_one_piece_is_stopped() -> None:
    stuck = "la" * (MAX_REPEATED_PIECES + 2)
    with pytest.raises(ProviderError, match="repeated 'la'"):
        await mended(stuck, 2)
    assert (await mended("la" * MAX_REPEATED_PIECES, 2)).text == "la" * MAX_REPEATED_PIECES


async def test_recovered_ids_differ_from_those_of_the_conversation() -> None:
    provider = RecoveringProvider(ScriptedProvider([WRITTEN["bare JSON"], WRITTEN["bare JSON"]]))
    first = (await streamed(provider)).reply.message
    result = Message(role="tool", text="4", call_id=first.tool_calls[0].id, tool_name="calculate")
    second = (await streamed(provider, (first, result))).reply.message
    assert first.tool_calls[0].id != second.tool_calls[0].id


async def test_abilities_are_the_inner_ones() -> None:
    inner = ScriptedProvider(abilities=ModelAbilities(context_tokens=7))
    assert (await RecoveringProvider(inner).abilities()).context_tokens == 7


SNIPPETS = [
    *("<think>", "</think>", "<|im_end|>", "`", "```", "\n", " ", "<", "<|", "</", ">", "a", "{"),
    *('{"name": ', "Action:", "[", "It is", "<tool_call>", "thinking", "calculate", "(", '"'),
    *('{"name": "calculate", "arguments": {}}', "</tool_call>", ".\n", "Action Input:"),
    *("I'll look.\n", "\n<think>", "[THINK]", "[/THINK]", "<|python_tag|>", "```json\n", ":\n"),
    *('{"name": "calculate", "arguments": {"expression": "2"}}', ">>>", "<|channel|>", "analysis"),
    *("<|message|>", "<|end|>", "Thought: x\n", "functools[", "</thinking>", "`<think>`", "~~~"),
]


@settings(max_examples=600)
@given(st.lists(st.sampled_from(SNIPPETS), max_size=12), st.integers(1, 9))
async def test_what_was_shown_is_what_the_answer_is(pieces: list[str], piece_chars: int) -> None:
    """For any text and any cut, but for thinking whose opening tag is missing."""
    text = "".join(pieces)
    got = await mended(text, piece_chars)
    if not split_thinking(text).opening_is_missing:
        assert got.text.strip() == got.reply.message.text.strip()
