"""Thinking and control tokens are told from the answer, and examples of them are left alone."""

import time

import pytest

from inglenook.providers.think_tags import Split, split_thinking, without_tokens


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


@pytest.mark.parametrize("text", ["</think>x" * 50_000, "<think>" * 50_000, "<|a|>" * 50_000])
def test_hostile_text_costs_no_more_than_a_moment(text: str) -> None:
    began = time.process_time()
    split_thinking(text)
    without_tokens(text)
    assert time.process_time() - began < 2
