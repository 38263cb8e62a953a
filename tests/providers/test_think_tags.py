"""Thinking and control tokens are told from the answer, and examples of them are left alone."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

import pytest

from inglenook.egress import Egress
from inglenook.events import TextDelta
from inglenook.messages import Message, Reasoning, ToolSchema
from inglenook.providers.base import ModelAbilities, ModelReply, Part, StreamOptions
from inglenook.providers.recovery import RecoveringProvider
from inglenook.providers.think_tags import Split, begins_thinking, split_thinking, without_tokens
from tests.providers.streaming import streamed


@pytest.mark.parametrize(
    ("text", "split"),
    [
        ("4", Split("", "4", False)),
        ("a < b", Split("", "a < b", False)),
        ("<think>hm</think>4", Split("hm", "4", False)),
        ("\n<think>\nhm\n</think>\n\n4", Split("hm", "4", False)),
        ("<thinking>hm</thinking>4", Split("hm", "4", False)),
        ("<THINK>hm</think>4", Split("hm", "4", False)),
        ("<think>a</think>\n<think>b</think>4", Split("a\n\nb", "4", False)),
        ("<think>a <thought> b</think>4", Split("a <thought> b", "4", False)),
        ("<think></think>4", Split("", "4", False)),
        ("<think>never closed", Split("never closed", "", False)),
        ("hm\n</think>\n\n4", Split("hm", "4", True)),
        ("hm</think>\n4", Split("hm", "4", True)),
        ("</think>\n4", Split("", "4", True)),
        ("secret thoughts</think>visible", Split("secret thoughts", "visible", True)),
        ("secret </think> visible", Split("secret", "visible", True)),
        ("secret</THINKING>visible", Split("secret", "visible", True)),
        ("it`s secret</think>visible", Split("it`s secret", "visible", True)),
        ("```json\n{secret\n</think>\n4", Split("```json\n{secret", "4", True)),
        ("secret</think>", Split("secret", "", True)),
        ("The `</think>` tag </think>4", Split("The `</think>` tag", "4", True)),
        ('The tag "</think>" ends it.', Split("", 'The tag "</think>" ends it.', False)),
        ("Das Tag „</think>“ endet.", Split("", "Das Tag „</think>“ endet.", False)),
        ("The tag (</think>) ends it.", Split("", "The tag (</think>) ends it.", False)),
        ("Write `x</think>y` so.", Split("", "Write `x</think>y` so.", False)),
        ("So:\n```\nx</think>y\n```\nok", Split("", "So:\n```\nx</think>y\n```\nok", False)),
        ("From <think> to </think>.", Split("", "From <think> to </think>.", False)),
        ("Use `</think>`\nto end.", Split("", "Use `</think>`\nto end.", False)),
        ("```\n<think>\n</think>\n```", Split("", "```\n<think>\n</think>\n```", False)),
        (
            "They write <think>\nx\n</think>\nso.",
            Split("", "They write <think>\nx\n</think>\nso.", False),
        ),
        ("It ends with `</think>`", Split("", "It ends with `</think>`", False)),
    ],
)
def test_split(text: str, split: Split) -> None:
    assert split_thinking(text) == split


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("4", "4"),
        ("4<|im_end|>", "4"),
        ("<|im_start|>4<|eot_id|>", "4"),
        ("<｜end▁of▁sentence｜>4", "4"),
        ("a <| b |> c", "a <| b |> c"),
        ("`<|im_end|>` ends it<|im_end|>", "`<|im_end|>` ends it"),
        ("```\n<|im_start|>user\n```\n<|im_end|>", "```\n<|im_start|>user\n```\n"),
    ],
)
def test_tokens_are_removed_outside_code(text: str, cleaned: str) -> None:
    assert without_tokens(text) == cleaned


@pytest.mark.parametrize(
    ("text", "at_line_start", "cleaned"),
    [
        ("Granite marks calls with <|tool_call|> at first.", True, None),
        ("4<|im_end|>\n<|im_start|>assistant\n5", True, "4\n\n5"),
        ("<|start|>assistant<|channel|>final<|message|>4<|return|>", True, "4"),
        ("<|im_end|> and so on", False, None),
        ("<|im_end|> and so on", True, " and so on"),
        ("Say <|im_end|><|im_start|> here", True, None),
    ],
)
def test_tokens_within_a_line_are_words_about_them(
    text: str, at_line_start: bool, cleaned: str | None
) -> None:
    expected = text if cleaned is None else cleaned
    assert without_tokens(text, at_line_start=at_line_start) == expected


@pytest.mark.parametrize(
    ("text", "split"),
    [
        ("[THINK]hm[/THINK]4", Split("hm", "4", False)),
        ("<|START_THINKING|>hm<|END_THINKING|>4", Split("hm", "4", False)),
        ("<|channel|>analysis<|message|>hm<|end|>4", Split("hm", "4", False)),
        ("<|start|>assistant<|channel|>analysis<|message|>hm<|end|>4", Split("hm", "4", False)),
        ("◁think▷hm◁/think▷4", Split("hm", "4", False)),
        ("<seed:think>hm</seed:think>4", Split("hm", "4", False)),
        ("It is 4.\n<think>sure?</think>\nYes.", Split("sure?", "It is 4.\nYes.", False)),
        ("<think>a</think>4\n<think>b</think>\n5", Split("a\n\nb", "4\n5", False)),
        ("It is 4.\n<think>\nnever closed", Split("never closed", "It is 4.\n", False)),
        (
            "Like so:\n<think>\nx\n</think>\n4",
            Split("", "Like so:\n<think>\nx\n</think>\n4", False),
        ),
        ("```\n\n<think>\nx\n</think>\n```", Split("", "```\n\n<think>\nx\n</think>\n```", False)),
        ("A.\n<thinking>x</thinking>", Split("", "A.\n<thinking>x</thinking>", False)),
    ],
)
def test_split_of_other_tags_and_of_later_blocks(text: str, split: Split) -> None:
    assert split_thinking(text) == split


@pytest.mark.parametrize(
    ("model", "begins"),
    [
        ("deepseek-r1:14b", True),
        ("DeepSeek-R1-Distill-Llama-8B", True),
        ("qwq:32b", True),
        ("Qwen3-30B-A3B-Thinking-2507", True),
        ("magistral-small", True),
        ("deepseek-reasoner", True),
        ("qwen3:8b", False),
        ("llama3.1:8b", False),
        ("command-r7b", False),
    ],
)
def test_models_that_begin_with_their_thinking_are_known_by_name(model: str, begins: bool) -> None:
    assert begins_thinking(model) is begins


@pytest.mark.parametrize(
    "text",
    ["</think>x" * 50_000, "<think>" * 50_000, "<|a|>" * 50_000, "x\n<think>a</think>\n" * 9_000],
)
def test_hostile_text_is_read_to_its_end(text: str) -> None:
    """What it costs is measured by bench/recovery.py."""
    split = split_thinking(text)
    assert len(split.thinking) + len(split.answer) <= len(text)
    assert len(without_tokens(text)) <= len(text)


TALES = [
    ("<think>\nso\n</think>\n\nIt is 4.", "so", "It is 4."),
    ("<think>so</think>It is 4.\n\n<think>sure?</think>\nYes.", "so\n\nsure?", "It is 4.\n\nYes."),
    ("[THINK]so[/THINK]It is 4.", "so", "It is 4."),
    ("<|channel|>analysis<|message|>so<|end|><|start|>assistant<|channel|>final<|message|>It is 4."
     "<|return|>", "so", "It is 4."),
    ("<think>so</think>Write:\n```\n<think>\nx\n</think>\n```\nDone.", "so",
     "Write:\n```\n<think>\nx\n</think>\n```\nDone."),
    ("<think>a `</think>` b</think>4", "a `", "` b</think>4"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "thinking", "answer"), TALES)
async def test_thinking_is_split_off_wherever_the_text_is_cut(
    text: str, thinking: str, answer: str
) -> None:
    """Every way to cut it in two, and every piece size; shown live as it is in the end."""
    whole = Message(role="assistant", text=text)
    cuts = [[text[:at], text[at:]] for at in range(len(text) + 1)]
    cuts += [[text[at : at + n] for at in range(0, len(text), n)] for n in range(1, 12)]
    for pieces in cuts:
        got = await streamed(RecoveringProvider(Pieces(pieces, ModelReply(message=whole))))
        assert (got.reply.message.text, got.text) == (answer, answer), pieces
        assert got.reply.message.reasoning == Reasoning(text=thinking)
        assert "".join(got.reasoning.split()) == "".join(thinking.split())


@dataclass(frozen=True)
class Pieces:
    """A model whose text comes in these pieces."""

    pieces: Sequence[str]
    reply: ModelReply

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSchema], options: StreamOptions
    ) -> AsyncGenerator[Part, None]:
        for piece in self.pieces:
            yield TextDelta(piece)
        yield self.reply

    async def abilities(self, egress: Egress | None = None) -> ModelAbilities:
        return ModelAbilities()
