"""A report cache over a real store, with a clock and an embedder that a test holds in its hands."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from inglenook.egress import Egress
from inglenook.errors import ProviderError
from inglenook.knowledge.embedder import Vectors
from inglenook.messages import Source
from inglenook.research.asked_question import Question
from inglenook.research.report_cache import Report, ReportCache
from inglenook.store.sqlite import SqliteStore

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
SOURCE = Source(n=1, kind="web", title="A page", url="https://site.test/a", cited=True)


@dataclass
class FakeEmbedder:
    """Gives every text the same direction, or one with `cosine` to it for a question."""

    cosine: float = 0.98
    id: str = "fake:1"
    is_warm: bool = True
    fault: str | None = None
    held: asyncio.Event | None = None
    """Questions are answered once this is set."""
    queries: list[str] = field(default_factory=list[str])
    passages: list[list[str]] = field(default_factory=list[list[str]])

    async def embed_query(self, text: str, egress: Egress | None = None) -> Vectors:
        self.queries.append(text)
        if self.held:
            await self.held.wait()
        if self.fault:
            raise ProviderError(self.fault)
        return np.array([self.cosine, (1 - self.cosine**2) ** 0.5], dtype=np.float32)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if self.fault:
            raise ProviderError(self.fault)
        self.passages.append(list(texts))
        return np.array([[1, 0]] * len(texts), dtype=np.float32)


def report_cache(
    store: SqliteStore,
    *,
    embedder: FakeEmbedder | None = None,
    now: Callable[[], datetime] = lambda: NOW,
    **changes: Any,
) -> ReportCache:
    given: dict[str, Any] = {
        "max_bytes": 1_000_000,
        "validity": timedelta(days=30),
        "embedding_percent": 75,
        "jaccard_percent": 60,
        "min_overlap": 8,
    }
    return ReportCache(store, embedder=embedder, now=now, **(given | changes))


def question(text: str, mode: str = "research", *circumstances: str) -> Question:
    return Question(text=text, mode=mode, version="v1", circumstances=circumstances)


def report(answer: str = "It is so [1].") -> Report:
    return Report(answer=answer, sources=(SOURCE,), labels=("untrusted",))
