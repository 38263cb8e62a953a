"""The web is built from settings: engines in order, services that the operator named trusted."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from inglenook.bootstrap.runtime import open_runtime
from inglenook.errors import ConfigError
from inglenook.events import ToolFinished
from inglenook.messages import Message
from inglenook.run_request import RunRequest
from inglenook.settings.load import Loaded, load
from inglenook.settings.sections import Cache
from tests.fake_searxng import FakeSearXNG, result
from tests.fake_web import Asked, FakeWeb
from tests.scripted_replies import Reply, calls
from tests.scripted_server import ScriptedServer
from tests.web.test_cookies import firefox_home


def settings(tmp_path: Path, model_url: str = "http://127.0.0.1:1", **web: str) -> Loaded:
    """`web`: settings of that section."""
    given = {f"INGLENOOK_WEB__{name.upper()}": value for name, value in web.items()}
    return load(
        environment={
            "INGLENOOK_HOME": str(tmp_path),
            "INGLENOOK_KNOWLEDGE__EMBEDDER": "none",
            "OLLAMA_HOST": model_url,
            "BRAVE_KEY": "key-canary",
            **given,
        }
    )


async def test_engines_stand_in_the_order_of_the_settings(tmp_path: Path) -> None:
    loaded = settings(
        tmp_path,
        engines='["brave", "searxng", "duckduckgo-lite", "duckduckgo"]',
        brave_api_key_env="BRAVE_KEY",
        searxng_url="http://searx.lan:8888",
    )
    async with open_runtime(loaded) as runtime:
        state = runtime.web()
    assert [(each.name, each.host) for each in state.engines] == [
        ("brave", "api.search.brave.com"),
        ("searxng", "searx.lan"),
        ("duckduckgo-lite", "lite.duckduckgo.com"),
        ("duckduckgo", "html.duckduckgo.com"),
    ]
    assert (state.web_search, state.confidential, state.browser) == ("allow", "ask", "off")
    assert "canary" not in repr(state)


async def test_engine_that_lacks_something_is_left_out(tmp_path: Path) -> None:
    loaded = settings(tmp_path, engines='["brave", "searxng", "duckduckgo"]')
    async with open_runtime(loaded) as runtime:
        assert [each.name for each in runtime.web().engines] == ["duckduckgo"]


async def test_service_in_the_own_network_is_asked_with_its_password(tmp_path: Path) -> None:
    rows = [result(url="https://a.test/", title="About otters")]
    script = [calls(("web_search", {"query": "otters"})), "Found [1]."]
    async with FakeSearXNG(results=rows) as searxng, ScriptedServer(script) as model:
        url = searxng.url.replace("//", "//me:canary@")
        loaded = settings(tmp_path, model.url, engines='["searxng"]', searxng_url=url)
        assert not loaded.settings.web.allow_private_addresses
        async with open_runtime(loaded) as runtime:
            question = (Message(role="user", text="?"),)
            row = await runtime.runs.start(
                RunRequest(model="scripted", messages=question, web=True)
            )
            await runtime.runs.wait(row.id)
            events = await runtime.runs.events(row.id)
    [card] = [event for event in events if isinstance(event, ToolFinished)]
    assert "[1] About otters" in card.result
    assert searxng.asked[0].headers["authorization"].startswith("Basic ")
    assert "canary" not in repr(events)


async def test_address_that_cannot_be_asked_is_told_at_the_start(tmp_path: Path) -> None:
    loaded = settings(tmp_path, engines='["duckduckgo"]', duckduckgo_url="http://me:canary@h:22")
    with pytest.raises(ConfigError, match="port 22 is not one of") as raised:
        async with open_runtime(loaded):
            pass
    assert "canary" not in str(raised.value)


class OtterPage(FakeWeb):
    async def answer(self, asked: Asked) -> web.Response:
        text = "<h1>Otters</h1>" + "<p>Otters live in rivers and along the coast.</p>" * 20
        return web.Response(text=text, content_type="text/html")


def visit(body: dict[str, Any]) -> Reply:
    """A model that reads the address that its user wrote."""
    return calls(("visit_webpage", {"url": body["messages"][-1]["content"].split()[-1]}))


async def visited(loaded: Loaded, url: str, *, own_port: int | None = None) -> ToolFinished:
    """How `visit_webpage` ends that a model calls with `url`, which its user wrote."""
    async with open_runtime(loaded, own_port=own_port) as runtime:
        question = (Message(role="user", text=f"Read {url}"),)
        row = await runtime.runs.start(RunRequest(model="scripted", messages=question, web=True))
        await runtime.runs.wait(row.id)
        events = await runtime.runs.events(row.id)
    [card] = [event for event in events if isinstance(event, ToolFinished)]
    return card


async def test_servers_of_this_runtime_are_no_pages_also_where_private_ones_are_read(
    tmp_path: Path,
) -> None:
    async with ScriptedServer([visit, "Done.", visit, "Done."]) as model:
        loaded = settings(tmp_path, model.url, allow_private_addresses="true")
        own = await visited(loaded, "http://127.0.0.1:8421/api/runs", own_port=8421)
        models = await visited(loaded, f"{model.url}/api/tags")
    for card in (own, models):
        assert (card.is_error, card.blocked, card.network) == (True, True, False)
        assert "belongs to this runtime" in card.result


async def test_a_page_is_read_once_for_two_runs_where_the_cache_is_on(tmp_path: Path) -> None:
    async with OtterPage() as page, ScriptedServer([visit, "Done.", visit, "Done."]) as model:
        loaded = settings(tmp_path, model.url, allow_private_addresses="true")
        cached = replace(
            loaded, settings=loaded.settings.model_copy(update={"cache": Cache(enabled=True)})
        )
        first = await visited(cached, page.url)
        second = await visited(cached, page.url)
    assert len(page.asked) == 1
    assert "along the coast" in first.result
    assert "along the coast" in second.result
    assert "cache" in second.result.lower()
    assert (first.network, second.network) == (True, False)


async def test_the_users_cookies_go_to_their_sites_alone_and_make_the_run_private(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    firefox_home(tmp_path, {"host": "mine.test", "value": "s3cr3t"})
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    async with OtterPage() as proxy, ScriptedServer([visit, "Done."] * 4) as model:
        loaded = settings(
            tmp_path, model.url, proxy=proxy.url, cookies="firefox", cookie_sites='["mine.test"]'
        )
        kept = loaded.settings.model_copy(update={"cache": Cache(enabled=True)})
        loaded = replace(loaded, settings=kept)
        own, strange = "http://mine.test/", "http://other.test/"
        mine, other, *_ = [await visited(loaded, url) for url in (own, strange, own, strange)]
    sid = "sid=s3cr3t"  # asked anew each time; the other page is kept
    assert [asked.headers.get("cookie") for asked in proxy.asked] == [sid, None, sid]
    assert (mine.labels, other.labels) == (("untrusted", "private"), ("untrusted",))


async def test_a_browser_without_a_profile_is_told_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    loaded = settings(tmp_path, cookies="firefox", cookie_sites='["mine.test"]')
    with pytest.raises(ConfigError, match="Firefox"):
        async with open_runtime(loaded):
            pass
