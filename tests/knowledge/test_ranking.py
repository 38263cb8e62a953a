"""Meaning leads and words add a bounded bonus, whatever is missing."""

from inglenook.knowledge.ranking import POOL, WORD_WEIGHT, Candidate, ranked


def candidate(id: int, cosine: float | None, bm25: float = 0.0) -> Candidate:
    return Candidate(chunk_id=id, knowledge_id="kb", cosine=cosine, bm25=bm25)


def order(*candidates: Candidate, k: int = 10) -> list[int]:
    return [one.chunk_id for one, _ in ranked(candidates, k)]


def test_without_vectors_words_decide():
    assert order(candidate(1, None, 1.0), candidate(2, None, 3.0)) == [2, 1]


def test_without_words_meaning_decides():
    assert order(candidate(1, 0.80), candidate(2, 0.85)) == [2, 1]


def test_words_lift_a_passage_that_is_near_enough():
    assert order(candidate(1, 0.90), candidate(2, 0.88, 5.0), candidate(3, 0.70)) == [2, 1, 3]


def test_words_cannot_lift_a_passage_from_far_away():
    assert order(candidate(1, 0.90), candidate(2, 0.72, 5.0), candidate(3, 0.70)) == [1, 2, 3]
    (_, best), *_ = ranked([candidate(1, 0.9, 5.0), candidate(2, 0.7)], 2)
    assert best == 1 + WORD_WEIGHT


def test_a_chunk_without_its_vector_is_judged_by_its_words():
    assert order(candidate(1, 0.90), candidate(2, None, 5.0), candidate(3, 0.70)) == [2, 1, 3]
    assert order(candidate(1, 0.90, 5.0), candidate(2, None, 1.0), candidate(3, 0.70)) == [1, 2, 3]


def test_the_scale_is_set_by_the_nearest_alone():
    """A pile of far passages does not squeeze the near ones together."""
    far = [candidate(100 + n, 0.1) for n in range(POOL)]
    near = [candidate(n, 0.8 + n / 1000) for n in range(POOL)]
    (first, _), *_ = ranked([*far, *near, candidate(99, 0.81, 1.0)], 1)
    assert first.chunk_id == POOL - 1


def test_nothing_gives_nothing_and_one_gives_one():
    assert order() == []
    assert order(candidate(1, 0.5)) == [1]
    assert order(candidate(1, 0.5), candidate(2, 0.5), k=1) == [1]
