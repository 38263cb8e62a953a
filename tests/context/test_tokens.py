"""Estimates are cheap, grow with the text and are not fooled by rules and indentation."""

from inglenook.context.tokens import Meter, chars_for, message_estimate, text_estimate
from inglenook.messages import Message, ToolSchema


def test_nothing_costs_nothing_and_more_costs_more():
    assert text_estimate("") == 0
    assert 0 < text_estimate("word") < text_estimate("word " * 10) < text_estimate("word " * 100)


def test_a_rule_costs_about_what_a_word_does():
    assert text_estimate("-" * 1_000) < 10
    assert text_estimate("if x:\n" + " " * 400 + "pass") < 20


def test_every_digit_counts():
    assert text_estimate("1234567890" * 10) > 2 * text_estimate("abcdefghij" * 10)


def test_scripts_are_counted_by_their_bytes():
    assert 6 <= text_estimate("今天天气怎么样呢") <= 12
    assert 4 <= text_estimate("Привет, как дела?") <= 12
    assert text_estimate("\ud800 lone") > 0


def test_a_meter_gives_the_same_for_a_longer_and_for_a_rewritten_view():
    schema = ToolSchema(name="look", description="Look.", parameters={"type": "object"})
    first = [Message(role="user", text=f"message {n}") for n in range(5)]
    meter = Meter([schema])
    assert meter.of([]) > 0
    for view in (first[:2], first, [*first[:1], *first[3:]], first):
        assert meter.of(view) == Meter([schema]).of([]) + sum(map(message_estimate, view))


def test_a_budget_is_never_larger_for_a_model_with_smaller_tokens():
    assert chars_for(100, 0.5) == chars_for(100, 1.0) > chars_for(100, 2.0)
