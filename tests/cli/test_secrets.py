"""Keys, tokens and passwords of the settings stay in this process: nobody is shown one."""

import socket
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.program import NOBODY, Program
from tests.scripted_replies import calls
from tests.scripted_server import ScriptedServer

CANARY = "c4n4ry"


def with_password(url: str) -> str:
    return url.replace("http://", f"http://user:{CANARY}@")


@pytest.fixture
def away() -> Generator[str, None, None]:
    """The address, with a password, of something that does not answer."""
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        yield with_password(f"http://127.0.0.1:{nobody.getsockname()[1]}")


def program(folder: Path, away: str, *, ollama_url: str, more: str = "") -> Program:
    engine = away.replace(f"user:{CANARY}@", "")  # an engine with a password is refused at start
    (folder / "inglenook.toml").write_text(
        f'[server]\ntoken = "{CANARY}"\n'
        '[web]\nengines = ["searxng", "brave", "duckduckgo", "duckduckgo-lite"]\n'
        f'searxng_url = "{engine}"\nbrave_url = "{engine}"\nbrave_api_key_env = "MY_BRAVE_KEY"\n'
        f'duckduckgo_url = "{engine}"\nduckduckgo_lite_url = "{engine}"\nproxy = "{away}"\n'
        f'[open_webui]\nurl = "{away}"\n{more}'
    )
    variables = (
        ("MY_BRAVE_KEY", CANARY),
        ("MY_MODEL_KEY", CANARY),
        ("OPENAI_API_KEY", CANARY),
        ("OPENAI_BASE_URL", f"{away}/v1"),
        ("INGLENOOK_OPEN_WEBUI_KEY", CANARY),
        ("PIP_INDEX_URL", f"{away}/simple"),
    )
    return Program(home=folder / "h", cwd=folder, ollama_url=ollama_url, env=variables)


@pytest.mark.parametrize(
    "arguments", [("config", "show"), ("config", "show", "--json"), ("doctor",)], ids=" ".join
)
async def test_no_listing_shows_one(tmp_path: Path, away: str, arguments: tuple[str, ...]):
    done = await program(tmp_path, away, ollama_url=away).run(*arguments)
    told = done.out + done.err
    assert away.rpartition("@")[2] in told, "it is about these settings"
    assert CANARY not in told


async def test_no_event_or_file_of_a_run_in_which_every_engine_fails_holds_one(
    tmp_path: Path, away: str
):
    script = [calls(("web_search", {"query": "otters"})), "Nobody answered."]
    async with ScriptedServer(script) as model:
        models = (
            "[[models]]\nid = 'm'\nprovider = 'openai'\nmodel = 'scripted'\n"
            f"base_url = '{model.openai_url}'\napi_key_env = 'MY_MODEL_KEY'\n"
        )
        asking = program(tmp_path, away, ollama_url=model.url, more=models)
        done = await asking.run("ask", "What do otters do?", "--web", "--json")
        keys = {seen.headers["authorization"] for seen in model.chats}
    assert keys == {f"Bearer {CANARY}"}
    run = done.json()
    listed = await replace(asking, ollama_url=NOBODY).run("runs", "events", run["id"])
    assert run["answer"] == "Nobody answered."
    assert listed.out.count("egress_started") == 4, "each engine was tried"
    assert CANARY not in done.out + done.err + listed.out + listed.err
    for path in (tmp_path / "h").rglob("*"):
        if path.is_file():
            assert CANARY.encode() not in path.read_bytes(), path
