"""The web on the page over the real server: approvals, child runs and the ledger, end to end."""

import re
from pathlib import Path

import pytest
from playwright.async_api import Route, expect

from tests.e2e.browser import OpenedPage
from tests.e2e.test_page_server import page_over
from tests.research.web_fakes import FakeSearch, FakeVisit, family
from tests.sending import SearchTool, Wire, search_request
from tests.support import call, replies, say

QUERY = "otters of ACME"
LATE = re.compile("409|ERR_FAILED")


async def without_stream(route: Route) -> None:
    is_stream = "text/event-stream" in (await route.request.all_headers()).get("accept", "")
    await (route.abort() if is_stream else route.continue_())


async def ask_first(tab: OpenedPage, question: str) -> None:
    """A question with the web on, whose searches all ask."""
    await tab.goto("/")
    await tab.page.get_by_role("switch").click()
    await tab.page.get_by_label("Ask me before each search").check()
    await tab.ask(question)
    await expect(tab.page.get_by_role("button", name="Approve")).to_be_visible()


@pytest.mark.parametrize(("key", "state"), [("a", "approved"), ("d", "denied")])
async def test_a_key_decides_and_just_that_is_sent(tmp_path: Path, key: str, state: str) -> None:
    wire = Wire()
    provider = replies(say("", call("web_search", query=QUERY)), say("done"))
    async with page_over(tmp_path, provider, web=[SearchTool(wire)]) as (tab, runtime):
        await ask_first(tab, "Who are they?")
        card = tab.page.locator(".approval")
        await expect(card).to_contain_text(f'Asks engine.test for "{QUERY}".')
        await expect(card).to_contain_text("q=otters+of+ACME")
        await expect(tab.page.get_by_role("link", name="Approvals 1")).to_be_visible()
        assert wire.sent == []
        await tab.page.reload()
        await card.focus()
        await tab.page.keyboard.press(key)
        await tab.ended()
        await expect(card.locator(".approval-state")).to_contain_text(state)
        await expect(card).to_contain_text(f'Asks engine.test for "{QUERY}".')
        assert wire.sent == ([search_request(QUERY)] if state == "approved" else [])
        [item] = await runtime.service.approvals(None)
        assert item["status"] == state
        await expect(tab.page.get_by_role("link", name="Approvals 1")).to_have_count(0)


async def test_an_edit_is_shown_by_the_server_before_it_is_approved_and_sent(
    tmp_path: Path,
) -> None:
    wire = Wire()
    provider = replies(say("", call("web_search", query=QUERY)), say("done"))
    async with page_over(tmp_path, provider, web=[SearchTool(wire)]) as (tab, _):
        await ask_first(tab, "Who are they?")
        card = tab.page.locator(".approval")
        await card.get_by_role("button", name="Edit").click()
        await card.get_by_label("query").fill("otters & seals")
        await expect(card.locator(".request")).to_contain_text("q=otters+%26+seals")
        await expect(card.locator(".request")).to_contain_text("q = otters & seals")
        await card.get_by_role("button", name="Approve the edited text").click()
        await tab.ended()
        assert wire.bodies == ["q=otters+%26+seals"]
        lines = card.locator(".approval-tool")
        await expect(lines.nth(0)).to_contain_text(QUERY)
        await expect(lines.nth(1)).to_contain_text('Asks engine.test for "otters & seals".')


async def test_who_is_late_is_told_what_became_of_the_call(tmp_path: Path) -> None:
    wire = Wire()
    provider = replies(say("", call("web_search", query=QUERY)), say("done"))
    async with page_over(tmp_path, provider, web=[SearchTool(wire)]) as (tab, runtime):
        await ask_first(tab, "Who are they?")
        [item] = await runtime.service.approvals("pending")
        await tab.page.route("**/events", without_stream)  # or it would know before the click
        await tab.page.reload()
        await expect(tab.page.get_by_role("button", name="Approve")).to_be_visible()
        await runtime.service.decide(item["run_id"], item["call"]["id"], "deny", by="terminal")
        await runtime.service.wait(item["run_id"])
        await tab.page.get_by_role("button", name="Approve").click()
        await expect(tab.page.locator(".approval").get_by_role("alert")).to_contain_text("denied")
        assert wire.sent == []
        tab.complaints = [line for line in tab.complaints if not LATE.search(line)]


async def test_research_shows_its_child_its_sources_and_all_that_left(tmp_path: Path) -> None:
    web = [FakeSearch(), FakeVisit()]
    async with page_over(tmp_path, family(), web=web) as (tab, _):
        await ask_first(tab, "How high is the tower?")
        child = tab.page.locator("#step-1 .child")
        await expect(child).to_contain_text('Asks search.test for "tower height".')
        await child.get_by_role("button", name="Approve").click()
        await tab.ended()
        await expect(tab.page.locator(".status-line")).to_contain_text(
            "2 requests left this machine"
        )
        await tab.page.locator("#step-1 .row-line").first.click()
        nested = tab.page.locator(".steps-nested > li")
        await expect(nested.nth(0)).to_contain_text("tower height")
        await expect(nested.nth(0)).to_contain_text("approved")
        await expect(nested.nth(1)).to_contain_text("https://site.test/tower+height")
        await expect(tab.page.locator(".source-state").first).to_contain_text("read")
        await tab.page.get_by_role("tab", name="Left 2").click()
        await expect(tab.page.locator(".left li").nth(1)).to_contain_text("site.test")
