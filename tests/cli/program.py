"""Run the `inglenook` program as a user does: a process of its own, a home of its own."""

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NOBODY = "http://127.0.0.1:9"
"""Discard: nothing listens there."""


@dataclass(frozen=True, kw_only=True)
class Done:
    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True, kw_only=True)
class Program:
    home: Path
    ollama_url: str = NOBODY
    cwd: Path | None = None
    env: tuple[tuple[str, str], ...] = ()

    async def run(self, *arguments: str, stdin: bytes | None = None) -> Done:
        process = await self.start(*arguments)
        async with asyncio.timeout(120):
            out, err = await process.communicate(stdin)
        assert process.returncode is not None
        return Done(code=process.returncode, out=out.decode(), err=err.decode())

    async def start(self, *arguments: str) -> Process:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "inglenook.cli.main",
            *arguments,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            cwd=self.cwd or self.home.parent,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.home.parent),
                "INGLENOOK_HOME": str(self.home),
                "INGLENOOK_CACHE": str(self.home.parent / "cache"),
                "INGLENOOK_KNOWLEDGE__EMBEDDER": "none",
                "OLLAMA_HOST": self.ollama_url,
                **dict(self.env),
            },
        )


async def line_with(process: Process, text: str) -> str:
    """The first line on the process's stderr that holds `text`."""
    assert process.stderr is not None
    async with asyncio.timeout(60):
        while line := (await process.stderr.readline()).decode():
            if text in line:
                return line.strip()
    raise AssertionError(f"the program ended without saying {text!r}")


async def stop(process: Process) -> None:
    process.send_signal(signal.SIGINT)
    async with asyncio.timeout(60):
        await process.communicate()
