"""MeasuredProvider: how long a model takes, learned from the calls that are made anyway.

By the clock on the wall, since that is what people wait for; servers tell their own times in ways
of their own or not at all.
"""

import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from itertools import takewhile

from inglenook.egress import Egress
from inglenook.messages import Message, ToolSchema
from inglenook.providers.base import (
    ModelAbilities,
    ModelProvider,
    ModelReply,
    ModelSpec,
    Part,
    StreamOptions,
)
from inglenook.providers.model_memory import ModelMemory

MIN_READ, MIN_WRITTEN = 32, 8
"""Tokens; shorter calls say more of the network than of the model."""
NEW_SHARE = 0.5
"""Of a prompt that must not have been in the one before: servers keep what they have just read,
and count it all the same."""
NOTE_EVERY_S = 0.2
"""Replies that come faster are no model's."""
TOKENS_PER_PIECE = 4
"""A reply that came in fewer pieces was not streamed as it was written."""


class MeasuredProvider:
    """Wraps a transport."""

    def __init__(
        self,
        inner: ModelProvider,
        spec: ModelSpec,
        memory: ModelMemory,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._inner = inner
        self._spec = spec
        self._memory = memory
        self._clock = clock
        self._last: Sequence[Message] = ()
        self._noted_at = -NOTE_EVERY_S

    def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSchema], options: StreamOptions
    ) -> AsyncGenerator[Part, None]:
        if self._clock() - self._noted_at < NOTE_EVERY_S:
            return self._inner.stream(messages, tools, options)
        return self._measured(messages, tools, options)

    async def _measured(
        self, messages: Sequence[Message], tools: Sequence[ToolSchema], options: StreamOptions
    ) -> AsyncGenerator[Part, None]:
        # only a conversation's first request can be new enough, and looking at all of it costs
        begins = bool(messages) and messages[-1].role == "user"
        is_new = begins and _new_share(messages, self._last) >= NEW_SHARE
        if begins:
            self._last = tuple(messages)
        began, first, pieces = self._clock(), 0.0, 0
        async with aclosing(self._inner.stream(messages, tools, options)) as parts:
            async for part in parts:
                if isinstance(part, ModelReply):
                    self._note(part, began if is_new else None, first, pieces)
                elif not pieces:
                    first = self._clock()
                pieces += 1
                yield part

    async def abilities(self, egress: Egress | None = None) -> ModelAbilities:
        return await self._inner.abilities(egress)

    def _note(self, reply: ModelReply, began: float | None, first: float, pieces: int) -> None:
        now = self._clock()
        if reply.usage is None or not pieces:
            return
        self._noted_at = now
        read, written = reply.usage.input_tokens, reply.usage.output_tokens
        read_s = write_s = None
        if began is not None and read >= MIN_READ:
            read_s = 1000 * (first - began) / read
        if MIN_WRITTEN <= written <= TOKENS_PER_PIECE * pieces:
            write_s = 1000 * (now - first) / (written - 1)
        if read_s is not None or write_s is not None:
            self._memory.measured(self._spec, read_s=read_s, write_s=write_s)


def _new_share(messages: Sequence[Message], before: Sequence[Message]) -> float:
    """How much of `messages` is not the beginning that they share with `before`."""
    pairs = zip(messages, before, strict=False)
    known = sum(_size(new) for new, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return 1 - known / (sum(map(_size, messages)) or 1)


def _size(message: Message) -> int:
    return len(message.text) + sum(len(call.key) for call in message.tool_calls) + 20
