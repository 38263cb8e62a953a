"""The web is built from settings: engines in order, services that the operator named trusted."""

from pathlib import Path

import pytest

from inglenook.bootstrap.runtime import open_runtime
from inglenook.errors import ConfigError
from inglenook.events import ToolFinished
from inglenook.messages import Message
from inglenook.run_request import RunRequest
from inglenook.settings.load import Loaded, load
from tests.fake_searxng import FakeSearXNG, result
from tests.scripted_replies import calls
from tests.scripted_server import ScriptedServer


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
