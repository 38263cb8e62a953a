"""A17: in the page the web is off by default, off again after each send, and never remembered."""

import json

from playwright.async_api import Page, expect

from tests.e2e.browser import built_page, page_over, storage_of
from tests.e2e.page_mock import MockApi
from tests.e2e.page_scenes import plain_scene


async def is_off(page: Page) -> None:
    await expect(page.get_by_role("switch")).to_have_attribute("aria-checked", "false")


async def test_web_is_off_until_switched_on_and_off_again_after_one_send() -> None:
    mock = MockApi(built_page(), scene=plain_scene())
    async with page_over(mock) as tab:
        await is_off(tab.page)
        await tab.page.get_by_role("switch").click()
        await expect(tab.page.get_by_role("switch")).to_have_text("▲ Web: on")
        await tab.ask("one")
        await is_off(tab.page)
        await tab.ended()
        await tab.write("two")
        await tab.page.keyboard.press("Enter")
        await tab.page.wait_for_url("**/runs/run-2")
        sent = [json.loads(each["body"])["web"] for each in mock.requests_to("/api/runs")]
        assert sent == [True, False]


async def test_a_refused_send_switches_it_off_too() -> None:
    mock = MockApi(built_page())
    mock.refuse_run = (503, {"error": {"type": "unavailable", "message": "The disk is full."}})
    async with page_over(mock) as tab:
        await tab.page.get_by_role("switch").click()
        await tab.write("one")
        await tab.page.keyboard.press("Enter")
        await tab.page.get_by_role("alert").wait_for()
        await is_off(tab.page)


async def test_it_is_remembered_neither_over_a_reload_nor_over_another_screen() -> None:
    mock = MockApi(built_page(), scene=plain_scene())
    mock.add_run("with-web", plain_scene(), question="x", web=True)
    async with page_over(mock) as tab:
        await tab.page.get_by_role("switch").click()
        kept = await storage_of(tab.page)
        kept += await tab.page.evaluate("() => JSON.stringify(sessionStorage)")
        assert "web" not in kept.lower().replace("open-webui", "")
        await tab.page.reload()
        await is_off(tab.page)
        await tab.page.get_by_role("switch").click()
        await tab.page.get_by_role("link", name="Settings").click()
        await tab.page.get_by_role("link", name="New question").click()
        await is_off(tab.page)
        await tab.goto("/runs/with-web")
        await tab.ended()
        await is_off(tab.page)
