"""A28: the picker marks models that can call tools, names qwen3, and says why others cannot."""

import json

from playwright.async_api import expect

from tests.e2e.browser import built_page, page_over
from tests.e2e.page_mock import MockApi
from tests.e2e.page_scenes import plain_scene


async def test_the_picker_marks_explains_and_offers_only_what_can_be_used() -> None:
    mock = MockApi(built_page(), scene=plain_scene())
    async with page_over(mock) as tab:
        await tab.page.get_by_role("button", name="Model: qwen3:8b").click()
        menu = tab.page.get_by_role("menu", name="Model")
        await expect(tab.page.locator(".menu-note")).to_contain_text("qwen3")
        await expect(menu.get_by_role("menuitemradio", name="qwen3:8b")).to_contain_text("✓ tools")
        toolless = menu.get_by_role("menuitemradio", name="gemma2:2b")
        await expect(toolless).to_contain_text("cannot call tools")
        unreachable = menu.get_by_role("menuitemradio", name="old-server")
        await expect(unreachable).to_contain_text("http://10.0.0.7:8000 does not answer.")
        for item in (toolless, unreachable):
            assert await item.get_attribute("aria-disabled") == "true"
            await item.click(force=True)
        await menu.get_by_role("menuitemradio", name="mistral-small").click()
        await tab.ask("x")
        assert json.loads(mock.requests_to("/api/runs")[0]["body"])["model"] == "mistral-small"


async def test_without_a_model_it_teaches_three_ways_to_get_one() -> None:
    mock = MockApi(built_page())
    mock.models = {"items": [], "default": None}
    async with page_over(mock) as tab:
        ways = tab.page.get_by_role("region", name="Three ways to get a model")
        for words in ("ollama pull qwen3", 'provider = "openai"', "inglenook models pull demo"):
            await expect(ways).to_contain_text(words)
        await tab.page.get_by_role("textbox", name="Question").fill("x")
        await expect(tab.page.get_by_role("button", name="Send")).to_be_disabled()
