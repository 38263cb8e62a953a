"""One HTTP session per test, closed with it."""

from collections.abc import AsyncGenerator

import aiohttp
import pytest

from inglenook.providers.transport import open_session


@pytest.fixture
async def session() -> AsyncGenerator[aiohttp.ClientSession, None]:
    async with open_session() as opened:
        yield opened
