"""A28: the picker marks models that take tools, names qwen3, and says what the others do."""

import json

from playwright.async_api import Locator, expect

from tests.e2e.browser import built_page, page_over
from tests.e2e.page_mock import MockApi
from tests.e2e.page_scenes import plain_scene


async def lines_of(element: Locator) -> int:
    """How many lines of text it takes."""
    return await element.evaluate(
        """(box) => {
            const text = document.createRange();
            text.selectNodeContents(box);
            return new Set([...text.getClientRects()].map((line) => line.top)).size;
        }"""
    )


async def test_the_picker_marks_explains_and_offers_only_what_can_be_used() -> None:
    mock = MockApi(built_page(), scene=plain_scene())
    async with page_over(mock) as tab:
        await tab.page.get_by_role("button", name="Model: qwen3:8b").click()
        menu = tab.page.get_by_role("menu", name="Model")
        await expect(tab.page.locator(".menu-note")).to_contain_text("qwen3")
        capable = menu.get_by_role("menuitemradio", name="qwen3:8b")
        for words in ("✓ tools", "thinking", "8k context", "41 s to write 1,000 tokens"):
            await expect(capable).to_contain_text(words)
        assert await lines_of(capable.locator(".menu-label")) == 1  # its pills leave it room
        toolless = menu.get_by_role("menuitemradio", name="gemma2:2b")
        await expect(toolless).to_contain_text("no tools")
        await expect(toolless).to_contain_text("calls as text")
        unreachable = menu.get_by_role("menuitemradio", name="old-server")
        await expect(unreachable).to_contain_text("http://10.0.0.7:8000 does not answer.")
        assert await unreachable.get_attribute("aria-disabled") == "true"
        await unreachable.click(force=True)
        await toolless.click()
        await tab.ask("x")
        assert json.loads(mock.requests_to("/api/runs")[0]["body"])["model"] == "gemma2:2b"


async def test_the_models_screen_tells_what_is_known_of_each() -> None:
    async with page_over(MockApi(built_page())) as tab:
        await tab.goto("/models")
        card = tab.page.get_by_role("region", name="qwen3:8b")
        for words in (
            "Window: 40,960 tokens configured, 8,192 served when last seen",
            "Tool calls: native (found out)",
            "1,000 tokens: 3.2 s to read, 41 s to write",
        ):
            await expect(card).to_contain_text(words)
        toolless = tab.page.get_by_role("region", name="gemma2:2b")
        for words in (
            "8,192 tokens, as none is configured, served window unknown",
            "as text (found out)",
            "qwen3, does better",
            "not measured yet",
        ):
            await expect(toolless).to_contain_text(words)
        await expect(tab.page.get_by_role("region", name="mistral-small")).to_contain_text(
            "as the model can; not found out yet"
        )


async def test_without_a_model_it_teaches_three_ways_to_get_one() -> None:
    mock = MockApi(built_page())
    mock.models = {"items": [], "default": None}
    async with page_over(mock) as tab:
        ways = tab.page.get_by_role("region", name="Three ways to get a model")
        for words in ("ollama pull qwen3", 'provider = "openai"', "inglenook models pull demo"):
            await expect(ways).to_contain_text(words)
        await tab.page.get_by_role("textbox", name="Question").fill("x")
        await expect(tab.page.get_by_role("button", name="Send")).to_be_disabled()
