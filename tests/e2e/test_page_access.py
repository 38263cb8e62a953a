"""The page for everybody: axe on every screen, keyboard alone, screen readers, small screens."""

import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.e2e.browser import OpenedPage, opened
from tests.e2e.page_mock import MockApi
from tests.e2e.page_scenes import Scene, endless_scene, plain_scene, policy_scene

pytestmark = pytest.mark.asyncio(loop_scope="module")

WIDTHS = {360: 740, 768: 1024, 1280: 800}
WIDTH_WITH_RUNS = 700
"""From here on the runs stand beside the screen; below it a button opens them."""
QUESTION = "What does our policy say on paid leave, and how does it compare?"
SCREENS = [
    "/",
    "/runs/policy",
    "/approvals",
    "/knowledge",
    "/models",
    "/doctor",
    "/settings",
    "/nowhere",
]


@pytest_asyncio.fixture(loop_scope="module")
async def sized(
    browser: Browser, base_url: str, mock: MockApi, request: pytest.FixtureRequest
) -> AsyncGenerator[OpenedPage]:
    width, theme = request.param
    mock.add_run("policy", policy_scene(), question=QUESTION, knowledge=["kb-handbook"])
    mock.add_run("steps", plain_scene(), question="Compare all contracts")
    options: dict[str, Any] = {"viewport": {"width": width, "height": WIDTHS[width]}}
    scheme = "dark" if theme == "dark" else "light"
    async with opened(browser, base_url, color_scheme=scheme, **options) as page:
        if theme == "contrast":
            await page.goto("/settings")
            await page.page.get_by_label("High contrast").check()
        yield page


@pytest.mark.parametrize(
    "sized",
    [(width, theme) for width in WIDTHS for theme in ("light", "dark")] + [(1280, "contrast")],
    indirect=True,
    ids=str,
)
async def test_axe_finds_nothing_and_nothing_is_wider_than_the_screen(
    sized: OpenedPage, mock: MockApi
) -> None:
    page = sized.page
    assert page.viewport_size is not None
    width = page.viewport_size["width"]
    found: list[str] = []

    async def look(name: str) -> None:
        found.extend(f"{name}: {line}" for line in await sized.axe_violations())
        overflow = await page.evaluate(
            "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        if overflow > 0:
            found.append(f"{name}: {overflow} px wider than the screen")

    for path in SCREENS:
        # The page itself never gives 404: a deep address of another kind is the server's.
        await (sized.goto(path) if path != "/nowhere" else _go_inside(page, path))
        heading = page.locator("main h1")
        await (
            expect(heading).to_have_text("Not found") if path == "/nowhere" else heading.wait_for()
        )
        await expect(page.get_by_text("Loading…")).to_have_count(0)
        await look(path)
    await sized.goto("/runs/policy")
    await page.locator(".row-line").first.click()
    await expect(page.locator(".row-body")).to_be_visible()
    await page.get_by_role("button", name="Model: qwen3:8b").click()
    await expect(page.get_by_role("menuitemradio", name="qwen3:8b")).to_be_focused()
    await look("row and menu open")
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("menu")).to_have_count(0)
    await page.get_by_role("button", name="Source 1").click()
    for panel in ("Sources", "Left", "Events"):
        await page.get_by_role("tab", name=panel).click()
        await expect(page.get_by_role("tab", name=panel)).to_have_attribute("aria-selected", "true")
        await look(panel)
    dialog = page.get_by_role("dialog")
    await page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)
    await page.locator("main h1").focus()
    await page.keyboard.press("?")
    await expect(dialog).to_be_visible()
    await look("shortcuts")
    await page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)
    if width < WIDTH_WITH_RUNS:
        await page.get_by_role("button", name="Runs", exact=True).click()
        await expect(dialog).to_be_visible()
        await look("runs")
        await page.keyboard.press("Escape")
    mock.models = {"items": [], "default": None}
    await sized.goto("/")
    await page.get_by_role("heading", name="Three ways to get a model").wait_for()
    await look("no model")
    assert found == []


async def _go_inside(page: Page, path: str) -> None:
    await page.evaluate(
        "path => { history.pushState(null, '', path); dispatchEvent(new Event('popstate')); }", path
    )


async def test_a_whole_run_by_keyboard(tab: OpenedPage, mock: MockApi) -> None:
    mock.scene = policy_scene()
    page = tab.page
    question = page.get_by_role("textbox", name="Question")
    model = page.get_by_role("button", name="Model: qwen3:8b")
    knowledge = page.get_by_role("button", name="# Knowledge")
    handbook = page.get_by_role("menuitemcheckbox", name="#handbook")
    rows = page.locator(".steps .row-line")
    await tab.goto("/")
    await expect(model).to_be_visible()
    await tab.press("c", then=question)
    await page.keyboard.type("How many days")
    await expect(question).to_have_value("How many days")
    await tab.press("Tab", then=model)
    await tab.press("Tab", then=knowledge)
    await tab.press("Enter", then=handbook)
    await tab.press("Space", then=handbook)
    await expect(page.get_by_role("button", name="Remove handbook")).to_be_visible()
    await tab.press("Escape", then=knowledge)
    await tab.press("Shift+Escape", then=question)
    await expect(page.get_by_role("button", name="Send")).to_be_enabled()
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/runs/run-1")
    await tab.ended()
    assert mock.runs["run-1"].body["knowledge"] == ["kb-handbook"]
    await page.get_by_role("heading", level=1).focus()
    await tab.press("j", then=rows.nth(0))
    await tab.press("j", then=rows.nth(1))
    await tab.press("k", then=rows.nth(0))
    await page.keyboard.press("Enter")
    await expect(page.locator("#step-1 .row-body")).to_be_visible()
    await tab.press("i", then=page.get_by_role("tab", name="Sources"))
    await tab.press("ArrowRight", then=page.get_by_role("tab", name="Left"))
    await expect(page.get_by_text("html.duckduckgo.com")).to_be_visible()
    await tab.press("n", then=question)
    await expect(page).to_have_url(f"{tab.base_url}/")


async def test_choices_that_come_after_the_menu_was_opened_get_the_focus(
    tab: OpenedPage, mock: MockApi
) -> None:
    mock.held.add("GET /api/knowledge")
    knowledge = tab.page.get_by_role("button", name="# Knowledge")
    handbook = tab.page.get_by_role("menuitemcheckbox", name="#handbook")
    await tab.goto("/")
    await knowledge.press("Enter")
    await expect(tab.page.locator(".menu-note")).to_have_text("Loading…")
    await expect(knowledge).to_be_focused()
    mock.held.clear()
    await expect(handbook).to_be_focused()
    await tab.press("Space", then=handbook)
    await expect(handbook).to_be_checked()


async def test_choices_that_come_late_leave_the_focus_where_somebody_put_it(
    tab: OpenedPage, mock: MockApi
) -> None:
    mock.held.add("GET /api/knowledge")
    question = tab.page.get_by_role("textbox", name="Question")
    await tab.goto("/")
    await tab.page.get_by_role("button", name="# Knowledge").press("Enter")
    await question.focus()
    mock.held.clear()
    await expect(tab.page.get_by_role("menuitemcheckbox", name="#handbook")).to_be_visible()
    await expect(question).to_be_focused()


async def test_n_asks_a_new_question_from_a_screen_without_a_composer(tab: OpenedPage) -> None:
    await tab.goto("/settings")
    await tab.page.get_by_role("heading", level=1).focus()
    await tab.press("n", then=tab.page.get_by_role("textbox", name="Question"))


async def test_question_mark_lists_the_keys_and_focus_comes_back(
    tab: OpenedPage, mock: MockApi
) -> None:
    mock.add_run("policy", policy_scene(), question=QUESTION)
    await tab.goto("/runs/policy")
    row = tab.page.locator(".row-line").first
    await row.focus()
    await expect(row).to_be_focused()
    await tab.page.keyboard.press("?")
    dialog = tab.page.get_by_role("dialog", name="Keyboard")
    for words in ("New question", "Search runs", "Next step", "Stop the run", "Copy the answer"):
        await expect(dialog.get_by_text(words)).to_be_visible()
    await tab.page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)
    await expect(row).to_be_focused()


async def test_escape_stops_the_run_but_first_closes_what_is_open(
    tab: OpenedPage, mock: MockApi
) -> None:
    mock.scene = endless_scene()
    model = tab.page.get_by_role("button", name="Model: qwen3:8b")
    dialog = tab.page.get_by_role("dialog", name="Keyboard")
    await tab.goto("/")
    await tab.ask("x")
    await tab.page.get_by_role("button", name="Stop").wait_for()
    await model.click()
    await expect(tab.page.get_by_role("menuitemradio", name="qwen3:8b")).to_be_focused()
    await tab.press("Escape", then=model)
    await expect(tab.page.get_by_role("menu")).to_have_count(0)
    await tab.page.keyboard.press("Control+/")
    await expect(dialog).to_be_visible()
    await tab.press("Escape", then=model)
    await expect(dialog).to_have_count(0)
    assert mock.requests_to("/api/runs/run-1/cancel") == []
    await tab.page.keyboard.press("Escape")
    await tab.ended("cancelled")


async def test_escape_closes_a_menu_that_still_waits_for_its_choices_and_stops_nothing(
    tab: OpenedPage, mock: MockApi
) -> None:
    mock.scene = endless_scene()
    await tab.goto("/")
    await tab.ask("x")
    await tab.page.get_by_role("button", name="Stop").wait_for()
    mock.held.add("GET /api/knowledge")
    await tab.page.reload()
    await expect(tab.page.locator(".live-line")).to_be_visible()
    knowledge = tab.page.get_by_role("button", name="# Knowledge")
    await knowledge.press("Enter")
    await expect(tab.page.get_by_role("menu")).to_have_count(1)
    await tab.press("Escape", then=knowledge)
    await expect(tab.page.get_by_role("menu")).to_have_count(0)
    await tab.page.get_by_role("button", name="Stop").click()
    await tab.ended("cancelled")
    assert len(mock.requests_to("/api/runs/run-1/cancel")) == 1


async def test_single_keys_can_be_switched_off_and_never_fire_while_typing(
    tab: OpenedPage,
) -> None:
    await tab.goto("/")
    question = tab.page.get_by_role("textbox", name="Question")
    await question.press_sequentially("n/?j")
    await expect(question).to_have_value("n/?j")
    await tab.goto("/settings")
    await tab.page.get_by_label("Single keys as shortcuts").uncheck()
    await tab.page.get_by_role("heading", level=1).focus()
    await tab.page.keyboard.press("?")
    await expect(tab.page.get_by_role("dialog")).to_have_count(0)
    await tab.page.keyboard.press("Control+/")
    await expect(tab.page.get_by_role("dialog")).to_have_count(1)


async def test_screen_readers_hear_steps_and_the_end_but_no_tokens(
    tab: OpenedPage, mock: MockApi
) -> None:
    mock.scene = policy_scene(pace_s=0.05)
    mock.held.add("begun")
    await tab.goto("/")
    await tab.page.locator("[aria-live=polite]").evaluate(
        """region => {
          window.heard = [];
          new MutationObserver(() => heard.push(region.textContent))
            .observe(region, {childList: true, characterData: true, subtree: true});
        }"""
    )
    await tab.ask("x")
    await expect(tab.page.locator(".live-line")).to_be_visible()
    mock.held.clear()
    await tab.ended()
    await tab.page.wait_for_function("() => heard.join(' ').includes('complete')")
    heard = " ".join(await tab.page.evaluate("() => heard"))
    assert "Step 1, search_knowledge_base: 2 passages." in heard
    assert "Every employee" not in heard


async def test_a_followed_link_moves_the_focus_to_the_new_heading(tab: OpenedPage) -> None:
    await tab.goto("/")
    await tab.page.get_by_role("link", name="Models").click()
    await expect(tab.page.get_by_role("heading", name="Models", level=1)).to_be_focused()


async def test_a_chosen_theme_is_there_before_the_first_paint_and_after_a_reload(
    tab: OpenedPage,
) -> None:
    await tab.goto("/settings")
    await tab.page.get_by_label("Dark").check()
    await tab.page.reload(wait_until="commit")
    await tab.page.wait_for_function("() => document.body !== null")
    assert await tab.page.evaluate("() => document.documentElement.dataset.theme") == "dark"


async def test_enter_that_ends_a_composition_does_not_send(tab: OpenedPage, mock: MockApi) -> None:
    await tab.goto("/")
    question = tab.page.get_by_role("textbox", name="Question")
    await tab.write("にほん")
    await question.dispatch_event(
        "keydown", {"key": "Enter", "isComposing": True, "bubbles": True, "cancelable": True}
    )
    await tab.ask("にほんご")
    [sent] = mock.requests_to("/api/runs")
    assert json.loads(sent["body"])["messages"][-1]["content"] == "にほんご"


async def test_reduced_motion_stops_the_one_animation(browser: Browser, base_url: str) -> None:
    async with opened(browser, base_url, reduced_motion="reduce") as page:
        await page.goto("/")
        quick = "getComputedStyle(document.documentElement).getPropertyValue('--quick')"
        assert await page.page.evaluate(quick) == "0ms"


async def test_a_phone_gets_the_inspector_as_a_sheet(
    browser: Browser, base_url: str, mock: MockApi
) -> None:
    mock.add_run("policy", policy_scene(), question=QUESTION)
    async with opened(browser, base_url, viewport={"width": 360, "height": 740}) as page:
        await page.goto("/runs/policy")
        await page.page.get_by_role("button", name="Source 2").click()
        sheet = page.page.get_by_role("dialog", name="Inspector")
        await expect(sheet.locator(".source-lit")).to_contain_text("Up to five days")
        await page.page.keyboard.press("Escape")
        await expect(sheet).to_have_count(0)


async def test_a_run_that_waits_for_a_key_says_what_it_waits_for(
    tab: OpenedPage, mock: MockApi
) -> None:
    mock.config["knowledge_provider"] = "open-webui"
    scene = Scene().start().step(1).event("run_waiting", reason="needs_credential")
    mock.add_run("waits", scene, question="x")
    await tab.goto("/runs/waits")
    await expect(tab.page.locator(".live-line")).to_contain_text("waiting for a key")
    await tab.page.get_by_role("link", name="Set your Open WebUI key").click()
    await tab.page.get_by_label("Your Open WebUI API key").fill("sk-1")
    await tab.page.get_by_role("button", name="Use this key").click()
    await tab.page.go_back()
    async with tab.page.expect_response("**/credential"):
        await tab.page.get_by_role("button", name="Send my key").click()
    [given] = mock.requests_to("/api/runs/waits/credential")
    assert given["body"] == b'{"credential":"sk-1"}'
