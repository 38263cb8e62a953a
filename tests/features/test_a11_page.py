"""A11: the page shows each call, with arguments and result, before the answer."""

from playwright.async_api import expect

from tests.e2e.browser import built_page, page_over
from tests.e2e.page_mock import MockApi
from tests.e2e.page_scenes import LEAVE, policy_scene


async def test_the_steps_stand_before_the_answer_and_come_before_it() -> None:
    mock = MockApi(built_page(), scene=policy_scene())
    mock.held.add("answer")
    async with page_over(mock) as tab:
        await tab.ask("How many days?")
        await expect(tab.page.locator(".steps > li")).to_have_count(4)
        await expect(tab.page.locator(".answer")).to_have_count(0)
        mock.held.clear()
        await tab.ended()
        order = await tab.page.evaluate(
            """() => document.querySelector('.steps')
              .compareDocumentPosition(document.querySelector('.answer'))
              === Node.DOCUMENT_POSITION_FOLLOWING"""
        )
        assert order
        rows = await tab.page.locator(".steps > li").all_inner_texts()
        names = ["search_knowledge_base", "get_current_datetime", "web_search", "run_command"]
        assert [name in row for name, row in zip(names, rows, strict=False)] == [True] * 4
        await tab.page.locator("#step-1 .row-line").click()
        await expect(tab.page.locator("#step-1 .row-body")).to_contain_text(LEAVE)
