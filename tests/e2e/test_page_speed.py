"""How much the page loads, and how long a very long run takes to open."""

import gzip
import time
from pathlib import Path

import pytest
from playwright.async_api import expect

from inglenook.api.page_folder import PAGE_FOLDER
from tests.e2e.browser import OpenedPage
from tests.e2e.page_mock import MockApi
from tests.e2e.page_scenes import long_scene

pytestmark = pytest.mark.asyncio(loop_scope="module")

FIRST_LOAD_LIMIT_BYTES = 200_000  # gzip, everything that the first screen needs
OPEN_LIMIT_S = 1.5


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


async def test_a_run_of_50000_events_opens_in_time(tab: OpenedPage, mock: MockApi) -> None:
    run = mock.add_run("long", long_scene(50_000), question="Read all parts")
    assert len(run.log) >= 49_990
    took_s: list[float] = []
    for _ in range(3):  # the best of three: neighbours on the machine are not the page's doing
        await tab.goto("/")
        link = tab.page.get_by_role("link", name="Read all parts")
        await link.wait_for()
        began = time.perf_counter()
        await link.click()
        await tab.ended()
        took_s.append(time.perf_counter() - began)
    assert min(took_s) < OPEN_LIMIT_S, took_s
    assert await tab.page.locator("*").count() < 5_000
    await tab.page.get_by_role("button", name="earlier steps").click()
    await expect(tab.page.locator(".steps > li")).to_have_count(200)
    await tab.page.get_by_label("Filter events").fill("part-7777.md")
    await expect(tab.page.locator(".event-row")).to_have_count(3)


async def test_an_address_deep_inside_a_long_run_is_reached(tab: OpenedPage, mock: MockApi) -> None:
    mock.add_run("long", long_scene(5_000), question="Read all parts")
    await tab.goto("/runs/long#step-17")
    await expect(tab.page.locator("#step-17 .row-body")).to_contain_text("part-17.md")
