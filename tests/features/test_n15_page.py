"""N15: the page tells the states of an approval apart: pending, approved, edited, denied, timed out
and expired."""

from playwright.async_api import expect

from tests.e2e.browser import built_page, page_over
from tests.e2e.page_mock import MockApi
from tests.e2e.page_web_scenes import EDITED, asking_scene, decided_scene, expired_scene

RUNS = {
    "approved": (decided_scene("approved"), "✓ approved"),
    "edited": (decided_scene("edited", edited_to={"query": EDITED}), "✎ edited and approved"),
    "denied": (decided_scene("denied"), "⊘ denied"),
    "timed_out": (decided_scene("timed_out"), "◷ timed out"),
    "expired": (expired_scene(), "○ expired"),
}


async def test_every_state_has_its_own_words() -> None:
    mock = MockApi(built_page())
    mock.add_run("pending", asking_scene(), question="x", web=True)
    for name, (scene, _) in RUNS.items():
        mock.add_run(name, scene, question="x", web=True)
    async with page_over(mock, "/runs/pending") as tab:
        await expect(tab.page.get_by_role("button", name="Approve")).to_be_visible()
        for name, (_, words) in RUNS.items():
            await tab.goto(f"/runs/{name}")
            await expect(tab.page.locator(".approval-state .badge")).to_have_text(words)
            await expect(tab.page.get_by_role("button", name="Approve")).to_have_count(0)
