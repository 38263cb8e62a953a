"""The content gate on pairs made for it: how often it lets another question through, and how often
it lets a paraphrase through. `pytest -s` prints both."""

import pytest

from inglenook.research.content_gate import content_of, may_match
from inglenook.research.words import language_of
from tests.research.question_pairs import OTHER_QUESTIONS, PARAPHRASES, Pair, halves


def matches(pair: Pair) -> bool:
    one, other = (content_of(question, language_of(question)) for question in pair)
    return may_match(one, other)


@pytest.mark.parametrize("half", [0, 1], ids=["tuned on", "held out"])
def test_no_other_question_passes_and_most_paraphrases_do(half: int):
    others, paraphrases = halves(OTHER_QUESTIONS)[half], halves(PARAPHRASES)[half]
    false = [pair for pair in others if matches(pair)]
    hits = sum(matches(pair) for pair in paraphrases)
    print(
        f"\nfalse hits {len(false)} of {len(others)}, hits {hits} of {len(paraphrases)} paraphrases"
        f" ({100 * hits / len(paraphrases):.0f} %)"
    )
    assert false == []
    assert hits / len(paraphrases) >= 0.8


def test_the_set_is_as_large_as_it_is_said_to_be():
    assert len(OTHER_QUESTIONS) >= 150
    assert len(PARAPHRASES) >= 100


@pytest.mark.parametrize("pair", [*OTHER_QUESTIONS[:40], *PARAPHRASES[:40]])
def test_the_gate_does_not_mind_which_question_came_first(pair: Pair):
    assert matches(pair) == matches((pair[1], pair[0]))


@pytest.mark.parametrize(
    "question", ["How high is the Eiffel Tower?", "咖啡对健康有益吗", "Wie hoch ist der Turm?"]
)
def test_every_question_matches_itself(question: str):
    assert matches((question, question))


@pytest.mark.parametrize("question", ["", "???", "please", "the"])
def test_a_question_without_content_matches_nothing(question: str):
    content = content_of(question, "en")
    assert not may_match(content, content)
