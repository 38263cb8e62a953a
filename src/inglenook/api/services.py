"""Services: everything the HTTP faces are handed; they build nothing and read no settings."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, Protocol, cast

from fastapi import Depends, Request

from inglenook.api.page_folder import PAGE_FOLDER
from inglenook.knowledge.base import Knowledge, KnowledgeBase, Label
from inglenook.providers.catalogue import ModelCatalogue
from inglenook.runs.doctor import Check
from inglenook.runs.service import RunService
from inglenook.web.search import WebState


class IngestedFile(Protocol):
    """What became of one file that was handed to a knowledge base."""

    @property
    def name(self) -> str: ...

    @property
    def status(self) -> str:
        """`added`, `unchanged`, `removed` or `failed`."""
        ...

    @property
    def reason(self) -> str | None:
        """Of `failed`: why, in one sentence."""
        ...


class KnowledgeLibrary(Protocol):
    """Keeps the local knowledge bases. Reading them goes through `Knowledge`, as runs do."""

    async def create(self, name: str, label: Label = "normal") -> KnowledgeBase:
        """
        Raises:
            Conflict: There is one of this name.
            InvalidRequest: The name cannot be used; says why.
        """
        ...

    async def add_bytes(self, knowledge_id: str, filename: str, data: bytes) -> IngestedFile:
        """
        Raises:
            NotFound: No such knowledge base.
            InvalidRequest: The file cannot be taken in; says why.
        """
        ...

    async def remove(self, knowledge_id: str) -> None:
        """Delete a knowledge base with all it holds.

        Raises:
            NotFound: No such knowledge base.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class Services:
    runs: RunService
    models: ModelCatalogue
    knowledge: Knowledge
    library: KnowledgeLibrary | None
    """None where knowledge lives in Open WebUI: it is kept there."""
    knowledge_provider: Literal["local", "open-webui"]
    doctor: Callable[[], Awaitable[Sequence[Check]]]
    web: Callable[[], WebState]
    replay_command: tuple[str, ...]
    """A program that replays the export on its standard input (see `replay_child.py`)."""
    check_writable: Callable[[], Awaitable[None]]
    """Raises a StoreError where the home takes no more."""
    version: str
    token: str = field(default="", repr=False)
    """Empty: only callers on loopback are served."""
    show_reasoning: bool = False
    allowed_hosts: frozenset[str] = frozenset()
    """Host names, without ports, by which the server may be called besides the loopback ones; `*`
    is any."""
    page_folder: Path = PAGE_FOLDER
    """The built page; where nothing lies there, the page's addresses say how to get it."""
    example_question: str | None = None
    example_knowledge: tuple[str, ...] = ()
    """Ids of the knowledge bases that the example question is about."""
    is_stopping: Callable[[], bool] = lambda: False
    """True once the server was told to stop: open streams then end within a second, and their
    readers resume them at its next start."""
    heartbeat_s: float = 15.0
    """Silence on a stream after which a heartbeat is sent; proxies drop what is silent for 60 s."""


def services_of(request: Request) -> Services:
    return cast(Services, request.app.state.services)


Served = Annotated[Services, Depends(services_of)]
"""The services, as a handler's parameter."""
