"""The user's key reaches their Open WebUI, and no file, no screen and no other server."""

import asyncio
import signal
from pathlib import Path

import pytest

from tests.cli.program import Done, Program, line_with
from tests.fake_open_webui import FakeBase, FakeFile, FakeOpenWebUI
from tests.scripted_replies import calls
from tests.scripted_server import ScriptedServer

KEY = "sk-canary-6d1f0c"
FILE = FakeFile(id="f1", name="handbook.md", text="27 days of leave")
SCRIPT = [calls(("search_knowledge_base", {"query": "leave"})), "27 days [1]."]


def open_webui() -> FakeOpenWebUI:
    return FakeOpenWebUI(
        bases=[
            FakeBase(id="kb-1", name="Office", owner=KEY, files=[FILE]),
            FakeBase(id="kb-2", name="Twice", owner=KEY),
            FakeBase(id="kb-3", name="twice", owner=KEY),
        ]
    )


def program_for(
    tmp_path: Path, owui: FakeOpenWebUI, model: ScriptedServer, key: str | None = KEY
) -> Program:
    env = {"INGLENOOK_KNOWLEDGE__PROVIDER": "open-webui", "OPENWEBUI_URL": owui.url}
    if key is not None:
        env["INGLENOOK_OPEN_WEBUI_KEY"] = key
    return Program(home=tmp_path / "h", ollama_url=model.url, env=tuple(env.items()))


def holds(folder: Path, text: str) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and text in path.read_text("l1")]


def shows_nothing_of_the_key(done: Done, home: Path, model: ScriptedServer) -> None:
    assert "canary" not in done.out + done.err
    assert holds(home, "canary") == []
    assert not any(b"canary" in seen.raw for seen in model.requests)
    assert not any("canary" in str(seen.headers) for seen in model.requests)


@pytest.mark.parametrize("name", ["kb-1", "office"])
async def test_the_key_opens_the_users_knowledge_base_and_is_kept_nowhere(
    tmp_path: Path, name: str
):
    owui = open_webui()
    async with owui.serving(), ScriptedServer(SCRIPT) as model:
        program = program_for(tmp_path, owui, model)
        done = await program.run("ask", "leave?", "--kb", name)
        assert (done.code, done.out) == (0, "27 days [1].\n"), done.err
        assert {seen.authorization for seen in owui.seen} == {KEY}
        shows_nothing_of_the_key(done, program.home, model)
        shown = await program.run("config", "show")
        assert 'open_webui_key = "********"    # environment INGLENOOK_OPEN_WEBUI_KEY' in shown.out
        assert "canary" not in shown.out


async def test_the_key_goes_through_the_running_server(tmp_path: Path):
    owui = open_webui()
    async with owui.serving(), ScriptedServer(SCRIPT) as model:
        server = await program_for(tmp_path, owui, model, key=None).start(
            "serve", "--port", "0", "--no-open"
        )
        await line_with(server, "Ctrl-C")
        program = program_for(tmp_path, owui, model)
        done = await program.run("ask", "leave?", "--kb", "kb-1")
        assert (done.code, done.out) == (0, "27 days [1].\n"), done.err
        without = await program_for(tmp_path, owui, model, key=None).run(
            "ask", "leave?", "--kb", "kb-1"
        )
        assert without.code == 1
        assert "Set INGLENOOK_OPEN_WEBUI_KEY" in without.err
        server.send_signal(signal.SIGINT)
        async with asyncio.timeout(60):
            out, err = await server.communicate()
        assert b"canary" not in out + err
        shows_nothing_of_the_key(done, program.home, model)


@pytest.mark.parametrize(
    ("key", "words"),
    [
        (None, "Set INGLENOOK_OPEN_WEBUI_KEY"),
        ("sk-canary-other", "HTTP 401"),
        ("sk-canary\nX-Other: 1", "key"),
        ("sk-canary-ü", "key"),
    ],
)
async def test_a_key_that_opens_nothing_is_told_and_not_shown(
    tmp_path: Path, key: str | None, words: str
):
    owui = open_webui()
    async with owui.serving(), ScriptedServer() as model:
        program = program_for(tmp_path, owui, model, key)
        done = await program.run("ask", "leave?", "--kb", "kb-1")
        assert done.code == 1
        assert words in done.err
        assert "Traceback" not in done.err
        shows_nothing_of_the_key(done, program.home, model)


async def test_a_name_that_is_none_or_stands_for_two_is_told(tmp_path: Path):
    owui = open_webui()
    async with owui.serving(), ScriptedServer() as model:
        program = program_for(tmp_path, owui, model)
        unknown = await program.run("ask", "x", "--kb", "Nope")
        assert (unknown.code, "you have: 'Office'" in unknown.err) == (1, True)
        twice = await program.run("ask", "x", "--kb", "Twice")
        assert (twice.code, "kb-2, kb-3" in twice.err) == (1, True)


async def test_a_run_without_knowledge_takes_no_key_along(tmp_path: Path):
    owui = open_webui()
    async with owui.serving(), ScriptedServer(["Hello."]) as model:
        done = await program_for(tmp_path, owui, model, "sk-canary-ü").run("ask", "hi")
        assert (done.code, done.out) == (0, "Hello.\n")
        assert owui.seen == []
