"""Debian's Chromium for tests of the page, and one page in it with its network log."""

import json
import os
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import (
    Browser,
    ConsoleMessage,
    Locator,
    Page,
    Request,
    async_playwright,
    expect,
)

from inglenook.api.page_folder import PAGE_FOLDER
from tests.e2e.page_mock import MockApi, serve

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
ARGUMENTS = [
    "--no-sandbox",  # CI runs as root in a container
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
LAUNCH_MS, LOOK_MS, ACT_MS = 120_000, 20_000, 30_000
"""How long the browser may take to start, and the page to show what is expected and to be ready for
a click: much more than they need, so that a busy machine fails no test."""
expect.set_options(timeout=LOOK_MS)
AXE = Path(__file__).parents[2] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"


def require(present: object, what: str) -> None:
    """Skip with the reason; on CI, where everything must be there, fail instead."""
    if present:
        return
    if os.environ.get("CI") == "true":
        pytest.fail(f"{what}; on CI this must be there")
    pytest.skip(what)


@asynccontextmanager
async def launched() -> AsyncGenerator[Browser]:
    require(CHROMIUM, "Chromium is missing (sudo apt install chromium)")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=CHROMIUM, args=ARGUMENTS, timeout=LAUNCH_MS
        )
        yield browser
        await browser.close()


@dataclass
class OpenedPage:
    page: Page
    base_url: str
    requested: list[str] = field(default_factory=list[str])
    complaints: list[str] = field(default_factory=list[str])
    """Errors of the page and of its console, security policy violations among them."""

    async def goto(self, path: str) -> None:
        await self.page.goto(self.base_url + path)

    def foreign_requests(self) -> list[str]:
        own = (self.base_url + "/", f"blob:{self.base_url}/", "data:")
        return [url for url in self.requested if not url.startswith(own)]

    async def ask(self, question: str) -> None:
        """Write a question, send it, and be on its run's address."""
        await self.write(question)
        await self.page.get_by_role("button", name="Send").click()
        await self.page.wait_for_url("**/runs/*")

    async def write(self, question: str) -> None:
        """Write a question, and wait until it can be sent."""
        await self.page.get_by_role("textbox", name="Question").fill(question)
        await expect(self.page.get_by_role("button", name="Send")).to_be_enabled()

    async def ended(self, word: str = "complete") -> None:
        """Wait until the run on the screen has its status line."""
        await self.page.locator(".status-line").get_by_text(word, exact=True).wait_for()

    async def press(self, key: str, *, then: Locator) -> None:
        """Press a key, and go on when what a person waits for before the next one has the focus."""
        await self.page.keyboard.press(key)
        await expect(then).to_be_focused()

    async def painted(self) -> None:
        """Everything that was begun by now has been drawn."""
        await self.page.evaluate(
            "() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))"
        )

    async def axe_violations(self) -> list[str]:
        """What axe-core finds on the present screen, one line each."""
        require(AXE.is_file(), "axe-core is missing (python3 scripts/build_page.py --test)")
        await self.page.evaluate(AXE.read_text(encoding="utf-8"))
        found = await self.page.evaluate("async () => (await axe.run()).violations")
        return [
            f"{violation['id']}: {node['html'][:160]} {_why(node)}"
            for violation in found
            for node in violation["nodes"]
        ]


def _why(node: dict[str, Any]) -> str:
    return "; ".join(check["message"] for check in [*node["any"], *node["all"], *node["none"]])


@asynccontextmanager
async def opened(browser: Browser, base_url: str, **options: Any) -> AsyncGenerator[OpenedPage]:
    """A page in a browser profile of its own."""
    context = await browser.new_context(**options)
    context.set_default_timeout(ACT_MS)
    page = await context.new_page()
    result = OpenedPage(page, base_url)

    def on_request(request: Request) -> None:
        result.requested.append(request.url)

    def on_console(message: ConsoleMessage) -> None:
        if message.type == "error":
            result.complaints.append(message.text)

    context.on("request", on_request)
    page.on("console", on_console)
    page.on("pageerror", lambda error: result.complaints.append(str(error)))
    try:
        yield result
    finally:
        await context.close()


async def storage_of(page: Page) -> str:
    """Everything the page keeps in localStorage, as JSON."""
    return json.dumps(await page.evaluate("() => ({...localStorage})"))


@asynccontextmanager
async def page_over(mock: MockApi, path: str = "/", **options: Any) -> AsyncGenerator[OpenedPage]:
    """A browser of its own on `path` of a scripted server, for one test."""
    with serve(mock) as base_url:
        async with launched() as browser, opened(browser, base_url, **options) as tab:
            await tab.goto(path)
            yield tab


def built_page() -> Path:
    require(
        (PAGE_FOLDER / "index.html").is_file(),
        "the page is not built (python3 scripts/build_page.py, which needs npm)",
    )
    return PAGE_FOLDER
