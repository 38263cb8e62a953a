"""Which parts the settings bring together."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from inglenook.bootstrap.runtime import open_runtime
from inglenook.messages import Message
from inglenook.run_request import RunRequest
from inglenook.settings.load import load
from tests.scripted_replies import Raw
from tests.scripted_server import ScriptedServer


@pytest.mark.parametrize(("engines", "is_offered"), [('["duckduckgo"]', True), ("[]", False)])
async def test_without_an_engine_no_run_can_search_the_web(
    tmp_path: Path, engines: str, is_offered: bool
):
    async with ScriptedServer(["ok"]) as server:
        loaded = load(
            environment={
                "INGLENOOK_HOME": str(tmp_path),
                "INGLENOOK_KNOWLEDGE__EMBEDDER": "none",
                "INGLENOOK_WEB__ENGINES": engines,
                "OLLAMA_HOST": server.url,
            }
        )
        async with open_runtime(loaded) as runtime:
            question = (Message(role="user", text="?"),)
            row = await runtime.runs.start(
                RunRequest(model="scripted", messages=question, web=True)
            )
            await runtime.runs.wait(row.id)
        names = {tool["function"]["name"] for tool in server.chats[0].body["tools"]}
    assert ("web_search" in names) is is_offered


async def test_a_run_taken_up_before_its_models_server_waits_for_it(tmp_path: Path):
    """Which models there are is asked of the server, so that it is not even known by name."""
    server = ScriptedServer([Raw(pieces=[], hang=True), "Done."])
    environment = {"INGLENOOK_HOME": str(tmp_path), "INGLENOOK_KNOWLEDGE__EMBEDDER": "none"}
    async with server:
        environment["OLLAMA_HOST"] = server.url
        async with open_runtime(load(environment=environment)) as runtime:
            question = (Message(role="user", text="?"),)
            row = await runtime.runs.start(RunRequest(model="scripted", messages=question))
            async with asyncio.timeout(30):
                while not server.chats:
                    await asyncio.sleep(0.01)
    async with open_runtime(load(environment=environment)) as runtime:
        assert await runtime.engine.recover() == 1
        await runtime.engine.join(row.id)
        waiting = await runtime.runs.row(row.id)
    assert waiting.finished_at is None
    assert "named by OLLAMA_HOST, does not answer" in (waiting.explanation or "")
    async with server, open_runtime(load(environment=environment)) as runtime:
        assert await runtime.engine.recover() == 1
        assert (await runtime.runs.wait(row.id)).status == "complete"


def test_a_command_loads_no_web_framework():
    program = (
        "import sys, inglenook.cli.ask, inglenook.cli.doctor\n"
        "print([name for name in ('starlette', 'fastapi', 'uvicorn') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr


@pytest.mark.parametrize("is_on", [False, True])
async def test_reports_are_cached_only_where_the_cache_is_on(tmp_path: Path, is_on: bool):
    home = {"INGLENOOK_HOME": str(tmp_path), "INGLENOOK_KNOWLEDGE__EMBEDDER": "none"}
    loaded = load(environment=home | {"INGLENOOK_CACHE__ENABLED": str(is_on).lower()})
    async with open_runtime(loaded) as runtime:
        assert (runtime.reports is not None) == is_on
