"""The doctor: one line a check, faults told apart, and nothing sent that nobody asked for."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

import pytest
from aiohttp import web

from inglenook.bootstrap.runtime import open_runtime
from inglenook.errors import ProviderError
from inglenook.messages import Message, Usage
from inglenook.providers.base import ModelAbilities, ModelReply, ModelSpec
from inglenook.providers.catalogue import ModelCatalogue
from inglenook.providers.model_memory import ModelMemory
from inglenook.providers.scripted import ScriptedProvider
from inglenook.providers.speed import MeasuredProvider
from inglenook.run_request import RunPermissions
from inglenook.runs.doctor import Check, check_browser, check_models, check_web_search
from inglenook.runs.starting import new_run_id, queued_row, run_started
from inglenook.settings.load import load
from inglenook.store.sqlite import SqliteStore
from inglenook.web.health import EngineHealth
from inglenook.web.search import EngineStatus
from inglenook.web.tab import BrowserError
from tests.cli.program import NOBODY
from tests.fake_open_webui import FakeBase, FakeOpenWebUI
from tests.scripted_server import ScriptedServer
from tests.support import MODEL, ask

KEY = "sk-canary-41"


async def checks_of(tmp_path: Path, environment: Mapping[str, str]) -> dict[str, Check]:
    given = {
        "INGLENOOK_HOME": str(tmp_path / "h"),
        "INGLENOOK_CACHE": str(tmp_path / "cache"),
        "INGLENOOK_KNOWLEDGE__EMBEDDER": "none",
        "OLLAMA_HOST": NOBODY,
        **environment,
    }
    async with open_runtime(load(environment=given)) as runtime:
        checks = await runtime.doctor()
    assert "canary" not in str(checks)
    names = [check.name for check in checks]
    assert len(names) == len(set(names))
    return {check.name: check for check in checks}


async def test_every_part_has_a_line(tmp_path: Path):
    async with ScriptedServer(["One."]) as model:
        checks = await checks_of(tmp_path, {"OLLAMA_HOST": model.url})
    assert list(checks) == [
        "python",
        "home",
        "model scripted",
        "embedder",
        "knowledge",
        "web search",
        "workspace",
        "store",
        "engine",
        "page",
    ]
    assert checks["model scripted"].why.startswith("answers; tools: yes, thinking: yes, window:")
    assert checks["knowledge"].why == "0 knowledge bases, 0 chunks, 0 of them embedded"
    assert checks["store"].why == "0 runs, 0 events, the hash chain is whole"
    assert checks["engine"].why == "in-process; 0 unfinished runs"
    assert checks["workspace"].why.startswith("not built yet")


@pytest.mark.parametrize(
    ("provider", "asked", "holds", "words"),
    [
        (
            "ollama",
            None,
            131_072,
            "8,192, up to 32,768 where a run needs it, the model has 131,072",
        ),
        ("ollama", 16_384, 131_072, "16,384, the model has 131,072"),
        ("ollama", 16_384, 4_096, "4,096, 16,384 asked for"),
        ("openai", None, 4_096, "4,096"),
        ("openai", 8_192, 4_096, "4,096, 8,192 asked for"),
        ("openai", None, None, "not said"),
    ],
)
async def test_the_window_that_is_served_comes_before_what_is_asked_for(
    provider: Literal["ollama", "openai"], asked: int | None, holds: int | None, words: str
):
    spec = ModelSpec(
        id="m", provider=provider, model="m", base_url="http://x", context_tokens=asked
    )
    abilities = ModelAbilities(tools=True, context_tokens=holds)
    models = ModelCatalogue(
        configured=[spec],
        discoveries=[],
        make_provider=lambda spec: ScriptedProvider(["One."], abilities=abilities),
    )
    [check] = await check_models(models)
    assert check.why.startswith(f"answers; tools: yes, thinking: not said, window: {words}; calls:")


class Counting(ScriptedProvider):
    """Counts to ten, and its server's word on its tools is `tools`."""

    def __init__(self, memory: ModelMemory, spec: ModelSpec, tools: bool | None = None) -> None:
        usage = Usage(input_tokens=40, output_tokens=9)
        message = Message(role="assistant", text="one two three four five six seven eight nine")
        reply = ModelReply(message=message, usage=usage)
        super().__init__([reply, reply], abilities=ModelAbilities(tools=tools), piece_chars=5)
        self.measured = MeasuredProvider(self, spec, memory)


def counting(spec: ModelSpec, tools: bool | None = None) -> tuple[ModelCatalogue, Counting]:
    memory = ModelMemory()
    model = Counting(memory, spec, tools)
    models = ModelCatalogue(
        configured=[spec], discoveries=[], make_provider=lambda _: model.measured, memory=memory
    )
    return models, model


async def test_a_speed_that_nobody_knows_is_measured_by_one_small_call_that_is_told():
    models, model = counting(MODEL)
    [check] = await check_models(models)
    assert re.search(r"1,000 tokens: [\d.]+ s to read, [\d.]+ s to write", check.why)
    assert check.why.endswith("(one call of 16 tokens was made to measure it)")
    [again] = await check_models(models)
    assert "one call" not in again.why
    assert [seen.options.max_output_tokens for seen in model.seen] == [16]


async def test_a_model_that_is_listed_and_does_not_answer_fails():
    models = ModelCatalogue(
        configured=[MODEL],
        discoveries=[],
        make_provider=lambda _: ScriptedProvider([ProviderError("out of memory")]),
    )
    [check] = await check_models(models)
    assert (check.state, "out of memory" in check.why) == ("fail", True)


@pytest.mark.parametrize(
    ("configured", "tools", "words"),
    [
        ("auto", None, "calls: auto, nothing found yet;"),
        ("auto", False, "calls: envelope, as its server says;"),
        ("native", None, "calls: native;"),
        ("envelope", True, "calls: envelope;"),
    ],
)
async def test_how_calls_travel_is_told(
    configured: Literal["auto", "native", "envelope"], tools: bool | None, words: str
):
    models, _ = counting(replace(MODEL, tool_mode=configured), tools)
    [check] = await check_models(models)
    assert words in check.why


async def test_a_named_server_that_is_down_has_a_line_beside_the_models_of_others(tmp_path: Path):
    async with ScriptedServer(["One."]) as model:
        checks = await checks_of(tmp_path, {"OPENAI_BASE_URL": model.openai_url})
    assert checks["model scripted"].state == "ok"
    assert checks["model server"].state == "fail"
    assert "named by OLLAMA_HOST, does not answer" in checks["model server"].why


async def test_a_demo_model_that_is_not_fetched_is_no_failure_and_is_not_fetched(tmp_path: Path):
    given = {"INGLENOOK_HOME": str(tmp_path), "INGLENOOK_KNOWLEDGE__EMBEDDER": "none"}
    loaded = load(environment=given | {"INGLENOOK_CACHE": str(tmp_path / "cache")})
    async with open_runtime(replace(loaded, ollama_url=NOBODY)) as runtime:
        [check] = [check for check in await runtime.doctor() if check.name == "model demo"]
    assert (check.state, "Not fetched yet" in check.why) == ("warn", True)
    assert "models pull" in check.fix
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    ("environment", "why"),
    [
        (
            {"INGLENOOK_WEB__ENGINES": '["duckduckgo", "duckduckgo-lite"]'},
            "duckduckgo at html.duckduckgo.com (not asked yet), duckduckgo-lite at "
            "lite.duckduckgo.com (not asked yet); for runs",
        ),
        (
            {
                "INGLENOOK_WEB__PROXY": "http://u:canary@127.0.0.1:9999/",
                "INGLENOOK_WEB__ENGINES": '["duckduckgo"]',
            },
            "duckduckgo at html.duckduckgo.com (not asked yet), through the proxy "
            "http://127.0.0.1:9999/; for",
        ),
        ({"INGLENOOK_WEB__ENGINES": "[]"}, "off: [web] engines is empty"),
        ({"INGLENOOK_APPROVALS__WEB_SEARCH": "block"}, "off: [approvals] web_search"),
    ],
)
async def test_search_is_told_and_not_tried(
    tmp_path: Path, environment: Mapping[str, str], why: str
):
    """A connection off this machine would fail the test."""
    checks = await checks_of(tmp_path, environment)
    assert checks["web search"].why.startswith(why)
    assert checks["web search"].state == "ok"


async def test_engines_that_lack_something_are_told_with_what(tmp_path: Path):
    engines = {"INGLENOOK_WEB__ENGINES": '["brave", "duckduckgo", "searxng"]'}
    checks = await checks_of(tmp_path, engines)
    assert checks["web search"].why.startswith("duckduckgo at html.duckduckgo.com (not asked yet);")
    assert "web.brave_api_key_env" in checks["web search by brave"].fix
    assert "web.searxng_url" in checks["web search by searxng"].fix
    none_left = await checks_of(tmp_path, {"INGLENOOK_WEB__ENGINES": '["brave"]'})
    assert none_left["web search"].state == "warn"


async def test_failed_engine_is_told_with_its_time():
    since = datetime(2031, 2, 3, 12, 5, tzinfo=UTC)
    health = EngineHealth(
        state="markup_changed",
        since=since,
        retry_at=since + timedelta(minutes=10),
        detail="E1 has another form.",
    )
    well = EngineStatus(name="e2", host="e2.test", health=EngineHealth(since=since))
    ill = EngineStatus(name="e1", host="e1.test", health=health)
    [check] = await check_web_search([ill, well], [], is_blocked=False, proxy=None)
    assert check.state == "warn"
    assert check.why == (
        "e1 at e1.test (markup changed since 2031-02-03 12:05 UTC, asked again from 2031-02-03 "
        "12:15 UTC on), e2 at e2.test (ok since 2031-02-03 12:05 UTC); for runs whose user turned "
        "the web on. Nothing was sent. E1 has another form."
    )


async def test_the_builtin_embedder_loads(tmp_path: Path):
    checks = await checks_of(tmp_path, {"INGLENOOK_KNOWLEDGE__EMBEDDER": "builtin"})
    if checks["embedder"].state == "warn":  # its wheel does not exist for this machine
        assert "not installed" in checks["embedder"].why
    else:
        assert checks["embedder"].why == "builtin:e5-small-q4 answers, 384 dimensions"


async def embed(request: web.Request) -> web.Response:
    """Ollama's and OpenAI's way in one."""
    if (await request.json())["model"] != "good":
        return web.json_response({"error": "no such model"}, status=404)
    row = [0.6, 0.8, 0.0]
    return web.json_response({"embeddings": [row], "data": [{"index": 0, "embedding": row}]})


@pytest.mark.parametrize("kind", ["ollama", "openai"])
async def test_an_embedder_behind_http_is_asked_for_its_dimensions(tmp_path: Path, kind: str):
    app = web.Application()
    app.router.add_post("/api/embed", embed)
    app.router.add_post("/v1/embeddings", embed)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        places = {"OLLAMA_HOST": url, "OPENAI_BASE_URL": f"{url}/v1"}
        setting = "INGLENOOK_KNOWLEDGE__EMBEDDER"
        good = (await checks_of(tmp_path, places | {setting: f"{kind}:good"}))["embedder"]
        other = (await checks_of(tmp_path, places | {setting: f"{kind}:other"}))["embedder"]
    finally:
        await runner.cleanup()
    assert (good.state, good.why) == ("ok", f"{kind}:good answers, 3 dimensions")
    assert (other.state, "has no model 'other'" in other.why) == ("fail", True)


async def test_an_embedder_whose_server_is_not_there_is_told(tmp_path: Path):
    setting = "INGLENOOK_KNOWLEDGE__EMBEDDER"
    unnamed = (await checks_of(tmp_path, {setting: "openai:any"}))["embedder"]
    assert unnamed.state == "warn"
    assert "no OPENAI_BASE_URL names its server" in unnamed.why
    down = (await checks_of(tmp_path, {setting: "ollama:any"}))["embedder"]
    assert (down.state, "cannot be reached" in down.why) == ("fail", True)


@pytest.mark.parametrize(
    ("key", "state", "words"),
    [
        (None, "ok", "answers, version 0.12.4; INGLENOOK_OPEN_WEBUI_KEY is not set"),
        (KEY, "ok", "answers, version 0.12.4; the key opens 1 knowledge base"),
        ("sk-canary-other", "fail", "answers, version 0.12.4, but not to INGLENOOK_OPEN_WEBUI_KEY"),
    ],
)
async def test_open_webui_answers_and_takes_the_key_or_not(
    tmp_path: Path, key: str | None, state: str, words: str
):
    owui = FakeOpenWebUI(bases=[FakeBase(id="kb", name="Office", owner=KEY)])
    given = {"INGLENOOK_OPEN_WEBUI_KEY": key} if key else {}
    async with owui.serving():
        given |= {"OPENWEBUI_URL": owui.url, "INGLENOOK_KNOWLEDGE__PROVIDER": "open-webui"}
        checks = await checks_of(tmp_path, given)
    check = checks["Open WebUI"]
    assert (check.state, check.why[: len(words)]) == (state, words)
    assert ("HTTP 401" in check.why) is (state == "fail")
    assert checks["knowledge"].why == "in Open WebUI, read with each user's own key"
    assert "Open WebUI embeds" in checks["embedder"].why
    assert owui.seen[0].authorization == "", "its version is asked without the key"


async def test_an_open_webui_that_is_away_barred_or_something_else_is_told_apart(tmp_path: Path):
    async def login(request: web.Request) -> web.Response:
        return web.json_response({"detail": "log in"}, status=401)

    async def why(url: str) -> str:
        check = (await checks_of(tmp_path, {"OPENWEBUI_URL": url}))["Open WebUI"]
        assert check.state == "fail"
        return check.why

    assert "cannot be reached" in await why(NOBODY)
    owui = FakeOpenWebUI(overrides={("GET", "/api/config"): login})
    async with owui.serving():
        assert "wants a login" in await why(owui.url)
    async with ScriptedServer() as model:
        assert "url` is not Open WebUI's address" in await why(model.url)
    assert "begins with http(s)" in await why("ftp://u:canary@box")


async def test_a_run_that_nobody_works_on_is_told_with_what_takes_it_up(tmp_path: Path):
    (tmp_path / "h").mkdir()
    store = SqliteStore(tmp_path / "h")
    row = queued_row(ask(), run_id=new_run_id())
    await store.create_run(row, run_started(ask(), RunPermissions(), context_version="keep@1"))
    await store.close()
    check = (await checks_of(tmp_path, {}))["engine"]
    assert check.state == "warn"
    assert check.why == "in-process; 1 unfinished run, and no server runs here"
    assert "inglenook serve" in check.fix


async def test_the_browser_that_is_set_is_looked_for(tmp_path: Path):
    def missing() -> str:
        raise BrowserError("no Chromium was found; install it")

    assert "browser" not in await checks_of(tmp_path, {})
    found = await check_browser(lambda: "/usr/bin/chromium", None)
    assert (found.state, found.why.split(";")[0]) == ("ok", "/usr/bin/chromium")
    lost = await check_browser(missing, None)
    assert (lost.state, lost.fix) == ("warn", "no Chromium was found; install it")
    assert "port 9222" in (await check_browser(missing, 9222)).why
