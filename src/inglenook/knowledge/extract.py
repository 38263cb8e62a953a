"""Documents to text and chunks, in killable worker processes; nothing is parsed in this one.

Owns the pool, its limits and the errors that people read; `readers.py` knows the formats.
"""

import asyncio
import json
import os
import signal
import struct
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

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

_MAX_HEADER_BYTES = 16 * 1024 * 1024
_DOCUMENTS_A_WORKER = 300
"""Then it is replaced: parsers leak and their memory fragments."""


class UnreadableDocument(InvalidRequest):
    """One document cannot be taken in; the message starts with its name and is for people."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name}: {reason}", field="file", status=422)
        self.reason = reason


@dataclass(frozen=True, kw_only=True)
class Extracted:
    text: str
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True, kw_only=True)
class ExtractLimits:
    cpu_s: int = 10
    wall_s: float = 60.0
    """Longer than `cpu_s`, as the machine may be busy with a model."""
    memory_bytes: int = 512 * 1024 * 1024
    """Over what the loaded parsers take."""


def kind_of(name: str) -> str | None:
    return KINDS.get(PurePath(name).suffix.lower())


class Extractor:
    """A bounded pool of workers, each started at its first use.

    Belongs to one event loop; `close` ends the workers.
    """

    def __init__(self, *, workers: int = 2, limits: ExtractLimits | None = None) -> None:
        self.workers = workers
        self._limits = limits or ExtractLimits()
        self._slots = asyncio.Semaphore(workers)
        self._idle: list[_Worker] = []

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
        async with self._slots:
            worker = self._idle.pop() if self._idle else await self._start(name)
            try:
                extracted = await worker.extract(kind, data)
            except _WorkerLost as lost:
                raise UnreadableDocument(name, lost.reason) from lost
            except _Refused as refused:
                raise UnreadableDocument(name, refused.reason) from refused
            finally:
                if worker.is_usable:
                    self._idle.append(worker)
                else:
                    await worker.end()
            return extracted

    async def _start(self, name: str) -> "_Worker":
        try:
            return await _Worker.start(self._limits)
        except OSError as error:
            reason = f"its reader could not be started ({error.strerror}); try again later"
            raise UnreadableDocument(name, reason) from error

    async def close(self) -> None:
        while self._idle:
            await self._idle.pop().end()


def too_large(size_bytes: int) -> str:
    return f"{size_bytes:,} bytes; the limit is {MAX_FILE_BYTES:,}. Split it or leave it out"


class _Refused(Exception):
    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class _WorkerLost(_Refused): ...


class _Worker:
    def __init__(self, process: Process, limits: ExtractLimits) -> None:
        self._process = process
        self._limits = limits
        self._documents = 0
        self._is_between_documents = True

    @classmethod
    async def start(cls, limits: ExtractLimits) -> "_Worker":
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            "-m",
            "inglenook.knowledge.extract_worker",
            str(limits.cpu_s),
            str(limits.memory_bytes),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            # no secret of ours reaches a process that reads hostile files; Windows needs its own
            env=None if os.name == "nt" else {},
        )
        return cls(process, limits)

    @property
    def is_usable(self) -> bool:
        return (
            self._is_between_documents
            and self._process.returncode is None
            and self._documents < _DOCUMENTS_A_WORKER
        )

    async def extract(self, kind: str, data: bytes) -> Extracted:
        self._is_between_documents = False
        self._documents += 1
        try:
            async with asyncio.timeout(self._limits.wall_s):
                header, body = await self._exchange(kind, data)
        except TimeoutError:
            raise _WorkerLost(f"reading took longer than {self._limits.wall_s:g} s") from None
        except (OSError, EOFError, ValueError):
            raise _WorkerLost(await self._why_lost()) from None
        self._is_between_documents = True
        if error := header.get("error"):
            raise _Refused(str(error))
        text = body.decode()
        chunks = (Chunk(start=s, end=e, heading=h) for s, e, h in header["chunks"])
        return Extracted(text=text, chunks=tuple(chunks))

    async def end(self) -> None:
        if self._process.returncode is None:
            self._process.kill()
        await self._process.communicate()

    async def _exchange(self, kind: str, data: bytes) -> tuple[dict[str, Any], bytes]:
        assert self._process.stdin
        assert self._process.stdout
        request = json.dumps({"kind": kind, "bytes": len(data)}).encode()
        self._process.stdin.write(struct.pack(">I", len(request)) + request)
        self._process.stdin.write(data)
        await self._process.stdin.drain()
        (length,) = struct.unpack(">I", await self._process.stdout.readexactly(4))
        if length > _MAX_HEADER_BYTES:
            raise ValueError(length)
        header = json.loads(await self._process.stdout.readexactly(length))
        return header, await self._process.stdout.readexactly(int(header["bytes"]))

    async def _why_lost(self) -> str:
        """The worker closed its end: by a limit, or by a parser's crash."""
        try:
            async with asyncio.timeout(1.0):
                code = await self._process.wait()
        except TimeoutError:
            return "its reader gave no sensible answer"
        if code == -getattr(signal, "SIGXCPU", 0):
            return f"reading took more than {self._limits.cpu_s} s of processor time"
        return f"its reader crashed on it, damaged or too big for its memory (exit code {code})"
