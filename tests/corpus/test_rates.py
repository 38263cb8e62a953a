"""Calls that models write as text are recovered, and answers that speak of calls are left alone.

The corpus' own rules are in rates.py; `python -m tests.corpus.rates` prints the tables.
"""

import json
from collections import Counter

import pytest

from tests.corpus.rates import (
    Verdict,
    fault_in_answer,
    fault_in_call,
    judged,
    rate,
    report,
    talk_about_calls,
    tool_sets,
    understood,
    written_calls,
)


@pytest.mark.parametrize("piece_chars", [0, 1, 5])
async def test_written_calls_are_recovered_and_nothing_else_is(piece_chars: int) -> None:
    found = await judged(piece_chars)
    print(f"\n{report(found)}")
    assert rate(found.calls) >= 0.98, faults(found.calls)
    assert rate(held_out(found.calls)) >= 0.95, faults(held_out(found.calls))
    assert faults(found.broken) == []
    assert faults(found.answers) == []


def held_out(verdicts: list[Verdict]) -> list[Verdict]:
    return [verdict for verdict in verdicts if verdict.held_out]


def faults(verdicts: list[Verdict]) -> list[str]:
    return [f"{verdict.id}: {verdict.fault}" for verdict in verdicts if verdict.fault]


def test_the_corpus_is_as_large_and_as_varied_as_it_claims() -> None:
    calls, answers = written_calls(), talk_about_calls()
    assert len([entry for entry in calls if "calls" in entry]) >= 150
    assert len(Counter(entry["group"] for entry in calls)) >= 15
    assert len(answers) >= 150
    for entries in (calls, answers):
        assert len({entry["id"] for entry in entries}) == len(entries)
        assert len({json.dumps([e["text"], e.get("thinking")]) for e in entries}) == len(entries)
        assert 0.25 < sum(entry["held_out"] for entry in entries) / len(entries) < 0.5


async def test_the_judge_sees_a_call_that_was_missed_and_one_that_was_made_up() -> None:
    entry = next(entry for entry in written_calls() if entry["id"] == "hermes-01")
    tools = tool_sets()[entry["tools"]]
    as_answer, as_call = await understood(entry, (), 5), await understood(entry, tools, 5)
    assert fault_in_call(entry, as_answer, tools) is not None
    assert fault_in_call(entry, as_call, tools) is None
    assert fault_in_answer(entry, as_call) is not None
    assert fault_in_answer(entry, as_answer) is None
