"""B12: the page shows `Tool: web_search` and what it would ask before the wait; a refusal leaves
that line, a change adds a second one for the edited query."""

from playwright.async_api import Locator, expect

from tests.e2e.browser import OpenedPage, built_page, page_over
from tests.e2e.page_mock import MockApi
from tests.e2e.page_web_scenes import EDITED, QUERY, asking_scene

FIRST = f'Tool: web_search Asks lite.duckduckgo.com for "{QUERY}".'
SECOND = f'Tool: web_search Asks lite.duckduckgo.com for "{EDITED}".'


async def lines_before_the_wait(tab: OpenedPage) -> Locator:
    await tab.ask("What is the minimum?")
    lines = tab.page.locator(".approval-tool")
    await expect(tab.page.get_by_role("button", name="Approve")).to_be_visible()
    await expect(lines).to_have_text([FIRST])
    return lines


async def test_a_refusal_leaves_the_line() -> None:
    async with page_over(MockApi(built_page(), scene=asking_scene())) as tab:
        lines = await lines_before_the_wait(tab)
        await tab.page.get_by_role("button", name="Deny").click()
        await tab.ended()
        await expect(lines).to_have_text([FIRST])


async def test_a_change_adds_a_second_line() -> None:
    async with page_over(MockApi(built_page(), scene=asking_scene())) as tab:
        lines = await lines_before_the_wait(tab)
        await tab.page.get_by_role("button", name="Edit").click()
        await tab.page.get_by_label("query").fill(EDITED)
        await tab.page.get_by_role("button", name="Approve the edited text").click()
        await tab.ended()
        await expect(lines).to_have_text([FIRST, SECOND])
