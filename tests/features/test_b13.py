"""B13: research at the command line with a model of OpenRouter, as the documentation shows it."""

import re
from pathlib import Path
from typing import Any

from inglenook.agent.last_step import NOT_RESEARCHED
from tests.cli.program import Done, Program
from tests.fake_duckduckgo import FakeDuckDuckGo, organic, page
from tests.scripted_replies import calls
from tests.scripted_server import ScriptedServer

MODEL = "nvidia/nemotron-3-nano-30b-a3b"
CONFIG = f"""
[[models]]
id = "nemotron"
provider = "openai"
model = "{MODEL}"
base_url = "https://openrouter.ai/api/v1"
api_key_env = "OPENROUTER_API_KEY"
context_tokens = 131072
"""
FOUND = page(organic(url="https://www.python.org/", title="Python", snippet="3.14.2"))
QUESTION = "What is the latest stable Python release and when was it released?"


async def researched(tmp_path: Path, script: list[Any]) -> tuple[Done, ScriptedServer]:
    async with (
        ScriptedServer(script, api_key="sk-or-test") as model,
        FakeDuckDuckGo(FOUND) as engine,
    ):
        config = tmp_path / "inglenook.toml"
        config.write_text(CONFIG.replace("https://openrouter.ai/api/v1", model.openai_url))
        env = (
            ("OPENROUTER_API_KEY", "sk-or-test"),
            ("INGLENOOK_WEB__DUCKDUCKGO_URL", engine.url),
            ("INGLENOOK_WEB__ENGINES", '["duckduckgo"]'),
            ("INGLENOOK_WEB__ALLOW_PRIVATE_ADDRESSES", "true"),
        )
        program = Program(home=tmp_path / "h", env=env)
        options = ("--model", "nemotron", "--max-tokens", "4096")
        done = await program.run("--config", str(config), "research", QUESTION, *options)
    return done, model


async def test_model_and_tokens_are_those_that_were_named(tmp_path: Path):
    search = calls(("web_search", {"query": "latest stable Python release"}))
    answer = calls(("final_answer", {"answer": "Python 3.14.2 [1]."}))
    done, model = await researched(tmp_path, [search, answer])
    assert (done.code, done.out) == (0, "Python 3.14.2 [1].\n"), done.err
    for chat in model.chats:
        assert chat.body["model"] == MODEL
        sizes = {chat.body.get("max_tokens"), chat.body.get("max_completion_tokens")}
        assert 4096 in sizes
        assert chat.headers["authorization"] == "Bearer sk-or-test"


async def test_a_model_that_calls_nothing_still_answers_and_it_is_said(tmp_path: Path):
    done, _ = await researched(tmp_path, ["Python 3.14 or so.", "Python 3.14 or so."])
    assert done.code == 3
    assert done.out == f"{NOT_RESEARCHED}\n\nPython 3.14 or so.\n"


def test_the_documentation_shows_just_this():
    page = (Path(__file__).parents[2] / "docs" / "research.md").read_text()
    shown = [block.strip() for block in re.findall(r"```toml\n(.*?)```", page, re.S)]
    assert CONFIG.strip() in shown
