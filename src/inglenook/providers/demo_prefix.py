"""PrefixKeeper: what every conversation with the demo model begins with is read once a day.

The model reads 35 tokens a second, and its instructions, tools and worked examples are 1,300: 40
seconds before each first answer. The server's memory of them is kept on the disk and taken up
again in milliseconds, by later processes too.
"""

import hashlib
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from itertools import takewhile
from pathlib import Path

import aiohttp

from inglenook.egress import Egress
from inglenook.messages import Message, ToolSchema
from inglenook.providers.base import (
    ModelAbilities,
    ModelProvider,
    ModelSpec,
    Part,
    StreamOptions,
)

MAX_FILES = 3
"""Of 40 MB each."""
MAX_AGE_S = 24 * 3600
"""The date is part of the instructions; and their text, which may name documents, must not stay."""
FILE_PATTERN = "*.prefix"


class PrefixKeeper:
    """The same provider; the first call of a conversation is ready sooner."""

    def __init__(
        self,
        inner: ModelProvider,
        spec: ModelSpec,
        session: aiohttp.ClientSession,
        folder: Path,
        ready: Callable[[], Awaitable[int]],
    ) -> None:
        """
        Args:
            folder: The one that the server of `spec` was told to keep its memory in.
            ready: Sees that the server runs and tells how often it was started.
        """
        self._inner = inner
        self._examples = spec.examples
        self._slot_url = spec.base_url.removesuffix("/v1") + "/slots/0"
        self._headers = {"Authorization": f"Bearer {spec.api_key}"}
        self._session = session
        self._folder = folder
        self._ready = ready
        self._known: set[tuple[int, str]] = set()

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSchema], options: StreamOptions
    ) -> AsyncGenerator[Part, None]:
        await self._prepare(await self._ready(), messages, tools)
        async with aclosing(self._inner.stream(messages, tools, options)) as parts:
            async for part in parts:
                yield part

    async def abilities(self, egress: Egress | None = None) -> ModelAbilities:
        await self._ready()
        return await self._inner.abilities(egress)

    async def _prepare(
        self, start: int, messages: Sequence[Message], tools: Sequence[ToolSchema]
    ) -> None:
        prefix = list(takewhile(self._is_fixed, messages))
        digest = hashlib.sha256(repr((prefix, tools)).encode()).hexdigest()
        if (start, digest) in self._known:
            return
        if not self._known:
            # Not a stream, so it leaves a sound connection, and tells the transport early that
            # this server closes those of its streams.
            await self._inner.abilities()
        name = f"{digest[:32]}.prefix"
        if not ((self._folder / name).is_file() and await self._slot("restore", name)):
            await self._read(prefix, tools)
            await self._slot("save", name)
            prune(self._folder)
        self._known.add((start, digest))

    def _is_fixed(self, message: Message) -> bool:
        return message.role == "system" or message in self._examples

    async def _read(self, prefix: Sequence[Message], tools: Sequence[ToolSchema]) -> None:
        """Let the model read the prefix, by the shortest conversation that begins with it."""
        shortest = [*prefix, Message(role="user", text="Hello")]
        options = StreamOptions(max_output_tokens=1)
        async with aclosing(self._inner.stream(shortest, tools, options)) as parts:
            async for _ in parts:
                pass

    async def _slot(self, action: str, name: str) -> bool:
        """Source: https://github.com/ggml-org/llama.cpp/tree/master/tools/server#post-slotsid_slotactionsave"""
        for _ in range(2):  # the first may meet a connection that the server has closed
            try:
                async with self._session.post(
                    self._slot_url,
                    params={"action": action},
                    json={"filename": name},
                    headers=self._headers,
                ) as response:
                    return response.status == 200
            except aiohttp.ClientError:
                continue
        return False  # only slower: the call itself will say what is wrong


def prune(folder: Path) -> None:
    """Delete what is older than a day, and all but the newest few."""
    files = sorted(folder.glob(FILE_PATTERN), key=lambda path: path.stat().st_mtime, reverse=True)
    oldest = time.time() - MAX_AGE_S
    for number, path in enumerate(files):
        if number >= MAX_FILES or path.stat().st_mtime < oldest:
            path.unlink(missing_ok=True)
