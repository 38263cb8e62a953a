"""One order out of two: nearness of meaning leads, shared words add a bounded bonus.

Score = nearness of meaning, scaled so that the best is 1 and the worst of the nearest `POOL` is 0,
plus `WORD_WEIGHT` times BM25, scaled so that the best is 1. So words can lift a passage by at most
`WORD_WEIGHT` of that span, whatever the corpus and the embedder. Measured by
bench/retrieval_faq.py: any weight from 0.1 to 0.4 is at least as good as the better of the two
alone, on R@1 and R@5, in all four languages; adding ranks at equal weights (reciprocal rank
fusion) did worse than vectors alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

POOL = 50
"""Candidates that each retriever brings."""
WORD_WEIGHT = 0.3


@dataclass(frozen=True, kw_only=True)
class Candidate:
    chunk_id: int
    knowledge_id: str
    cosine: float | None
    """None: its vector is not there yet."""
    bm25: float
    """Higher is better; 0 where no word is shared."""


def ranked(candidates: Sequence[Candidate], k: int) -> list[tuple[Candidate, float]]:
    """The best `k` with their scores. A chunk without a vector is judged by its words alone."""
    best_words = max((c.bm25 for c in candidates), default=0.0) or 1.0
    cosines = sorted((c.cosine for c in candidates if c.cosine is not None), reverse=True)
    top = cosines[0] if cosines else 0.0
    bottom = cosines[min(POOL, len(cosines)) - 1] if cosines else 0.0
    span = (top - bottom) or 1.0

    def score(candidate: Candidate) -> float:
        words = candidate.bm25 / best_words
        meaning = words if candidate.cosine is None else (candidate.cosine - bottom) / span
        return meaning + WORD_WEIGHT * words

    scored = [(candidate, score(candidate)) for candidate in candidates]
    scored.sort(key=lambda pair: (-pair[1], pair[0].knowledge_id, pair[0].chunk_id))
    return scored[:k]
