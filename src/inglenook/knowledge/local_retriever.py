"""The scope of one run over local knowledge bases: opened indexes, and nothing else to reach."""

import logging
from collections import defaultdict
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from inglenook.egress import Egress
from inglenook.errors import ProviderError, StoreError, ToolError
from inglenook.knowledge.base import Document, Passage
from inglenook.knowledge.embedder import Embedder, Vectors
from inglenook.knowledge.index import Index
from inglenook.knowledge.ranking import Candidate, ranked
from inglenook.knowledge.threads import Threads

logger = logging.getLogger(__name__)

MAX_QUERY_CHARS = 4000


class LocalRetriever:
    def __init__(
        self,
        indexes: Sequence[Index],
        embedder: Embedder | None,
        threads: Threads,
        egress: Egress | None,
    ) -> None:
        """`egress` is told of questions that an embedder on another machine is asked."""
        self._indexes = {index.id: index for index in indexes}
        self._embedder = embedder
        self._threads = threads
        self._egress = egress

    async def confidential(self) -> AbstractSet[str]:
        return await self._threads.run(self._confidential)

    def _confidential(self) -> AbstractSet[str]:
        return {index.id for index in self._indexes.values() if not _is_normal(index)}

    async def documents(self) -> Sequence[Document]:
        found: list[Document] = []
        try:
            for index in self._indexes.values():
                await self._threads.run(index.check_there)
                found += await self._threads.run(index.documents)
        except StoreError as error:
            raise ToolError(str(error)) from error
        return found

    async def retrieve(self, query: str, k: int) -> Sequence[Passage]:
        query = query[:MAX_QUERY_CHARS].strip()
        if not query or not self._indexes:
            return []
        vector = await self._embedded(query)
        try:
            return await self._threads.run(self._retrieve, query, vector, k)
        except StoreError as error:
            raise ToolError(str(error)) from error

    async def read(self, document_id: str) -> str:
        try:
            for index in self._indexes.values():
                await self._threads.run(index.check_there)
                text = await self._threads.run(index.read, document_id)
                if text is not None:
                    return text
        except StoreError as error:
            raise ToolError(str(error)) from error
        raise ToolError(f"there is no document {document_id[:100]!r} in this run's knowledge bases")

    async def _embedded(self, query: str) -> Vectors | None:
        if self._embedder is None:
            return None
        try:
            return await self._embedder.embed_query(query, self._egress)
        except ProviderError as error:
            logger.warning("searching by full text alone: %s", error)
            return None

    def _retrieve(self, query: str, vector: Vectors | None, k: int) -> list[Passage]:
        embedder_id = self._embedder.id if self._embedder else None
        candidates: list[Candidate] = []
        for index in self._indexes.values():
            index.check_there()
            candidates += index.search.candidates(query, vector, embedder_id)
        scores: dict[str, dict[int, float]] = defaultdict(dict)
        for candidate, score in ranked(candidates, k):
            scores[candidate.knowledge_id][candidate.chunk_id] = score
        passages = [p for base in scores for p in self._indexes[base].search.passages(scores[base])]
        return sorted(passages, key=lambda passage: -passage.score)


def _is_normal(index: Index) -> bool:
    """False too where the label cannot be read."""
    try:
        return index.label() == "normal"
    except StoreError:
        return False
