"""Retriever: passages and texts of the documents in one run's scope.

A `Retriever` is an opened scope: it holds the knowledge bases that the run may read and nothing
else, so that its methods take no ids of knowledge bases and no caller can widen it.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Literal, Protocol

from inglenook.egress import Egress

Label = Literal["normal", "confidential"]


@dataclass(frozen=True, kw_only=True)
class KnowledgeBase:
    id: str
    name: str
    label: Label = "normal"
    files: int = 0
    chunks: int = 0
    embedded: int = 0
    """Chunks whose vector is there; the rest is found by full text alone."""


@dataclass(frozen=True, kw_only=True)
class Document:
    id: str
    name: str
    knowledge_id: str
    knowledge_name: str
    size_bytes: int | None = None


@dataclass(frozen=True, kw_only=True)
class Passage:
    text: str
    file_id: str
    file_name: str
    knowledge_id: str
    score: float
    """Higher is better; comparable within one answer only."""
    heading: str | None = None


class Retriever(Protocol):
    async def confidential(self) -> AbstractSet[str]:
        """The ids of the knowledge bases in scope that are confidential, or do not say."""
        ...

    async def documents(self) -> Sequence[Document]:
        """Every document in scope.

        Raises:
            ToolError: The knowledge service cannot be read; says why.
        """
        ...

    async def retrieve(self, query: str, k: int) -> Sequence[Passage]:
        """At most `k` passages, best first; none is an honest answer.

        Raises:
            ToolError: As `documents`.
        """
        ...

    async def read(self, document_id: str) -> str:
        """The document's whole extracted text.

        Raises:
            ToolError: Not in scope, or not readable.
        """
        ...


class Knowledge(Protocol):
    async def list(self, credential: str | None = None) -> Sequence[KnowledgeBase]:
        """The knowledge bases that this user may pick from.

        Raises:
            InvalidRequest: The service refused the credential.
            ProviderBusy: The service cannot be reached.
        """
        ...

    async def open(
        self,
        knowledge_ids: Sequence[str],
        credential: str | None = None,
        egress: Egress | None = None,
    ) -> Retriever:
        """The scope of one run. `credential` is the user's own key; it is kept in memory only.

        `egress` is told of each question to a service on another machine, before it leaves.

        Raises:
            NotFound: An id is unknown to this user.
            CredentialNeeded: The service wants a key and none was given.
        """
        ...
