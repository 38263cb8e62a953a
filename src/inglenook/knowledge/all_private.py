"""AllPrivate: a knowledge service whose knowledge bases all count as confidential."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from inglenook.egress import Egress
from inglenook.knowledge.base import Document, Knowledge, KnowledgeBase, Passage, Retriever


class AllPrivate:
    """For `[knowledge] private = "any"`; what the bases say of themselves stays as it is."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge

    async def list(self, credential: str | None = None) -> Sequence[KnowledgeBase]:
        return await self._knowledge.list(credential)

    async def open(
        self,
        knowledge_ids: Sequence[str],
        credential: str | None = None,
        egress: Egress | None = None,
    ) -> Retriever:
        return _PrivateScope(
            await self._knowledge.open(knowledge_ids, credential, egress), knowledge_ids
        )


class _PrivateScope:
    def __init__(self, retriever: Retriever, knowledge_ids: Sequence[str]) -> None:
        self._retriever = retriever
        self._knowledge_ids = frozenset(knowledge_ids)

    async def confidential(self) -> AbstractSet[str]:
        return self._knowledge_ids

    async def documents(self) -> Sequence[Document]:
        return await self._retriever.documents()

    async def retrieve(self, query: str, k: int) -> Sequence[Passage]:
        return await self._retriever.retrieve(query, k)

    async def read(self, document_id: str) -> str:
        return await self._retriever.read(document_id)
