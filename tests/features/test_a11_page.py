"""A11: the page shows each call, with arguments and result, before the answer."""

from tests.e2e.browser import built_page, page_over
from tests.e2e.page_mock import MockApi
from tests.e2e.page_scenes import LEAVE, policy_scene


async def test_the_steps_stand_before_the_answer_and_come_before_it() -> None:
    mock = MockApi(built_page(), scene=policy_scene(pace_s=0.1))
    async with page_over(mock) as tab:
        await tab.ask("How many days?")
        await tab.page.locator("#step-1").wait_for()
        assert await tab.page.locator(".answer").count() == 0
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
        assert LEAVE in await tab.page.locator("#step-1 .row-body").inner_text()
