"""When a page is done: loaded, and then quiet for a moment."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager

from inglenook.web.tab import LOAD_TIMEOUT_S, QUIET_S, SETTLE_S


class Settling:
    def __init__(self) -> None:
        self._loaded = asyncio.Event()
        self._under_way = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._began = asyncio.Event()

    def loaded(self) -> None:
        self._loaded.set()

    @contextmanager
    def request(self) -> Generator[None]:
        """One request of the page, for as long as it is under way."""
        self._under_way += 1
        self._idle.clear()
        self._began.set()
        try:
            yield
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._idle.set()

    async def settled(self) -> None:
        """Returns in any case after `LOAD_TIMEOUT_S` and `SETTLE_S`: pages may never be quiet."""
        try:
            async with asyncio.timeout(LOAD_TIMEOUT_S):
                await self._loaded.wait()
        except TimeoutError:
            return
        try:
            async with asyncio.timeout(SETTLE_S):
                while await self._asked_again():
                    pass
        except TimeoutError:
            return

    async def _asked_again(self) -> bool:
        """Whether a request began within `QUIET_S` of the last one's end."""
        await self._idle.wait()
        self._began.clear()
        try:
            async with asyncio.timeout(QUIET_S):
                await self._began.wait()
        except TimeoutError:
            return False
        return True
