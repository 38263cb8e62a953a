"""The page over a scripted server: ask, watch the steps, read the answer, stop, come back."""

import json
from datetime import UTC, datetime

import pytest
from playwright.async_api import Page, expect

from tests.e2e.browser import OpenedPage
from tests.e2e.page_mock import MockApi
from tests.e2e.page_scenes import (
    LEAVE,
    Scene,
    call,
    document,
    endless_scene,
    plain_scene,
    policy_scene,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")
QUESTION = "How many days of leave do I have?"


async def test_a_question_is_sent_with_its_model_and_knowledge(
    tab: OpenedPage, mock: MockApi
) -> None:
    mock.scene = plain_scene()
    await tab.goto("/")
    await tab.page.get_by_role("button", name="# Knowledge").click()
    await tab.page.get_by_role("menuitemcheckbox", name="#handbook").click()
    await expect(tab.page.get_by_role("button", name="Remove handbook")).to_be_visible()
    await tab.press("Escape", then=tab.page.get_by_role("button", name="# Knowledge"))
    await tab.ask(QUESTION)
    await tab.ended()
    [sent] = mock.requests_to("/api/runs")
    assert json.loads(sent["body"]) == {
        "model": "qwen3:8b",
        "messages": [{"role": "user", "content": QUESTION}],
        "knowledge": ["kb-handbook"],
        "web": False,
    }
    assert sent["headers"]["idempotency-key"]


async def test_the_example_question_can_be_asked_with_two_clicks(
    tab: OpenedPage, mock: MockApi
) -> None:
    mock.scene = plain_scene()
    await tab.goto("/")
    await tab.page.get_by_role("button", name="Example").click()
    await tab.page.get_by_role("button", name="Send").click()
    await tab.ended()
    body = json.loads(mock.requests_to("/api/runs")[0]["body"])
    assert body["knowledge"] == ["kb-handbook"]


async def test_thinking_is_shown_as_a_state_then_the_text_streams(
    tab: OpenedPage, mock: MockApi
) -> None:
    mock.scene = endless_scene()
    mock.held.add("thinking")
    await tab.goto("/")
    await tab.ask(QUESTION)
    await expect(tab.page.locator(".live-line")).to_contain_text("qwen3:8b is thinking")
    await expect(tab.page.locator(".answer-text")).to_have_count(0)
    mock.held.clear()
    await expect(tab.page.locator(".answer-text")).to_contain_text("word3")
    await expect(tab.page.locator(".live-line")).to_contain_text("step 1 of at most 12")


async def test_stop_cancels_the_run_and_send_stands_in_its_place(
    tab: OpenedPage, mock: MockApi
) -> None:
    mock.scene = endless_scene()
    await tab.goto("/")
    await tab.ask(QUESTION)
    await expect(tab.page.locator(".answer-text")).to_contain_text("word3")  # the page stands
    stop = tab.page.get_by_role("button", name="Stop")
    before = await stop.bounding_box()
    await stop.click()
    await tab.ended("cancelled")
    await expect(tab.page.locator(".status-line")).to_contain_text("You stopped the run.")
    assert await tab.page.get_by_role("button", name="Send").bounding_box() == before
    assert len(mock.requests_to("/api/runs/run-1/cancel")) == 1


async def test_a_run_can_be_stopped_before_its_events_are_there(
    tab: OpenedPage, mock: MockApi
) -> None:
    mock.scene = endless_scene()
    mock.held.add("GET /api/runs/run-1/events")
    await tab.goto("/")
    await tab.ask(QUESTION)
    async with tab.page.expect_response("**/api/runs/run-1/cancel"):
        await tab.page.get_by_role("button", name="Stop").click()
    mock.held.clear()
    await tab.ended("cancelled")


async def test_a_row_opens_to_arguments_result_corrections_and_the_raw_reply(
    tab: OpenedPage, mock: MockApi
) -> None:
    mock.add_run("policy", policy_scene(), question=QUESTION)
    await tab.goto("/runs/policy")
    row = tab.page.locator("#step-1")
    await row.get_by_role("button").first.click()
    await expect(row).to_contain_text('"query": "paid leave days per year"')
    await expect(row).to_contain_text(LEAVE)
    await expect(row).to_contain_text("k: '5' became 5.")
    await row.get_by_text("Raw reply").first.click()
    await expect(row).to_contain_text('"type": "model_replied"')
    await tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await row.get_by_role("button", name="Copy as JSON").click()
    await expect(tab.page.get_by_role("status").get_by_text("Copied")).to_be_visible()
    copied = json.loads(await tab.page.evaluate("() => navigator.clipboard.readText()"))
    assert copied["type"] == "tool_finished"
    assert copied["call"]["name"] == "search_knowledge_base"


async def test_calls_that_ran_side_by_side_are_bracketed(tab: OpenedPage, mock: MockApi) -> None:
    mock.add_run("policy", policy_scene(), question=QUESTION)
    await tab.goto("/runs/policy")
    await tab.ended()
    await expect(tab.page.locator(".side-by-side")).to_have_count(2)


async def test_a_citation_lights_up_its_quote_and_has_an_address(
    tab: OpenedPage, mock: MockApi
) -> None:
    mock.add_run("policy", policy_scene(), question=QUESTION)
    await tab.goto("/runs/policy")
    await tab.page.get_by_role("button", name="Source 2").click()
    lit = tab.page.locator(".source-lit")
    await expect(lit).to_contain_text("Up to five days may be carried over")
    await expect(tab.page).to_have_url(f"{tab.base_url}/runs/policy#source-2")
    await tab.page.reload()
    await expect(lit).to_contain_text("Up to five days may be carried over")


async def test_an_address_of_a_step_opens_it(tab: OpenedPage, mock: MockApi) -> None:
    mock.add_run("policy", policy_scene(), question=QUESTION)
    await tab.goto("/runs/policy#step-2")
    await expect(tab.page.locator("#step-2")).to_contain_text("statutory leave 2026")
    await expect(tab.page.locator("#step-2 .row-body")).to_be_visible()


async def test_reload_back_and_forward_keep_their_place(tab: OpenedPage, mock: MockApi) -> None:
    mock.add_run("one", plain_scene("first answer"), question="First?")
    mock.add_run("two", plain_scene("second answer"), question="Second?")
    await tab.goto("/runs/one")
    await expect(tab.page.locator(".answer-text")).to_have_text("first answer")
    await tab.page.get_by_role("link", name="Second?").click()
    await expect(tab.page.locator(".answer-text")).to_have_text("second answer")
    await tab.page.go_back()
    await expect(tab.page.locator(".answer-text")).to_have_text("first answer")
    await tab.page.go_forward()
    await expect(tab.page.locator(".answer-text")).to_have_text("second answer")
    await tab.page.reload()
    await expect(tab.page.locator("h1")).to_have_text("Second?")


async def test_a_cut_stream_resumes_after_the_last_event(tab: OpenedPage, mock: MockApi) -> None:
    look = call("c1", "read_document", name="a.md")
    scene = Scene().start().place("begun")
    for n in (1, 2, 3):
        scene.step(n).reply(n, look).call_starts(look).call_ends(look, "text")
    mock.scene = scene.step(4).reply(4, text="done").finish("done")
    mock.held.add("begun")
    mock.cut_streams_after = [5, 4]
    await tab.goto("/")
    await tab.ask(QUESTION)
    await expect(tab.page.locator(".live-line")).to_be_visible()
    mock.held.clear()
    await tab.ended()
    await expect(tab.page.locator(".steps > li")).to_have_count(4)
    streams = [
        request
        for request in mock.requests_to("/api/runs/run-1/events", "GET")
        if "text/event-stream" in request["headers"]["accept"]
    ]
    resumed = [int(request["headers"].get("last-event-id", "-1")) for request in streams]
    known = resumed[0]  # what was in the log when the page read it
    assert resumed == [known, known + 5, known + 9]


async def test_a_follow_up_carries_the_conversation(tab: OpenedPage, mock: MockApi) -> None:
    mock.add_run("one", plain_scene("391"), question="17*23?", knowledge=["kb-handbook"])
    mock.scene = plain_scene("782")
    await tab.goto("/runs/one")
    await tab.ended()
    await tab.write("Twice that?")
    await tab.page.keyboard.press("Enter")
    await tab.page.wait_for_url("**/runs/run-2")
    await expect(tab.page.get_by_text("2 earlier messages")).to_be_visible()
    body = json.loads(mock.requests_to("/api/runs")[0]["body"])
    assert [message["content"] for message in body["messages"]] == ["17*23?", "391", "Twice that?"]
    assert body["session"] == "one"
    assert body["knowledge"] == ["kb-handbook"]


async def test_replay_says_whether_the_run_is_identical(tab: OpenedPage, mock: MockApi) -> None:
    mock.add_run("one", plain_scene(), question="17*23?")
    await tab.goto("/runs/one")
    await tab.page.get_by_role("button", name="Replay").click()
    await expect(tab.page.get_by_text("Replay is identical")).to_be_visible()
    mock.replay = {"identical": False, "difference": "event 7: another result"}
    await tab.page.get_by_role("button", name="Replay").click()
    await expect(tab.page.get_by_text("event 7: another result")).to_be_visible()


async def test_export_downloads_the_log(tab: OpenedPage, mock: MockApi) -> None:
    run = mock.add_run("one", plain_scene(), question="17*23?")
    await tab.goto("/runs/one")
    async with tab.page.expect_download() as download:
        await tab.page.get_by_role("button", name="Export").click()
    file = await download.value
    assert file.suggested_filename == "one.jsonl"
    lines = (await file.path()).read_text().splitlines()
    assert [json.loads(line) for line in lines] == run.log


async def test_a_refused_run_says_why_and_what_to_do_and_keeps_the_question(
    tab: OpenedPage, mock: MockApi
) -> None:
    error = {
        "type": "unprocessable",
        "message": "The model 'gemma2:2b' takes no tools.",
        "hint": "Pick one that does.",
    }
    mock.refuse_run = (422, {"error": error})
    await tab.goto("/")
    await tab.page.get_by_role("textbox", name="Question").fill(QUESTION)
    await tab.page.get_by_role("button", name="Send").click()
    alert = tab.page.get_by_role("alert")
    await expect(alert).to_contain_text("takes no tools")
    await expect(alert).to_contain_text("Pick one that does.")
    await expect(tab.page.get_by_role("textbox", name="Question")).to_have_value(QUESTION)
    tab.complaints = [line for line in tab.complaints if "422" not in line]


async def test_a_draft_survives_a_reload(tab: OpenedPage) -> None:
    await tab.goto("/")
    await tab.page.get_by_role("textbox", name="Question").fill("half a question")
    await tab.page.reload()
    await expect(tab.page.get_by_role("textbox", name="Question")).to_have_value("half a question")


async def test_an_unknown_run_says_so(tab: OpenedPage) -> None:
    await tab.goto("/runs/nowhere")
    await expect(tab.page.get_by_role("alert")).to_contain_text("No run 'nowhere'")
    tab.complaints = [line for line in tab.complaints if "404" not in line]


async def test_streaming_never_moves_what_is_being_read(tab: OpenedPage, mock: MockApi) -> None:
    """However little was scrolled up; who goes back to the end follows it again."""
    scene = Scene().start().step(1)
    for place in ("first page", "second page", "third page", "fourth page"):
        for at in range(100):
            scene.live("text_delta", 0.003, text=f"Paragraph {at} of the {place}.\n\n")
        scene.place(place)
    mock.scene = scene
    mock.held |= {"first page", "second page", "third page", "fourth page"}
    await tab.goto("/")
    await tab.ask(QUESTION)
    scroller = tab.page.locator(".scroll")
    await expect(tab.page.get_by_text("Paragraph 99 of the first page.")).to_be_in_viewport()
    for up, page, following in (
        (-20, "first page", "second page"),
        (-900, "second page", "third page"),
    ):
        await scroller.hover()
        reading = await _scrolled(tab.page, up)
        mock.held.discard(page)
        await tab.page.get_by_text(f"Paragraph 99 of the {following}.").wait_for()
        assert abs(await scroller.evaluate("el => el.scrollTop") - reading) < 2
    await scroller.evaluate("el => { el.scrollTop = el.scrollHeight }")
    await expect(tab.page.get_by_text("Paragraph 99 of the third page.")).to_be_in_viewport()
    await tab.painted()
    mock.held.discard("third page")
    await expect(tab.page.get_by_text("Paragraph 99 of the fourth page.")).to_be_in_viewport()


async def _scrolled(page: Page, by: int) -> float:
    """Turn the wheel; where the scroll comes to rest, which is the same in ten frames."""
    top = "() => document.querySelector('.scroll').scrollTop"
    await page.evaluate(f"() => {{ window.rest = {{ from: ({top})(), top: 0, frames: 0 }} }}")
    await page.mouse.wheel(0, by)
    await page.wait_for_function(
        f"""() => {{
          const top = ({top})();
          rest.frames = top === rest.top && top !== rest.from ? rest.frames + 1 : 0;
          rest.top = top;
          return rest.frames >= 10;
        }}"""
    )
    return await page.evaluate(top)


async def test_runs_are_listed_by_day_and_can_be_searched(tab: OpenedPage, mock: MockApi) -> None:
    noon = datetime(2026, 11, 30, 12, tzinfo=UTC)
    for n in range(450):
        run = mock.add_run(f"r{n}", Scene().start(), question=f"Question number {n:03}")
        run.created_at = noon
    await tab.page.clock.set_fixed_time(noon)
    await tab.goto("/")
    await expect(tab.page.get_by_role("heading", name="Today")).to_be_visible()
    shown = await tab.page.locator(".run-link").count()
    assert 5 < shown < 60
    await tab.page.get_by_role("searchbox", name="Search runs").fill("number 007")
    await expect(tab.page.locator(".run-link")).to_have_count(1)


async def test_a_run_that_began_while_the_list_was_on_its_way_is_in_the_list(
    tab: OpenedPage, mock: MockApi
) -> None:
    mock.scene = plain_scene()
    mock.held.add("GET /api/runs")
    await tab.goto("/")
    await tab.ask(QUESTION)
    await tab.ended()
    mock.held.clear()
    await expect(tab.page.get_by_role("link", name=QUESTION)).to_be_visible()


async def test_an_answer_of_sources_only_lists_what_exists(tab: OpenedPage, mock: MockApi) -> None:
    made = call("c1", "search_knowledge_base", query="x")
    scene = Scene().start().step(1).reply(1, made).call_starts(made)
    scene.call_ends(made, "one", sources=[document(1, "a.md", "quote")])
    scene.finish("See [1] and [7].", sources=[document(1, "a.md", "quote", cited=True)])
    mock.add_run("one", scene, question="x")
    await tab.goto("/runs/one")
    await expect(tab.page.get_by_role("button", name="Source 1")).to_be_visible()
    await expect(tab.page.get_by_role("button", name="Source 7")).to_have_count(0)
    await expect(tab.page.get_by_role("tab", name="Left")).to_have_count(0)
