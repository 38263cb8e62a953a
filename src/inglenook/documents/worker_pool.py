"""Killable worker processes with limits, for whatever parses bytes that strangers wrote.

Owns the pool and the parent's end of the pipe; `worker_process.py` is the other end. What is asked
and answered is between the caller and its worker's module.
"""

import asyncio
import json
import os
import signal
import struct
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_MAX_HEADER_BYTES = 16 * 1024 * 1024
_ANSWERS_A_WORKER = 300
"""Then it is replaced: parsers leak and their memory fragments."""


@dataclass(frozen=True, kw_only=True)
class WorkerLimits:
    cpu_s: int = 10
    """Of one request."""
    wall_s: float = 60.0
    """Longer than `cpu_s`, as the machine may be busy with a model."""
    memory_bytes: int = 512 * 1024 * 1024
    """Over what the loaded parsers take."""


class WorkerLost(Exception):
    """No answer: a limit, or a crash. `reason` is for people."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class WorkerPool:
    """At most `workers` processes that run `module`, each started at its first use.

    Belongs to one event loop; `close` ends the workers.
    """

    def __init__(
        self, module: str, *, workers: int = 2, limits: WorkerLimits | None = None
    ) -> None:
        self.workers = workers
        self._module = module
        self._limits = limits or WorkerLimits()
        self._slots = asyncio.Semaphore(workers)
        self._idle: list[_Worker] = []

    async def ask(self, request: Mapping[str, object], data: bytes) -> tuple[dict[str, Any], bytes]:
        """The answer's header and body. Cancellation ends the worker that was at it.

        Raises:
            WorkerLost: The request took more than the limits, or crashed its worker.
        """
        async with self._slots:
            worker = self._idle.pop() if self._idle else await self._start()
            try:
                return await worker.ask(request, data)
            finally:
                if worker.is_usable:
                    self._idle.append(worker)
                else:
                    await worker.end()

    async def _start(self) -> "_Worker":
        try:
            return await _Worker.start(self._module, self._limits)
        except OSError as error:
            raise WorkerLost(
                f"its reader could not be started ({error.strerror}); try again later"
            ) from error

    async def close(self) -> None:
        while self._idle:
            await self._idle.pop().end()


class _Worker:
    def __init__(self, process: Process, limits: WorkerLimits) -> None:
        self._process = process
        self._limits = limits
        self._requests = 0
        self._is_between_requests = True

    @classmethod
    async def start(cls, module: str, limits: WorkerLimits) -> "_Worker":
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            "-m",
            module,
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
            self._is_between_requests
            and self._process.returncode is None
            and self._requests < _ANSWERS_A_WORKER
        )

    async def ask(self, request: Mapping[str, object], data: bytes) -> tuple[dict[str, Any], bytes]:
        self._is_between_requests = False
        self._requests += 1
        try:
            async with asyncio.timeout(self._limits.wall_s):
                answer = await self._exchange(request, data)
        except TimeoutError:
            raise WorkerLost(f"reading took longer than {self._limits.wall_s:g} s") from None
        except (OSError, EOFError, ValueError):
            raise WorkerLost(await self._why_lost()) from None
        self._is_between_requests = True
        return answer

    async def end(self) -> None:
        if self._process.returncode is None:
            self._process.kill()
        await self._process.communicate()

    async def _exchange(
        self, request: Mapping[str, object], data: bytes
    ) -> tuple[dict[str, Any], bytes]:
        assert self._process.stdin
        assert self._process.stdout
        head = json.dumps({**request, "bytes": len(data)}).encode()
        self._process.stdin.write(struct.pack(">I", len(head)) + head)
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
