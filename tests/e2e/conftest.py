"""One browser a test module; a scripted server and a fresh page a test."""

from collections.abc import AsyncGenerator, Generator

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from tests.e2e.browser import OpenedPage, built_page, launched, opened
from tests.e2e.page_mock import MockApi, serve

DESKTOP = {"width": 1280, "height": 800}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncGenerator[Browser]:
    async with launched() as running:
        yield running


@pytest.fixture
def mock() -> MockApi:
    return MockApi(built_page())


@pytest.fixture
def base_url(mock: MockApi) -> Generator[str]:
    with serve(mock) as url:
        yield url


@pytest_asyncio.fixture(loop_scope="module")
async def tab(browser: Browser, base_url: str) -> AsyncGenerator[OpenedPage]:
    """A page at desktop size; the test goes where it wants."""
    async with opened(browser, base_url, viewport=DESKTOP) as page:
        yield page
        assert page.foreign_requests() == []
        assert page.complaints == []
