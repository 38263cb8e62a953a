"""Estimates are cheap, grow with the text and are not fooled by rules and indentation."""

from inglenook.context.tokens import chars_for, text_estimate


def test_nothing_costs_nothing_and_more_costs_more():
    assert text_estimate("") == 0
    assert 0 < text_estimate("word") < text_estimate("word " * 10) < text_estimate("word " * 100)


def test_a_rule_costs_about_what_a_word_does():
    assert text_estimate("-" * 1_000) < 10
    assert text_estimate("if x:\n" + " " * 400 + "pass") < 20


def test_every_digit_counts():
    assert text_estimate("1234567890" * 20) > 2 * text_estimate("abcdefghij" * 20)


def test_scripts_are_counted_by_their_bytes():
    assert 6 <= text_estimate("今天天气怎么样呢") <= 12
    assert 4 <= text_estimate("Привет, как дела?") <= 12
    assert text_estimate("\ud800 lone") > 0


def test_a_budget_is_never_larger_for_a_model_with_smaller_tokens():
    assert chars_for(100, 0.5) == chars_for(100, 1.0) > chars_for(100, 2.0)
