"""Reports of earlier research, found again by their question.

Looked up in this order: the same words, then by meaning where vectors are there and the embedder is
warm, then by stems. Before the last two only questions count whose content is the same
(`content_gate.py`); the store finds those by one indexed key, so that nothing is compared with all
that is kept.
"""

import asyncio
import hashlib
import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, Protocol

import numpy as np

from inglenook.egress import Egress
from inglenook.errors import ProviderError, StoreError
from inglenook.knowledge.embedder import Vectors
from inglenook.messages import Label, Source
from inglenook.research.asked_question import AskedQuestion, Question, scope_of
from inglenook.research.content_gate import content_of, may_match
from inglenook.research.words import stem
from inglenook.store.base import Cache, CacheEntry, CacheVector, FamilyEntry

logger = logging.getLogger(__name__)

KIND = "research"
MAX_CANDIDATES = 50
"""Of one content; there are more only where many ask alike with other words around it."""
QUERY_TIMEOUT_S = 0.1
"""For the question's vector; stems decide after that."""
BATCH = 32
FLOAT32_SLACK = 1e-3
"""Percent; what was 0.75 is a little less in single precision."""
MODES: dict[str, tuple[str, ...]] = {
    "research": ("research", "deep-research"),
    "deep-research": ("deep-research",),
}
"""By strategy, those whose reports will do."""
Match = Literal["exact", "embedding", "words"]


class WarmEmbedder(Protocol):
    """An embedder on this machine that says whether its model is loaded."""

    @property
    def id(self) -> str: ...

    @property
    def is_warm(self) -> bool: ...

    async def embed_query(self, text: str, egress: Egress | None = None) -> Vectors: ...

    async def embed_passages(self, texts: Sequence[str]) -> Vectors: ...


@dataclass(frozen=True, kw_only=True)
class Report:
    answer: str
    sources: tuple[Source, ...]
    labels: tuple[Label, ...]


@dataclass(frozen=True, kw_only=True)
class Hit:
    report: Report
    match: Match
    percent: int
    asked: str
    """The question that the report was made for."""
    terms: str
    """What it is kept under."""
    fetched_at: datetime


def _utc_now() -> datetime:
    return datetime.now(UTC)


class ReportCache:
    def __init__(
        self,
        cache: Cache,
        *,
        max_bytes: int,
        validity: timedelta,
        embedding_percent: int,
        jaccard_percent: int,
        min_overlap: int,
        embedder: WarmEmbedder | None = None,
        query_timeout_s: float = QUERY_TIMEOUT_S,
        now: Callable[[], datetime] = _utc_now,
    ) -> None:
        self._cache = cache
        self._max_bytes = max_bytes
        self._validity = validity
        self._embedding_percent = embedding_percent
        self._jaccard_percent = jaccard_percent
        self._min_overlap = min_overlap
        self._embedder = embedder
        self._query_timeout_s = query_timeout_s
        self._now = now
        self._has_work = asyncio.Event()
        self._has_work.set()  # what an earlier process did not come to

    async def find(self, question: Question) -> Hit | None:
        """
        Raises:
            StoreError: The store cannot be read.
        """
        asked = await _taken_apart(question)
        if asked is None:
            return None
        for mode in MODES.get(question.mode, (question.mode,)):
            if hit := await self._find_in(scope_of(question, mode), asked):
                return hit
        return None

    async def keep(self, question: Question, report: Report) -> None:
        """
        Raises:
            StoreError: The store takes nothing.
        """
        asked = await _taken_apart(question)
        if asked is None:
            return
        scope = scope_of(question, question.mode)
        value = {
            "asked": question.text,
            "terms": " ".join(asked.terms),
            "answer": report.answer,
            "sources": [_source_fields(source) for source in report.sources],
        }
        await self._cache.cache_put(
            KIND,
            asked.key(scope),
            json.dumps(value).encode(),
            fetched_at=self._now(),
            labels=report.labels,
            max_bytes=self._max_bytes,
            since=self._since(),
            family=asked.family(scope),
        )
        self._has_work.set()

    async def keep_embedding(self) -> None:
        """Embed what is kept, batch by batch, newest first; ends with its task alone."""
        while True:
            await self._has_work.wait()
            self._has_work.clear()
            while await self.embed_batch():
                pass

    async def embed_batch(self) -> bool:
        """Embed up to `BATCH` reports' terms; whether there may be more. Stems do without."""
        if self._embedder is None:
            return False
        model = self._embedder.id
        try:
            rows = await self._cache.cache_unembedded(KIND, model, BATCH)
            if not rows:
                return False
            texts = [str(json.loads(value)["terms"]) for _, value in rows]
            vectors = await self._embedder.embed_passages(texts)
            await self._cache.cache_put_vectors(
                KIND,
                model,
                [
                    CacheVector(key=key, text_hash=_digest(text), vector=vector.tobytes())
                    for (key, _), text, vector in zip(rows, texts, vectors, strict=True)
                ],
            )
        except (ProviderError, StoreError) as error:
            logger.debug("reports are not embedded: %s", error)
            return False
        return len(rows) == BATCH

    async def _find_in(self, scope: str, asked: AskedQuestion) -> Hit | None:
        since = self._since()
        if same := await self._cache.cache_get(KIND, asked.key(scope), since=since):
            return _hit(same, "exact", 100)
        family = await self._cache.cache_family(
            KIND, asked.family(scope), since=since, limit=MAX_CANDIDATES
        )
        alike = [
            entry
            for entry in family
            if may_match(asked.content, content_of(_value(entry)["asked"], asked.language))
        ]
        return await self._by_meaning(alike, asked) or self._by_stems(alike, asked)

    async def _by_meaning(self, entries: Sequence[FamilyEntry], asked: AskedQuestion) -> Hit | None:
        if not entries or self._embedder is None or not self._embedder.is_warm:
            return None
        vectors = await self._cache.cache_vectors(
            KIND, self._embedder.id, [entry.key for entry in entries]
        )
        hashes = {entry.key: _digest(_value(entry)["terms"]) for entry in entries}
        valid = {each.key: each for each in vectors if each.text_hash == hashes[each.key]}
        if not valid:
            return None
        try:
            async with asyncio.timeout(self._query_timeout_s):
                query = await self._embedder.embed_query(" ".join(asked.terms))
        except (ProviderError, TimeoutError) as error:
            logger.debug("reports are looked up by words alone: %r", error)
            return None
        scored = [
            (_cosine_percent(query, valid[entry.key].vector), entry)
            for entry in entries
            if entry.key in valid
        ]
        percent, entry = max(scored, key=lambda each: each[0])
        if percent < self._embedding_percent:
            return None
        return _hit(entry, "embedding", percent)

    def _by_stems(self, entries: Sequence[FamilyEntry], asked: AskedQuestion) -> Hit | None:
        best: tuple[int, FamilyEntry] | None = None
        for entry in entries:
            stems = frozenset(stem(w, asked.language) for w in _value(entry)["terms"].split())
            shared = len(stems & asked.stems)
            if not shared or shared < self._min_overlap:
                continue
            percent = round(100 * similarity(stems, asked.stems))
            if percent >= self._jaccard_percent and (best is None or percent > best[0]):
                best = percent, entry
        return _hit(best[1], "words", best[0]) if best else None

    def _since(self) -> datetime:
        return self._now() - self._validity


async def _taken_apart(question: Question) -> AskedQuestion | None:
    """In a thread: the first one loads libraries for a second."""
    return await asyncio.to_thread(AskedQuestion.of, question.text)


def similarity(one: frozenset[str], other: frozenset[str]) -> float:
    """Of two sets of stems, none of them empty, from 0 to 1: more words around the same do not
    count against it."""
    shared = len(one & other)
    return max(shared / len(one | other), shared / min(len(one), len(other)))


def _hit(entry: CacheEntry, match: Match, percent: int) -> Hit:
    value = _value(entry)
    sources = tuple(Source(**fields) for fields in value["sources"])
    return Hit(
        report=Report(answer=value["answer"], sources=sources, labels=entry.labels),
        match=match,
        percent=percent,
        asked=value["asked"],
        terms=value["terms"],
        fetched_at=entry.fetched_at,
    )


def _value(entry: CacheEntry) -> Any:
    return json.loads(entry.value)


def _source_fields(source: Source) -> dict[str, object]:
    return {name: getattr(source, name) for name in Source.__dataclass_fields__}


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode(errors="surrogatepass")).digest()


def _cosine_percent(query: Vectors, stored: bytes) -> int:
    vector = np.frombuffer(stored, dtype=np.float32)
    if vector.shape != query.shape:
        return 0
    return int(100 * float(np.dot(query, vector)) + FLOAT32_SLACK)
