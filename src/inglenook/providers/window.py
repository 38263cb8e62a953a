"""WindowGuard: a prompt that the server did not read whole never leads to an accepted reply.

Ollama and some OpenAI-compatible servers answer 200 to a prompt that is too long and drop its
front: the instructions, the tools, the task. Their token counts give it away.
Source: https://github.com/ollama/ollama/issues/3839
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace

from inglenook.egress import Egress
from inglenook.errors import ContextTooLong
from inglenook.messages import Message, ToolSchema, Usage
from inglenook.providers.base import (
    ModelAbilities,
    ModelProvider,
    ModelReply,
    Part,
    StreamOptions,
)

MIN_REPORT = 512
"""Smaller counts prove nothing: many servers and proxies report made-up small ones."""
SHORT_OF_ESTIMATE = 0.6
"""A count so far under the estimate is that of a cut prompt; estimates are not so wrong."""
MIN_WINDOW = 2_048
"""The smallest window that servers are started with."""


class WindowGuard:
    """Wraps a transport; what does not fit comes back as a reply that is `rejected`."""

    def __init__(self, inner: ModelProvider, *, counts_whole_prompt: bool) -> None:
        """`counts_whole_prompt`: see `is_cut`."""
        self._inner = inner
        self._counts_whole_prompt = counts_whole_prompt

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSchema], options: StreamOptions
    ) -> AsyncGenerator[Part, None]:
        try:
            async with aclosing(self._inner.stream(messages, tools, options)) as parts:
                async for part in parts:
                    yield self._judged(part, options) if isinstance(part, ModelReply) else part
        except ContextTooLong as error:
            yield ModelReply(
                message=Message(role="assistant"),
                rejected="context_too_long",
                window=error.window,
                repairs=(str(error),),
            )

    async def abilities(self, egress: Egress | None = None) -> ModelAbilities:
        return await self._inner.abilities(egress)

    def _judged(self, reply: ModelReply, options: StreamOptions) -> ModelReply:
        if is_cut(
            reply.usage,
            estimated=options.estimated_tokens,
            window=options.window,
            counts_whole_prompt=self._counts_whole_prompt,
        ):
            return replace(reply, rejected="context_truncated")
        return reply


def is_cut(
    usage: Usage | None, *, estimated: int | None, window: int | None, counts_whole_prompt: bool
) -> bool:
    """Whether the server dropped a part of a prompt of about `estimated` tokens.

    Args:
        counts_whole_prompt: False for servers that may leave out what their cache held (Ollama):
            their low counts mean nothing but for the one that a cut leaves, half the window + 2.
    """
    if usage is None or not estimated:
        return False
    read = usage.input_tokens
    if _is_half_a_window(read, window) and estimated > 1.15 * read:
        return True
    return counts_whole_prompt and read >= MIN_REPORT and read < SHORT_OF_ESTIMATE * estimated


def _is_half_a_window(read: int, window: int | None) -> bool:
    """Ollama keeps half of the window and two tokens more, of the one it really serves."""
    doubled = 2 * (read - 2)
    is_usual = doubled >= MIN_WINDOW and doubled & (doubled - 1) == 0
    return is_usual or (window is not None and doubled == window)
