"""How much the page loads, and how much work a very long run is; `bench.page` takes the time."""

import gzip
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect

from inglenook.api.page_folder import PAGE_FOLDER
from tests.e2e.browser import OpenedPage
from tests.e2e.page_mock import MockApi
from tests.e2e.page_scenes import long_scene

pytestmark = pytest.mark.asyncio(loop_scope="module")

FIRST_LOAD_LIMIT_BYTES = 200_000  # gzip, everything that the first screen needs
CALLS_AN_EVENT = 20
"""Calls of the page's functions while a run opens, at most; 15 when this was written. Unlike the
time that it takes, their number is the same on every machine."""


async def test_the_first_load_is_small_and_has_no_inline_code(tab: OpenedPage) -> None:
    await tab.goto("/")
    await tab.page.get_by_role("button", name="Model:").wait_for()
    loaded = {url.removeprefix(tab.base_url) for url in tab.requested if "/api/" not in url}
    files = [_file(path) for path in loaded]
    total = sum(len(gzip.compress(file.read_bytes(), 9)) for file in files)
    assert len(files) >= 4
    assert total <= FIRST_LOAD_LIMIT_BYTES
    html = (PAGE_FOLDER / "index.html").read_text()
    assert "<style" not in html
    assert all("src=" in part for part in html.split("<script")[1:])


def _file(path: str) -> Path:
    return PAGE_FOLDER / ("index.html" if path == "/" else path.removeprefix("/"))


async def test_a_run_of_50000_events_opens_with_one_look_at_each(
    tab: OpenedPage, mock: MockApi
) -> None:
    run = mock.add_run("long", long_scene(50_000), question="Read all parts")
    assert len(run.log) >= 49_990
    await tab.goto("/")
    link = tab.page.get_by_role("link", name="Read all parts")
    await link.wait_for()
    async with counted_calls(tab.page) as calls:
        await link.click()
        await tab.ended()
    assert sum(calls) <= CALLS_AN_EVENT * len(run.log)
    assert len(mock.requests_to("/api/runs/long/events", "GET")) == 1
    assert await tab.page.locator("*").count() < 5_000
    await tab.page.get_by_role("button", name="earlier steps").click()
    await expect(tab.page.locator(".steps > li")).to_have_count(200)
    await tab.page.get_by_label("Filter events").fill("part-7777.md")
    await expect(tab.page.locator(".event-row")).to_have_count(3)


@asynccontextmanager
async def counted_calls(page: Page) -> AsyncGenerator[list[int]]:
    """After the block, how often each of the page's own functions was called in it.

    Source: https://chromedevtools.github.io/devtools-protocol/tot/Profiler/
    """
    calls: list[int] = []
    devtools: Any = await page.context.new_cdp_session(page)
    await devtools.send("Profiler.enable")
    await devtools.send("Profiler.startPreciseCoverage", {"callCount": True})
    yield calls
    taken = await devtools.send("Profiler.takePreciseCoverage")
    await devtools.detach()
    for script in taken["result"]:
        if "/assets/" in script["url"]:
            calls += [function["ranges"][0]["count"] for function in script["functions"]]


async def test_an_address_deep_inside_a_long_run_is_reached(tab: OpenedPage, mock: MockApi) -> None:
    mock.add_run("long", long_scene(5_000), question="Read all parts")
    await tab.goto("/runs/long#step-17")
    await expect(tab.page.locator("#step-17 .row-body")).to_contain_text("part-17.md")
