"""The web on the page: what may leave is asked for, what left is shown, nothing is remembered."""

import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Locator, Page, expect

from tests.e2e.browser import OpenedPage, opened, storage_of
from tests.e2e.page_mock import MockApi
from tests.e2e.page_scenes import Json, Scene, call, plain_scene
from tests.e2e.page_web_scenes import (
    EDITED,
    LITE,
    PRIVATE,
    QUERY,
    asking_scene,
    decided_scene,
    expired_scene,
    no_web_scene,
    research_scene,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")
QUESTION = "What is the statutory minimum of paid leave?"


def card_of(page: Page) -> Locator:
    return page.locator(".approval")


def bodies(mock: MockApi, path: str) -> list[Json]:
    return [json.loads(request["body"]) for request in mock.requests_to(path)]


async def wait_for_question(tab: OpenedPage, mock: MockApi) -> Locator:
    """Ask, and be before the card of the one search that waits."""
    mock.scene = asking_scene()
    await tab.goto("/")
    await tab.ask(QUESTION)
    await expect(tab.page.get_by_role("button", name="Approve")).to_be_visible()
    return card_of(tab.page)


# Approvals


async def test_the_card_shows_exactly_what_would_be_sent_to_whom_why_and_until_when(
    tab: OpenedPage, mock: MockApi
) -> None:
    mock.add_run("asking", asking_scene(), question=QUESTION)
    await tab.goto("/runs/asking")
    card = card_of(tab.page)
    for words in (
        "Approve what will be sent",
        "leaves this machine if you approve",
        "Tool: web_search",
        f'Asks lite.duckduckgo.com for "{QUERY}".',
        "Why you are asked: Each search query is shown before it leaves.",
        "lite.duckduckgo.com",
        f"q = {QUERY}",
        "q=statutory+minimum+leave+2026&kl=",
        "POST",
        LITE,
        "40 B to this host",
        "60 min left",
    ):
        await expect(card).to_contain_text(words)
    await expect(tab.page.locator("#step-1")).to_contain_text("waiting for you")
    await expect(tab.page.locator(".live-line")).to_contain_text("waiting for your approval")


async def test_a_host_is_shown_in_both_forms_and_what_cannot_be_seen_by_its_name(
    tab: OpenedPage, mock: MockApi
) -> None:
    url = "https://xn--bcher-kva.example/s?q=leave%E2%80%AE2026%E2%80%8B+now%0A"
    made = call("s1", "web_search", query="leave\u202e2026\u200b now\n")
    requests = [
        {"method": "GET", "url": url, "body": ""},
        {"method": "POST", "url": LITE, "body": '{"q": "leave\u2066\u00a0"}'},
    ]
    scene = asking_scene(made=made, requests=requests, reason=PRIVATE)
    mock.add_run("odd", scene, question=QUESTION)
    await tab.goto("/runs/odd")
    first, second = (tab.page.locator(".request").nth(n) for n in (0, 1))
    await expect(first).to_contain_text("bücher.example")
    await expect(first).to_contain_text("asked for as xn--bcher-kva.example")
    await expect(first).to_contain_text("leaveU+202E2026U+200B nowU+000A")
    await expect(first).to_contain_text(url)
    await expect(second).to_contain_text("leaveU+2066U+00A0")
    await expect(tab.page.locator(".unseen").first).to_have_css("white-space", "nowrap")
    await expect(card_of(tab.page)).to_contain_text("the next only where one fails")
    await expect(card_of(tab.page)).to_contain_text("confidential knowledge base")
    html = await tab.page.locator(".approval").inner_html()
    assert not set(html) & set("\u202e\u200b\u2066\u00a0")


async def test_a_key_approves_what_is_shown_and_the_focus_stays_with_the_card(
    tab: OpenedPage, mock: MockApi
) -> None:
    card = await wait_for_question(tab, mock)
    await tab.page.get_by_role("heading", level=1).focus()
    await tab.press("p", then=card)
    await tab.page.keyboard.press("a")
    await tab.ended()
    await expect(card).to_contain_text("approved")
    await expect(card).to_be_focused()
    assert bodies(mock, "/api/runs/run-1/approvals/s1") == [{"decision": "approve"}]
    await expect(card).to_contain_text(f'Tool: web_search Asks lite.duckduckgo.com for "{QUERY}".')
    await expect(tab.page.locator("#step-1 .badge-amber")).to_have_text("▲ leaves this machine")
    await card.get_by_text("What was asked").click()
    await expect(card).to_contain_text("q=statutory+minimum+leave+2026&kl=")


async def test_a_denied_call_keeps_its_line_and_sends_nothing(
    tab: OpenedPage, mock: MockApi
) -> None:
    card = await wait_for_question(tab, mock)
    deny = tab.page.get_by_role("button", name="Deny")
    await deny.focus()
    await tab.page.keyboard.press("D")
    await tab.ended()
    assert bodies(mock, "/api/runs/run-1/approvals/s1") == [{"decision": "deny"}]
    await expect(card).to_contain_text("Tool: web_search")
    await expect(card).to_contain_text(QUERY)
    await expect(card).to_contain_text("denied nothing was sent")
    await expect(card.get_by_role("button")).to_have_count(0)
    await expect(tab.page.locator(".status-line")).to_contain_text("nothing left this machine")
    await expect(tab.page.locator("main .badge-amber")).to_have_count(0)


async def test_an_edit_is_previewed_by_the_server_and_shown_as_a_second_line(
    tab: OpenedPage, mock: MockApi
) -> None:
    card = await wait_for_question(tab, mock)
    edit = tab.page.get_by_role("button", name="Edit")
    field = card.get_by_label("query")
    send = card.get_by_role("button", name="Approve the edited text")
    await edit.focus()
    await tab.press("e", then=field)
    await expect(send).to_be_disabled()  # nothing is changed yet
    await tab.press("Escape", then=edit)
    assert mock.requests_to("/api/runs/run-1/cancel") == []
    await tab.press("e", then=field)
    await field.fill("")
    await expect(card.get_by_role("alert")).to_contain_text("at least 1 character")
    await expect(send).to_be_disabled()
    await field.fill(EDITED)
    await expect(card.locator(".request")).to_contain_text("q=minimum+annual+leave+law&kl=")
    await expect(send).to_be_enabled()
    await field.press("Enter")
    await tab.ended()
    assert bodies(mock, "/api/runs/run-1/approvals/s1") == [
        {"decision": "edit", "arguments": {"query": EDITED}}
    ]
    lines = card.locator(".approval-tool")
    await expect(lines).to_have_count(2)
    await expect(lines.nth(0)).to_contain_text(QUERY)
    await expect(lines.nth(1)).to_have_text(
        f'Tool: web_search Asks lite.duckduckgo.com for "{EDITED}".'
    )
    await expect(card).to_contain_text("edited and approved")
    await expect(card).to_be_focused()
    tab.complaints = [line for line in tab.complaints if "422" not in line]


async def test_an_edit_with_a_character_that_cannot_be_seen_names_it(
    tab: OpenedPage, mock: MockApi
) -> None:
    card = await wait_for_question(tab, mock)
    await tab.page.get_by_role("button", name="Edit").click()
    await card.get_by_label("query").fill("leave\u200bnow")
    await expect(card).to_contain_text("Exactly: leaveU+200Bnow")


async def test_keys_with_a_modifier_held_keys_and_typed_letters_decide_nothing(
    tab: OpenedPage, mock: MockApi
) -> None:
    card = await wait_for_question(tab, mock)
    await card.focus()
    for key in ("Control+a", "Alt+d", "Meta+e"):
        await tab.page.keyboard.press(key)
    await card.dispatch_event("keydown", {"key": "a", "repeat": True, "bubbles": True})
    question = tab.page.get_by_role("textbox", name="Question")
    await question.press_sequentially("add")
    await expect(question).to_have_value("add")
    await tab.page.get_by_role("button", name="Edit").click()
    await card.get_by_label("query").press_sequentially("dad")
    await expect(card.get_by_label("query")).to_have_value("dad")
    assert mock.requests_to("/api/runs/run-1/approvals/s1") == []
    await expect(card.get_by_role("button", name="Cancel")).to_be_visible()


async def test_a_late_decision_is_told_what_the_call_is_now(tab: OpenedPage, mock: MockApi) -> None:
    mock.add_run("asking", asking_scene(), question=QUESTION)
    await tab.goto("/runs/asking")
    await expect(tab.page.get_by_role("button", name="Approve")).to_be_visible()
    mock.approvals["asking", "s1"]["status"] = "timed_out"
    await tab.page.get_by_role("button", name="Approve").click()
    card = card_of(tab.page)
    await expect(card.get_by_role("alert")).to_contain_text("web_search was timed_out before")
    await expect(card.get_by_role("button")).to_have_count(0)
    await expect(card).to_be_focused()
    tab.complaints = [line for line in tab.complaints if "409" not in line]


async def test_an_approval_survives_a_reload_and_can_be_decided_then(
    tab: OpenedPage, mock: MockApi
) -> None:
    card = await wait_for_question(tab, mock)
    await tab.page.reload()
    await expect(card).to_contain_text(f"q = {QUERY}")
    await tab.page.get_by_role("button", name="Approve").click()
    await tab.ended()
    await tab.page.reload()
    await expect(card).to_contain_text("exactly this may be sent · by page")


@pytest.mark.parametrize(
    ("decision", "words"),
    [
        ("approved", "✓ approved exactly this may be sent"),
        ("denied", "⊘ denied nothing was sent"),
        ("timed_out", "◷ timed out nobody decided in time, nothing was sent"),
        ("edited", "✎ edited and approved the second line may be sent instead"),
        ("expired", "○ expired the run ended before anybody decided, nothing was sent"),
    ],
)
async def test_what_was_decided_is_shown_afterwards(
    tab: OpenedPage, mock: MockApi, decision: str, words: str
) -> None:
    edited_to: Json | None = {"query": EDITED} if decision == "edited" else None
    past = (
        expired_scene() if decision == "expired" else decided_scene(decision, edited_to=edited_to)
    )
    mock.add_run("past", past, question=QUESTION)
    await tab.goto("/runs/past")
    await expect(card_of(tab.page).locator(".approval-state")).to_contain_text(words)
    await expect(card_of(tab.page).get_by_role("button")).to_have_count(0)


async def test_a_screen_reader_hears_what_waits(tab: OpenedPage, mock: MockApi) -> None:
    await wait_for_question(tab, mock)
    await expect(tab.page.locator("main ~ [aria-live=polite]")).to_contain_text(
        f"Approval wanted: web_search, {QUERY}."
    )


# The inbox


async def test_the_inbox_counts_lists_and_decides_for_every_run(
    tab: OpenedPage, mock: MockApi
) -> None:
    mock.add_run("plain", plain_scene(), question="17*23?")
    mock.add_run("asking", asking_scene(), question=QUESTION)
    mock.add_run("child", research_scene(asks=True), question="Research that asks")
    mock.add_run("later", plain_scene(), question="What came later?")
    await tab.goto("/")
    page = tab.page
    await expect(page.get_by_role("heading", name="Waiting for you")).to_be_visible()
    first_two = [await page.locator(".run-link").nth(n).inner_text() for n in (0, 1)]
    assert all("waiting" in text for text in first_two)
    await expect(page).to_have_title("(2) Inglenook")
    await page.get_by_role("link", name="Approvals 2").click()
    await expect(page.locator(".approval-open")).to_have_count(2)
    await expect(page.get_by_role("main").get_by_role("link", name=QUESTION)).to_be_visible()
    await expect(
        page.get_by_role("main").get_by_role("link", name="Research that asks")
    ).to_be_visible()
    own = page.locator(".inbox-item").filter(has_text=QUESTION)
    await own.get_by_role("button", name="Deny").click()
    await expect(own).to_contain_text("denied")  # it stays where it stood
    await expect(page.get_by_role("link", name="Approvals 1")).to_be_visible()
    await page.reload()
    await expect(page.locator(".inbox-item")).to_have_count(1)
    assert bodies(mock, "/api/runs/asking/approvals/s1") == [{"decision": "deny"}]


async def test_what_is_decided_elsewhere_is_not_offered_any_more(
    tab: OpenedPage, mock: MockApi
) -> None:
    mock.add_run("asking", asking_scene(), question=QUESTION)
    await tab.goto("/approvals")
    await expect(tab.page.get_by_role("button", name="Approve")).to_be_visible()
    mock.approvals["asking", "s1"]["status"] = "denied"
    await expect(card_of(tab.page)).to_contain_text("It does not wait any more")
    await expect(card_of(tab.page).get_by_role("button")).to_have_count(0)


async def test_an_empty_inbox_says_what_comes_there_and_asks_the_server_once(
    tab: OpenedPage, mock: MockApi
) -> None:
    mock.add_run("plain", plain_scene(), question="17*23?")
    await tab.goto("/runs/plain")
    await tab.ended()
    assert mock.requests_to("/api/approvals", "GET") == []
    await tab.page.get_by_role("link", name="Approvals").click()
    await expect(tab.page.get_by_text("Nothing waits for you")).to_be_visible()
    await expect(tab.page).to_have_url(f"{tab.base_url}/approvals")


# Child runs


async def test_a_childs_approval_stands_in_its_parents_run_and_both_go_on(
    tab: OpenedPage, mock: MockApi
) -> None:
    mock.scene = research_scene(asks=True)
    await tab.goto("/")
    await tab.ask(QUESTION)
    card = tab.page.locator("#step-1 .approval-open")
    await expect(card).to_contain_text(f"q = {QUERY}")
    await expect(tab.page.locator("#step-1 .row-line").first).to_contain_text("waiting for you")
    await card.get_by_role("button", name="Approve").focus()
    await tab.page.keyboard.press("a")
    await tab.ended()
    assert bodies(mock, "/api/runs/child-1/approvals/c1") == [{"decision": "approve"}]
    decided = tab.page.locator("#step-1 .approval")
    await expect(decided).to_contain_text("approved")
    await expect(decided).to_be_focused()
    await tab.page.locator("#step-1 .row-line").first.click()
    await expect(tab.page.locator("#step-1 .approval")).to_contain_text("approved")


async def test_a_child_that_goes_on_says_what_it_does(tab: OpenedPage, mock: MockApi) -> None:
    mock.scene = research_scene(place="reading")
    mock.held.add("reading")
    await tab.goto("/")
    await tab.ask(QUESTION)
    child = tab.page.locator("#step-1 .child")
    await expect(child).to_contain_text("Read: ministry.example.org, xn--bcher-kva.example")
    await expect(tab.page.locator("#step-1 .row-line").first).not_to_contain_text("local")
    mock.held.clear()
    await tab.ended()
    await expect(child).to_have_count(0)


async def test_a_search_that_goes_on_is_named(tab: OpenedPage, mock: MockApi) -> None:
    search = call("s1", "web_search", query=QUERY)
    scene = Scene().start().step(1).reply(1, search).call_starts(search, network=True)
    mock.scene = scene.place("searching").call_ends(search, "none", network=True).finish("x")
    mock.held.add("searching")
    await tab.goto("/")
    await tab.ask(QUESTION)
    await expect(tab.page.locator(".live-line")).to_contain_text(f"Search: {QUERY}")
    mock.held.clear()
    await tab.ended()


async def test_a_childs_steps_are_folded_and_loaded_when_they_are_opened(
    tab: OpenedPage, mock: MockApi
) -> None:
    mock.add_run("research", research_scene(), question=QUESTION)
    await tab.goto("/runs/research#step-3")
    await tab.ended()
    row = tab.page.locator("#step-1")
    await expect(row.locator(".child")).to_have_count(0)
    await row.locator(".row-line").first.click()
    nested = row.locator(".steps-nested > li")
    await expect(nested).to_have_count(6)
    await expect(nested.nth(0)).to_contain_text(QUERY)
    await expect(nested.nth(3)).to_contain_text("failed")
    blocked = nested.nth(4).locator(".badge-red")
    await expect(blocked).to_have_text("⊘ blocked")
    await expect(row.locator(".child-head")).to_contain_text("3 requests · 66 B out · 84.5 kB in")
    await nested.nth(4).locator(".row-line").click()
    await expect(nested.nth(4)).to_contain_text("it was not asked")
    await expect(tab.page).to_have_url(f"{tab.base_url}/runs/research#step-1/step-3.2")
    await tab.page.reload()
    await expect(nested.nth(4)).to_contain_text("it was not asked")
    await row.get_by_role("link", name="open as a run of its own").click()
    await tab.ended()
    await tab.page.get_by_role("link", name="part of another run").click()
    await expect(tab.page).to_have_url(f"{tab.base_url}/runs/research")


# What left


async def test_the_ledger_has_every_request_its_totals_and_an_export(
    tab: OpenedPage, mock: MockApi
) -> None:
    mock.add_run("research", research_scene(), question=QUESTION)
    await tab.goto("/runs/research")
    await tab.ended()
    await expect(tab.page.locator(".status-line")).to_contain_text(
        "3 requests left this machine, 66 B out, 84.5 kB in"
    )
    await tab.page.get_by_role("tab", name="Left 4").click()
    panel = tab.page.get_by_role("tabpanel")
    await expect(panel.locator(".left-total")).to_contain_text("3 requests · 66 B out · 84.5 kB in")
    await expect(panel.get_by_role("heading")).to_contain_text("How many days of leave")
    entries = panel.locator(".left li")
    await expect(entries).to_have_count(4)
    await expect(entries.nth(0)).to_contain_text("POST /lite/")
    await expect(entries.nth(0)).to_contain_text("web_search · permission: web · status 200")
    await expect(entries.nth(2)).to_contain_text("bücher.example")
    await expect(entries.nth(2)).to_contain_text("xn--bcher-kva.example")
    await expect(entries.nth(3)).to_contain_text("not sent, there was no connection")
    async with tab.page.expect_download() as download:
        await panel.get_by_role("button", name="Export as JSON").click()
    file = await download.value
    assert file.suggested_filename == "research-egress.json"
    exported = json.loads((await file.path()).read_text())["items"]
    assert [item["n"] for item in exported] == [1, 2, 3, 4]
    assert {item["run_id"] for item in exported} == {"child-1"}
    assert sum(item["sent"] for item in exported) == 3


async def test_the_sources_say_what_was_read_and_what_was_only_seen(
    tab: OpenedPage, mock: MockApi
) -> None:
    mock.add_run("research", research_scene(), question=QUESTION)
    await tab.goto("/runs/research")
    await tab.ended()
    sources = tab.page.locator(".source")
    states = sources.locator(".source-state")
    await expect(states.nth(0)).to_have_text("read✓ supported")
    await expect(states.nth(1)).to_contain_text("read")
    await expect(states.nth(1)).to_contain_text("cited, not checked")
    await expect(states.nth(2)).to_contain_text("seen, not read")
    link = sources.nth(2).get_by_role("link")
    await expect(link).to_contain_text("forum.example.net")
    assert await link.get_attribute("target") == "_blank"


async def test_a_call_says_what_kind_of_text_was_read(tab: OpenedPage, mock: MockApi) -> None:
    read = call("d1", "read_document", name="salaries.md")
    scene = Scene().start().step(1).reply(1, read).call_starts(read)
    scene.call_ends(read, "…", labels=["private", "untrusted"]).finish("x")
    mock.add_run("read", scene, question="x")
    await tab.goto("/runs/read#step-1")
    details = tab.page.locator("#step-1 .row-body")
    await expect(details).to_contain_text("Confidential text was read here")
    await expect(details).to_contain_text("What neither you nor your documents wrote")


async def test_what_came_out_of_the_cache_says_how_old_it_is(
    tab: OpenedPage, mock: MockApi
) -> None:
    search = call("s1", "web_search", query=QUERY)
    scene = Scene().start().step(1).reply(1, search).call_starts(search, network=True)
    kept = "From the cache: brave was asked this 3 days ago. Nothing was sent.\nResults …"
    mock.add_run("kept", scene.call_ends(search, kept).finish("x"), question="x")
    await tab.goto("/runs/kept")
    await tab.ended()
    await expect(tab.page.locator("#step-1")).to_contain_text("from the cache, 3 days ago")
    await expect(tab.page.locator("main .badge-amber")).to_have_count(0)


async def test_why_there_is_no_web_is_said_in_the_run(tab: OpenedPage, mock: MockApi) -> None:
    mock.add_run("none", no_web_scene("the operator blocks web search."), question="x", web=True)
    await tab.goto("/runs/none")
    await expect(tab.page.locator(".question")).to_contain_text(
        "no web in this run the operator blocks web search."
    )
    await expect(tab.page.get_by_text("web allowed")).to_have_count(0)


# The composer


async def test_research_turns_the_web_on_for_one_send_and_says_so(
    tab: OpenedPage, mock: MockApi
) -> None:
    mock.scene = plain_scene()
    await tab.goto("/")
    page = tab.page
    web = page.get_by_role("switch")
    ask, research = (page.get_by_role("radio", name=name) for name in ("Ask", "Research"))
    await expect(ask).to_be_checked()
    await research.check(force=True)
    await expect(web).to_have_attribute("aria-checked", "true")
    await expect(page.locator(".web-notes .badge-amber")).to_have_text("▲ leaves this machine")
    await expect(page.locator(".web-notes")).to_contain_text("for this one question")
    await page.get_by_label("Ask me before each search").check()
    await tab.ask(QUESTION)
    await tab.ended()
    [body] = bodies(mock, "/api/runs")
    assert (body["web"], body["strategy"]) == (True, "research")
    assert body["approvals"] == {"web_search": "ask"}
    await expect(web).to_have_attribute("aria-checked", "false")
    await expect(ask).to_be_checked()
    await expect(page.locator(".web-notes")).to_have_count(0)
    await tab.write("And then?")
    await page.get_by_role("button", name="Send").click()
    await page.wait_for_url("**/runs/run-2")
    assert (bodies(mock, "/api/runs")[1]["web"], "strategy" in body) == (False, True)
    assert not {"strategy", "approvals"} & set(bodies(mock, "/api/runs")[1])
    kept = await storage_of(page) + await page.evaluate("() => JSON.stringify(sessionStorage)")
    assert "research" not in kept
    assert "web" not in kept


async def test_the_web_is_off_again_after_each_send_and_after_a_reload(
    tab: OpenedPage, mock: MockApi
) -> None:
    mock.scene = plain_scene()
    await tab.goto("/")
    web = tab.page.get_by_role("switch")
    await web.click()
    await expect(web).to_have_text("▲ Web: on")
    await tab.page.reload()
    await expect(web).to_have_text("Web: off")
    await web.click()
    await tab.page.get_by_label("Ask me before each search").check()
    await tab.ask(QUESTION)
    await tab.ended()
    await expect(web).to_have_text("Web: off")
    await web.click()
    await expect(tab.page.get_by_label("Ask me before each search")).not_to_be_checked()


async def test_switching_the_web_off_is_no_research_any_more(tab: OpenedPage) -> None:
    await tab.goto("/")
    await tab.page.get_by_role("radio", name="Research").check(force=True)
    await tab.page.get_by_role("switch").click()
    await expect(tab.page.get_by_role("radio", name="Ask")).to_be_checked()


async def test_deep_research_is_shown_with_the_reason_why_it_cannot_be_chosen(
    tab: OpenedPage, mock: MockApi
) -> None:
    await tab.goto("/")
    deep = tab.page.get_by_role("radio", name="Deep")
    await expect(deep).to_have_attribute("aria-disabled", "true")
    await expect(deep).to_have_accessible_description("Deep research is not in this version yet.")
    await tab.page.locator(".mode-off").click(force=True)  # it says so to whoever tries
    await expect(tab.page.get_by_role("status")).to_contain_text("not in this version yet")
    await expect(tab.page.get_by_role("radio", name="Ask")).to_be_checked()


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({}, "#contracts is confidential: once it was read, everything"),
        ({"confidential": "block"}, "nothing can be sent"),
        ({"web_search": "ask"}, "Every search asks you first, as configured."),
        ({"web_search": "block"}, "The configuration blocks web search"),
    ],
)
async def test_the_composer_says_what_the_web_means_with_these_documents(
    tab: OpenedPage, mock: MockApi, rules: Json, words: str
) -> None:
    mock.web["approvals"] |= rules
    await tab.goto("/")
    await tab.page.get_by_role("button", name="# Knowledge").click()
    await tab.page.get_by_role("menuitemcheckbox", name="#contracts").click()
    assert mock.requests_to("/api/web", "GET") == []
    await tab.page.get_by_role("switch").click()
    await expect(tab.page.locator(".web-notes")).to_contain_text(words)


# Engines


async def test_the_doctor_shows_how_the_engines_do(tab: OpenedPage) -> None:
    await tab.goto("/doctor")
    rows = tab.page.get_by_role("table").get_by_role("row")
    await expect(rows).to_have_count(4)
    await expect(rows.nth(1)).to_contain_text("duckduckgo html.duckduckgo.com")
    await expect(rows.nth(1)).to_contain_text("⊘ blocked")
    await expect(rows.nth(1)).to_contain_text("next try")
    await expect(rows.nth(2)).to_contain_text("✓ ok")
    await expect(rows.nth(2)).not_to_contain_text("next try")
    await expect(tab.page.get_by_text("Browser: off · Page and search cache: on")).to_be_visible()


# For everybody

WIDTHS = {360: 740, 768: 1024, 1280: 800}


@pytest_asyncio.fixture(loop_scope="module")
async def sized(
    browser: Browser, base_url: str, mock: MockApi, request: pytest.FixtureRequest
) -> AsyncGenerator[OpenedPage]:
    width, scheme = request.param
    mock.add_run("asking", asking_scene(), question=QUESTION)
    edited_to: Json = {"query": EDITED}
    mock.add_run("edited", decided_scene("edited", edited_to=edited_to), question=QUESTION)
    mock.add_run("research", research_scene(), question=QUESTION, web=True)
    mock.add_run("asks", research_scene(asks=True, name="asks"), question="Research that asks")
    mock.add_run("none", no_web_scene("the operator blocks web search."), question="x", web=True)
    options: dict[str, Any] = {"viewport": {"width": width, "height": WIDTHS[width]}}
    async with opened(browser, base_url, color_scheme=scheme, **options) as page:
        yield page
        assert page.foreign_requests() == []
        assert page.complaints == []


@pytest.mark.parametrize(
    "sized",
    [(width, scheme) for width in WIDTHS for scheme in ("light", "dark")],
    indirect=True,
    ids=str,
)
async def test_axe_finds_nothing_and_nothing_is_wider_than_the_screen(sized: OpenedPage) -> None:
    page = sized.page
    found: list[str] = []

    async def look(name: str) -> None:
        found.extend(f"{name}: {line}" for line in await sized.axe_violations())
        overflow = await page.evaluate(
            "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        inside = await page.evaluate(
            """() => [...document.querySelectorAll('main .scroll, .inspector .tab-panel, dialog')]
              .filter(box => box.scrollWidth > box.clientWidth + 1).map(box => box.className)"""
        )
        if overflow > 0 or inside:
            found.append(f"{name}: wider than the screen: {overflow} px, {inside}")

    await sized.goto("/runs/asking")
    await page.get_by_role("button", name="Approve").wait_for()
    await look("asking")
    await page.get_by_role("button", name="Edit").click()
    await page.locator(".approval .request").wait_for()
    await look("editing")
    await sized.goto("/runs/edited")
    await page.locator(".approval summary").first.click()
    await page.locator(".approval .request").first.wait_for()
    await look("edited")
    await sized.goto("/runs/research")
    await page.locator("#step-1 .row-line").first.click()
    await page.locator(".steps-nested > li").nth(5).wait_for()
    await look("research")
    if await page.get_by_role("tab", name="Left").count() == 0:
        await page.get_by_role("button", name="Left 4").click()
    else:
        await page.get_by_role("tab", name="Left").click()
    await page.locator(".left li").nth(3).wait_for()
    await look("left")
    await sized.goto("/runs/asks")
    await page.locator("#step-1 .approval-open").wait_for()
    await look("a child asks")
    await sized.goto("/runs/none")
    await page.get_by_text("no web in this run").wait_for()
    await look("no web")
    await sized.goto("/approvals")
    await page.locator(".approval-open").nth(1).wait_for()
    await look("inbox")
    await sized.goto("/doctor")
    await page.get_by_role("table").wait_for()
    await look("engines")
    await sized.goto("/")
    await page.locator(".mode").nth(1).click()
    await page.get_by_label("Ask me before each search").wait_for()
    await look("research chosen")
    assert found == []
