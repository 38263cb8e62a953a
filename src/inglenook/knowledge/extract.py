"""Documents to text and chunks, in killable worker processes; nothing is parsed in this one.

Owns the kinds and the errors that people read; `readers.py` knows the formats.
"""

from dataclasses import dataclass
from pathlib import PurePath

from inglenook.documents.worker_pool import WorkerLimits, WorkerLost, WorkerPool
from inglenook.errors import InvalidRequest
from inglenook.knowledge.chunking import Chunk

KINDS = {
    ".txt": "text",
    ".text": "text",
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".pdf": "pdf",
    ".docx": "docx",
    ".pptx": "pptx",
    ".xlsx": "xlsx",
    ".csv": "csv",
    ".tsv": "csv",
}
"""Suffix to the reader's name."""
KINDS_TEXT = "txt, md, html, pdf, docx, pptx, xlsx, csv"
MAX_FILE_BYTES = 64 * 1024 * 1024


class UnreadableDocument(InvalidRequest):
    """One document cannot be taken in; the message starts with its name and is for people."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name}: {reason}", field="file", status=422)
        self.reason = reason


@dataclass(frozen=True, kw_only=True)
class Extracted:
    text: str
    chunks: tuple[Chunk, ...]


def kind_of(name: str) -> str | None:
    return KINDS.get(PurePath(name).suffix.lower())


class Extractor:
    """A bounded pool of workers. Belongs to one event loop; `close` ends the workers."""

    def __init__(self, *, workers: int = 2, limits: WorkerLimits | None = None) -> None:
        self.workers = workers
        self._pool = WorkerPool(
            "inglenook.knowledge.extract_worker", workers=workers, limits=limits
        )

    async def extract(self, name: str, data: bytes) -> Extracted:
        """
        Raises:
            UnreadableDocument: Wrong kind, too large, broken, hostile or without text.
        """
        kind = kind_of(name)
        if kind is None:
            raise UnreadableDocument(name, f"not a kind that is read here ({KINDS_TEXT})")
        if len(data) > MAX_FILE_BYTES:
            raise UnreadableDocument(name, too_large(len(data)))
        if not data:
            raise UnreadableDocument(name, "the file is empty")
        try:
            header, body = await self._pool.ask({"kind": kind}, data)
        except WorkerLost as lost:
            raise UnreadableDocument(name, lost.reason) from lost
        if error := header.get("error"):
            raise UnreadableDocument(name, str(error))
        chunks = (Chunk(start=s, end=e, heading=h) for s, e, h in header["chunks"])
        return Extracted(text=body.decode(), chunks=tuple(chunks))

    async def close(self) -> None:
        await self._pool.close()


def too_large(size_bytes: int) -> str:
    return f"{size_bytes:,} bytes; the limit is {MAX_FILE_BYTES:,}. Split it or leave it out"
