#!/usr/bin/env python3
"""Takes the screenshots in docs/images/ from the built page over scripted runs.

Run it from the checkout's root after scripts/build_page.py: `python scripts/page_screenshots.py`.
"""

import argparse
import asyncio
import sys
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from playwright.async_api import Browser, expect  # noqa: E402

from inglenook.api.page_folder import PAGE_FOLDER  # noqa: E402
from tests.e2e.browser import OpenedPage, launched, opened  # noqa: E402
from tests.e2e.page_mock import MockApi, serve  # noqa: E402
from tests.e2e.page_scenes import plain_scene, policy_scene  # noqa: E402
from tests.e2e.page_web_scenes import asking_scene, research_scene  # noqa: E402

SIZES = {"desktop": (1280, 720), "tablet": (768, 1024), "phone": (360, 740)}


SHOWN = (("desktop", "light"), ("desktop", "dark"), ("phone", "light"))  # in the documentation
QUESTIONS = ("What is 17 × 23?", "Summarise the travel rules", "Who is on call this week?")
LAW = "How many days of leave does the law give, and what do contracts give?"
POLICY = "What does our policy say on paid leave, and how does it compare?"


def filled() -> MockApi:
    """A server with a few days of work behind it."""
    mock = MockApi(PAGE_FOLDER)
    yesterday = datetime.now(UTC) - timedelta(days=1)
    for n, question in enumerate(QUESTIONS):
        mock.add_run(f"old-{n}", plain_scene(), question=question).created_at = yesterday
    stopped = plain_scene()
    stopped.frames[-1].fields |= {"status": "incomplete", "reason": "step_limit"}
    mock.add_run("steps", stopped, question="Compare all supplier contracts")
    mock.add_run("policy", policy_scene(), question=POLICY, knowledge=["kb-handbook"], web=True)
    return mock


def on_the_web() -> MockApi:
    """The same with the web allowed: a run that waits, and one that has researched."""
    mock = filled()
    mock.add_run("research", research_scene(), question=LAW, web=True)
    mock.add_run("asking", asking_scene(), question="What does the law give in 2026?", web=True)
    return mock


async def shoot(folder: Path, every: bool) -> None:
    async with launched() as browser:
        with serve(filled()) as base_url:
            async for tab, name in views(browser, base_url, every):
                await run_screen(tab, folder, name)
                if every or name == "-".join(SHOWN[0]):
                    await other_screens(tab, folder, name)
        with serve(on_the_web()) as base_url:
            async for tab, name in views(browser, base_url, every):
                await web_screens(tab, folder, name)


async def views(
    browser: Browser, base_url: str, every: bool
) -> AsyncGenerator[tuple[OpenedPage, str]]:
    """A page of each size and theme, with the end of its files' names."""
    for size, theme in product(SIZES, ("light", "dark")) if every else SHOWN:
        width, height = SIZES[size]
        viewport = {"width": width, "height": height}
        async with opened(browser, base_url, viewport=viewport, color_scheme=theme) as tab:
            yield tab, f"{size}-{theme}"


async def run_screen(tab: OpenedPage, folder: Path, name: str) -> None:
    await tab.goto("/runs/policy")
    await tab.page.get_by_text("Paid leave", exact=True).wait_for()
    if name.startswith("desktop"):
        await tab.page.get_by_role("button", name="Source 1").click()
    await tab.page.screenshot(path=folder / f"run-{name}.png")


async def other_screens(tab: OpenedPage, folder: Path, name: str) -> None:
    await tab.page.locator(".row-line").first.click()
    await tab.page.screenshot(path=folder / f"step-{name}.png")
    for screen in ("", "knowledge", "models", "doctor", "settings"):
        await tab.goto(f"/{screen}")
        await tab.page.locator("main h1").wait_for()
        await expect(tab.page.get_by_text("Loading…")).to_have_count(0)
        await tab.page.screenshot(path=folder / f"{screen or 'home'}-{name}.png")


async def web_screens(tab: OpenedPage, folder: Path, name: str) -> None:
    await tab.goto("/runs/asking")
    await tab.page.get_by_role("button", name="Approve").scroll_into_view_if_needed()
    await tab.page.screenshot(path=folder / f"approvals-{name}.png")
    await tab.goto("/runs/research")
    await tab.page.locator("#step-1 .row-line").first.click()
    await tab.page.locator(".steps-nested > li").nth(5).wait_for()
    await tab.page.locator("main").screenshot(path=folder / f"research-{name}.png")
    is_sheet = await tab.page.get_by_role("tab", name="Left").count() == 0
    left = tab.page.get_by_role("button" if is_sheet else "tab", name="Left 4")
    await left.click()
    await tab.page.locator(".left li").nth(3).wait_for()
    panel = tab.page.locator("dialog" if is_sheet else ".inspector")
    await panel.screenshot(path=folder / f"left-{name}.png")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Take the page's screenshots.")
    parser.add_argument("-o", "--out", type=Path, default=ROOT / "docs" / "images")
    parser.add_argument("--all", action="store_true", help="every screen in every size and theme")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    asyncio.run(shoot(options.out, options.all))
