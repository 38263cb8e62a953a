"""RetryingProvider: ask again where a model call failed before it had said anything.

A retry repeats one model call and nothing else: tools run after a reply is complete, outside of
any provider, so none can run twice through here.
"""

import asyncio
import logging
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing

from inglenook.egress import Egress
from inglenook.errors import ProviderBusy, SystemRefused
from inglenook.events import ReasoningDelta
from inglenook.messages import Message, ToolSchema
from inglenook.providers.base import ModelAbilities, ModelProvider, Part, StreamOptions
from inglenook.providers.system_place import SystemPlace, placed

logger = logging.getLogger(__name__)

RETRIES = 2
FIRST_WAIT_S = 0.5
"""Doubled for each further try, and stretched by up to half at random, so that runs which failed
together do not come back together. By then a lost connection has left aiohttp's pool, and the
retry has a fresh one."""


class RetryingProvider:
    """The same provider, but `ProviderBusy` is raised only when further tries failed, too.

    Once text of a reply was seen, a failure is passed on: the reader has it already. Thinking is
    no part of an answer, so that it may begin again.

    A template that does not take a system message where one stands gets it where it does.
    """

    def __init__(
        self,
        inner: ModelProvider,
        *,
        retries: int = RETRIES,
        first_wait_s: float = FIRST_WAIT_S,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._inner = inner
        self._retries = retries
        self._first_wait_s = first_wait_s
        self._sleep = sleep
        self._place = SystemPlace.ANYWHERE
        """As far as this model's refusals have told."""

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSchema], options: StreamOptions
    ) -> AsyncGenerator[Part, None]:
        tries = 0
        while True:
            has_begun = False
            sent = placed(messages, self._place)
            try:
                async with aclosing(self._inner.stream(sent, tools, options)) as parts:
                    async for part in parts:
                        has_begun = has_begun or not isinstance(part, ReasoningDelta)
                        yield part
                return
            except SystemRefused:
                if has_begun or self._place is SystemPlace.IN_QUESTION:
                    raise
                self._place = SystemPlace(self._place + 1)
                continue
            except ProviderBusy as error:
                if has_begun or tries == self._retries:
                    raise
                logger.warning("model call failed, asking again: %s", error)
            await self._wait(tries)
            tries += 1

    async def abilities(self, egress: Egress | None = None) -> ModelAbilities:
        return await self._inner.abilities(egress)

    async def _wait(self, tries: int) -> None:
        stretch = 1 + random.random() / 2  # noqa: S311  # spreads load, guards nothing
        await self._sleep(self._first_wait_s * 2**tries * stretch)
