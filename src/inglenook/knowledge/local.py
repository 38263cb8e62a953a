"""The knowledge bases of this home, each in its own folder, found by text and by meaning.

A run's retriever holds the opened indexes of its own knowledge bases and nothing else: what is
out of scope is not filtered out, its files are never opened.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from pathlib import Path

from inglenook.egress import Egress
from inglenook.errors import Conflict, NotFound, ProviderError, StoreError
from inglenook.knowledge.base import Document, KnowledgeBase, Label, Passage
from inglenook.knowledge.embedder import Embedder
from inglenook.knowledge.extract import Extractor
from inglenook.knowledge.index import Index, OtherDimensions
from inglenook.knowledge.ingest import FileOutcome, Report, ingest, ingest_bytes
from inglenook.knowledge.knowledge_folder import (
    MAX_NAME_CHARS,
    KnowledgeFolder,
    checked_file_name,
    checked_name,
    name_key,
)
from inglenook.knowledge.local_retriever import LocalRetriever
from inglenook.knowledge.threads import Threads

logger = logging.getLogger(__name__)

EMBED_LOOK_S = 20.0
"""How often is looked for work that nobody announced: files that another process added, and an
embedder that is back."""
_THREADS = 4

EmbedReport = Callable[[KnowledgeBase], None]
"""Called after each batch with the knowledge base as it now is."""


class LocalKnowledge:
    """Belongs to one event loop. `close` ends its threads and worker processes."""

    def __init__(
        self, home: Path, *, embedder: Embedder | None, extractor: Extractor | None = None
    ) -> None:
        """`embedder` None: full text alone. Both are closed by `close`."""
        self._folder = KnowledgeFolder(home / "knowledge")
        self._embedder = embedder
        self._extractor = extractor or Extractor()
        self._threads = Threads(_THREADS)
        self._indexes: dict[str, Index] = {}
        self._opening = asyncio.Lock()
        self._embedding = asyncio.Lock()
        self._has_work = asyncio.Event()

    async def close(self) -> None:
        await self._extractor.close()
        if self._embedder is not None:
            await self._embedder.close()
        for index in self._indexes.values():
            await self._threads.run(index.close)
        self._indexes.clear()
        self._threads.close()

    # reading

    async def list(self, credential: str | None = None) -> Sequence[KnowledgeBase]:
        found: list[KnowledgeBase] = []
        for knowledge_id in await self._threads.run(self._folder.ids):
            try:
                index = await self._index(knowledge_id)
                found.append(await self._threads.run(index.describe))
            except (NotFound, StoreError) as error:
                logger.warning("a knowledge base is left out of the list: %s", error)
        return sorted(found, key=lambda base: (base.name.casefold(), base.id))

    async def open(
        self,
        knowledge_ids: Sequence[str],
        credential: str | None = None,
        egress: Egress | None = None,
    ) -> LocalRetriever:
        indexes = [await self._index(knowledge_id) for knowledge_id in dict.fromkeys(knowledge_ids)]
        return LocalRetriever(indexes, self._embedder, self._threads, egress)

    async def resolve(self, id_or_name: str) -> KnowledgeBase:
        """
        Raises:
            NotFound: Neither an id nor a name; lists the names there are.
        """
        bases = await self.list()
        wanted = name_key(id_or_name)
        for base in bases:
            if base.id == id_or_name:
                return base
        for base in bases:
            if name_key(base.name) == wanted:
                return base
        names = ", ".join(repr(base.name) for base in bases[:20]) or "none yet"
        raise NotFound(
            f"there is no knowledge base {id_or_name[:MAX_NAME_CHARS]!r}; there are: {names}",
            field="knowledge",
            hint="`inglenook kb add NAME PATH` makes one.",
        )

    async def files(self, knowledge_id: str) -> Sequence[Document]:
        index = await self._index(knowledge_id)
        return await self._threads.run(index.documents)

    async def search(self, knowledge_id: str, query: str, k: int) -> Sequence[Passage]:
        return await (await self.open([knowledge_id])).retrieve(query, k)

    # writing

    async def create(self, name: str, label: Label = "normal") -> KnowledgeBase:
        """
        Raises:
            InvalidRequest: The name is empty, too long or holds control characters.
            Conflict: There is one of this name.
        """
        name = checked_name(name)
        if any(name_key(base.name) == name_key(name) for base in await self.list()):
            raise Conflict(f"there is a knowledge base {name!r} already", field="name")
        knowledge_id = await self._threads.run(self._folder.make, name, label)
        index = await self._index(knowledge_id)
        return await self._threads.run(index.describe)

    async def set_label(self, knowledge_id: str, label: Label) -> None:
        index = await self._index(knowledge_id)
        await self._threads.run(index.set_label, label)

    async def add_paths(self, knowledge_id: str, paths: Sequence[Path], report: Report) -> None:
        """Take files and folders in; searchable by text at once.

        Raises:
            InvalidRequest: A path does not exist, or nothing in it is of a kind that is read.
            StoreError: The index cannot be written; what was done until then stays.
        """
        index = await self._index(knowledge_id)
        try:
            await ingest(
                index,
                paths,
                extractor=self._extractor,
                threads=self._threads,
                report=report,
            )
        finally:
            self._has_work.set()

    async def add_bytes(self, knowledge_id: str, filename: str, data: bytes) -> FileOutcome:
        """One uploaded file; it replaces an earlier upload of the same name.

        Raises:
            InvalidRequest: The name is none; `UnreadableDocument` (422) if it was not taken in.
            StoreError: As `add_paths`.
        """
        index = await self._index(knowledge_id)
        name = checked_file_name(filename)
        try:
            return await ingest_bytes(
                index, name, data, extractor=self._extractor, threads=self._threads
            )
        finally:
            self._has_work.set()

    async def remove(self, knowledge_id: str) -> None:
        """Delete a knowledge base and all that was kept of its files.

        Raises:
            NotFound: No such knowledge base.
        """
        async with self._opening:
            await self._forget(knowledge_id)
            await self._threads.run(self._folder.discard, knowledge_id)

    async def _forget(self, knowledge_id: str) -> None:
        if index := self._indexes.pop(knowledge_id, None):
            await self._threads.run(index.close)

    # embedding

    async def embed_pending(
        self, stop: asyncio.Event | None = None, report: EmbedReport | None = None
    ) -> int:
        """Embed what has no vector yet, one caller at a time; returns how many chunks were.

        May be stopped or killed anywhere: each batch is complete or not there.

        Raises:
            ProviderError: The embedder failed; full text goes on working.
        """
        if self._embedder is None:
            return 0
        embedded = 0
        async with self._embedding:
            for knowledge_id in await self._threads.run(self._folder.ids):
                try:
                    index = await self._index(knowledge_id)
                    await self._threads.run(index.use_embedder, self._embedder.id)
                    embedded += await self._embed_index(index, self._embedder, stop, report)
                except (NotFound, StoreError) as error:
                    logger.warning("a knowledge base is not embedded: %s", error)
        return embedded

    async def embed_behind(self) -> None:
        """Embed whatever is added, until cancelled. For the holder of the home's lock alone."""
        await self._threads.run(self._folder.tidy)
        while True:
            self._has_work.clear()
            try:
                await self.embed_pending()
            except ProviderError as error:
                logger.warning("embedding waits %g s: %s", EMBED_LOOK_S, error)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(EMBED_LOOK_S):
                    await self._has_work.wait()

    async def _embed_index(
        self,
        index: Index,
        embedder: Embedder,
        stop: asyncio.Event | None,
        report: EmbedReport | None,
    ) -> int:
        embedded = 0
        while not (stop and stop.is_set()):
            chunks = await self._threads.run(index.pending, embedder.batch)
            if not chunks:
                break
            vectors = await embedder.embed_passages([chunk.text for chunk in chunks])
            try:
                await self._threads.run(index.store_vectors, [c.id for c in chunks], vectors)
            except OtherDimensions:
                # the model behind the same name is another one now: start over
                await self._threads.run(index.drop_vectors, embedder.id)
                continue
            embedded += len(chunks)
            if report:
                report(await self._threads.run(index.describe))
        return embedded

    async def _index(self, knowledge_id: str) -> Index:
        """
        Raises:
            NotFound: No such knowledge base.
        """
        async with self._opening:
            if not await self._threads.run(self._folder.holds, knowledge_id):
                await self._forget(knowledge_id)  # another process removed it
            if knowledge_id not in self._indexes:
                self._indexes[knowledge_id] = await self._threads.run(
                    self._folder.open, knowledge_id
                )
            return self._indexes[knowledge_id]
