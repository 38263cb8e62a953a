"""A23: amber marks the call that left this machine, and no other; a blocked one is red."""

from playwright.async_api import expect

from tests.e2e.browser import built_page, page_over
from tests.e2e.page_mock import MockApi
from tests.e2e.page_scenes import plain_scene, policy_scene


async def test_amber_stands_at_the_network_call_alone() -> None:
    mock = MockApi(built_page())
    mock.add_run("policy", policy_scene(), question="x", web=True)
    async with page_over(mock, "/runs/policy", viewport={"width": 1280, "height": 800}) as tab:
        await tab.ended()
        steps = tab.page.locator(".steps")
        amber = steps.locator(".badge-amber")
        await expect(amber).to_have_count(1)
        await expect(amber).to_have_text("▲ leaves this machine")
        await expect(steps.locator("li", has=tab.page.locator(".badge-amber"))).to_contain_text(
            "web_search"
        )
        await expect(steps.locator("li", has_text="search_knowledge_base")).to_contain_text("local")
        blocked = steps.locator("li", has_text="run_command")
        await expect(blocked.locator(".badge-red")).to_have_text("⊘ blocked")
        await expect(blocked).not_to_contain_text("local")


async def test_a_run_that_stayed_at_home_says_so_and_shows_no_amber() -> None:
    mock = MockApi(built_page())
    mock.add_run("home", plain_scene(), question="x")
    async with page_over(mock, "/runs/home") as tab:
        await tab.ended()
        await expect(tab.page.get_by_text("nothing left this machine")).to_be_visible()
        await expect(tab.page.locator(".badge-amber, .web-on")).to_have_count(0)
