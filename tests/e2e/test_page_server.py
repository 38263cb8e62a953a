"""The page over the real server: its own HTTP application, run service, loop and store."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from playwright.async_api import expect

from inglenook.api.page import SECURITY_HEADERS
from inglenook.messages import ToolOutput
from inglenook.providers.base import ModelProvider
from inglenook.run_context import RunContext
from tests.api.serving import serve
from tests.api.test_openai_chat import until
from tests.e2e.browser import OpenedPage, built_page, launched, opened
from tests.support import (
    Bench,
    EchoTool,
    FunctionProvider,
    TextArguments,
    bench,
    call,
    replies,
    say,
)

CANARY = "sk-canary-93b1e7aa"
ANSWER = "Every employee has **31 days** of leave [1]."


class QuotingTool(EchoTool):
    async def run(self, arguments: TextArguments, run: RunContext) -> ToolOutput:
        quote = "Every employee has 31 days of leave."
        source = run.sources.add(kind="document", title="handbook.md", file_id="f1", quote=quote)
        return ToolOutput(text=f"[{source.n}] {quote}", sources=(source,))


@asynccontextmanager
async def page_over(
    home: Path, provider: ModelProvider, *, served: dict[str, Any] | None = None, **fields: Any
) -> AsyncGenerator[tuple[OpenedPage, Bench]]:
    folder = built_page()
    async with (
        bench(home, provider, **fields) as runtime,
        serve(runtime, page_folder=folder, **(served or {})) as client,
        launched() as browser,
        opened(browser, client.url, viewport={"width": 1280, "height": 800}) as tab,
    ):
        yield tab, runtime
        assert tab.foreign_requests() == []
        assert tab.complaints == []


async def test_a_question_is_answered_step_by_step_with_its_source(tmp_path: Path) -> None:
    provider = replies(say("", call("quote", text="leave")), say(ANSWER))
    async with page_over(tmp_path, provider, tools=[QuotingTool(name="quote")]) as (tab, _):
        await tab.goto("/")
        await tab.ask("How many days of leave?")
        await tab.ended()
        await expect(tab.page.locator("#step-1 .step-verb")).to_have_text("quote")
        await expect(tab.page.locator(".answer-text")).to_contain_text("31 days")
        await tab.page.get_by_role("button", name="Source 1").click()
        await expect(tab.page.locator(".source-lit")).to_contain_text("Every employee has 31 days")
        await tab.page.reload()
        await tab.ended()
        await expect(tab.page.get_by_role("link", name="How many days of leave?")).to_be_visible()


async def test_stop_ends_the_run_and_closes_the_models_connection(tmp_path: Path) -> None:
    provider = FunctionProvider(lambda _: say("never"), delay_s=60)
    async with page_over(tmp_path, provider) as (tab, _):
        await tab.goto("/")
        await tab.ask("x")
        await until(lambda: provider.views)
        await tab.page.get_by_role("button", name="Stop").click()
        await tab.ended("cancelled")
        assert provider.closed == 1


async def test_a_blocked_call_is_shown_as_blocked(tmp_path: Path) -> None:
    provider = replies(say("", call("web_search", query="x")), say("no"))
    async with page_over(tmp_path, provider) as (tab, _):
        await tab.goto("/")
        await tab.ask("x")
        await tab.ended()
        await expect(tab.page.locator("#step-1")).to_contain_text("blocked")
        await expect(tab.page.locator(".badge-amber")).to_have_count(0)


async def test_a_follow_up_and_an_export_work(tmp_path: Path) -> None:
    async with page_over(tmp_path, replies(say("one"), say("two"))) as (tab, _):
        await tab.goto("/")
        await tab.ask("first?")
        await tab.ended()
        first = tab.page.url
        await tab.write("second?")
        await tab.page.keyboard.press("Enter")
        await tab.page.wait_for_url(lambda url: url != first)
        await expect(tab.page.get_by_text("2 earlier messages")).to_be_visible()
        await tab.ended()
        async with tab.page.expect_download() as download:
            await tab.page.get_by_role("button", name="Export").click()
        exported = (await (await download.value).path()).read_text()
        assert "second?" in exported


async def test_the_users_key_reaches_no_event_no_export_and_no_disk(tmp_path: Path) -> None:
    served = {"knowledge_provider": "open-webui"}
    async with page_over(tmp_path, replies(say("one")), served=served) as (tab, runtime):
        await tab.goto("/settings")
        await tab.page.get_by_label("Your Open WebUI API key").fill(CANARY)
        await tab.page.get_by_role("button", name="Use this key").click()
        await tab.page.get_by_role("link", name="New question").click()
        await tab.ask("x")
        await tab.ended()
        run_id = tab.page.url.rsplit("/", 1)[1]
        assert CANARY.encode() not in await runtime.service.export(run_id)
        stored = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
        assert run_id.encode() in stored
        assert CANARY.encode() not in stored
        assert CANARY not in await tab.page.content()
        # Asked for the knowledge bases before the key was given, the server wants it.
        tab.complaints = [line for line in tab.complaints if "422" not in line]


async def test_a_server_with_a_token_asks_for_it_and_then_works(tmp_path: Path) -> None:
    async with page_over(tmp_path, replies(say("one")), served={"token": "s3cret"}) as (tab, _):
        await tab.goto("/")
        await tab.page.get_by_role("dialog").get_by_label("Token").fill("s3cret")
        await tab.page.keyboard.press("Enter")
        await expect(tab.page.get_by_role("dialog")).to_have_count(0)
        await tab.ask("x")
        await tab.ended()
        assert not any("s3cret" in url for url in tab.requested)
        tab.complaints = [line for line in tab.complaints if "401" not in line]


async def test_every_screen_opens_and_carries_the_policy(tmp_path: Path) -> None:
    async with page_over(tmp_path, replies(say("one"))) as (tab, _):
        for path in ("/", "/runs", "/approvals", "/knowledge", "/models", "/doctor", "/settings"):
            response = await tab.page.goto(tab.base_url + path)
            assert response is not None
            headers = response.headers
            policy = "Content-Security-Policy"
            assert headers[policy.lower()] == SECURITY_HEADERS[policy]
            await tab.page.locator("main h1").wait_for()
            await expect(tab.page.get_by_role("alert")).to_have_count(0)
        await tab.goto("/docs")
        await tab.page.get_by_text("/api/runs", exact=False).first.wait_for()
