"""`inglenook models …`: what is on offer, with what is wrong with it."""

from dataclasses import replace
from pathlib import Path

import pytest

from inglenook.cli.models import list_models
from inglenook.providers.demo_weights import QWEN_CODER_1_5B
from inglenook.settings.load import load
from tests.cli.program import NOBODY, Program
from tests.scripted_replies import Failure, Reply
from tests.scripted_server import ScriptedServer

CONFIG = """
[[models]]
id = "good"
provider = "ollama"
model = "scripted"
[[models]]
id = "big"
provider = "openai"
model = "big"
base_url = "http://127.0.0.1:9/v1"
api_key_env = "BIG_KEY"
"""


async def test_one_model_without_its_key_stops_nothing_else(tmp_path: Path):
    (tmp_path / "inglenook.toml").write_text(CONFIG)
    async with ScriptedServer(["One.", "Hello."]) as model:
        program = Program(home=tmp_path / "h", cwd=tmp_path, ollama_url=model.url)
        listed = await program.run("models", "list", "--json")
        errors = {each["id"]: each["error"] for each in listed.json()}
        assert errors["good"] is None
        assert "the environment has no BIG_KEY" in errors["big"]
        checks = {c["name"]: c for c in (await program.run("doctor", "--json")).json()["checks"]}
        assert "no BIG_KEY" in checks["model big"]["why"]
        assert checks["model good"]["state"] == "ok"
        assert (await program.run("ask", "x")).out == "Hello.\n"
        asked = await program.run("ask", "x", "--model", "big")
        assert asked.code == 1
        assert "model 'big': the environment has no BIG_KEY" in asked.err
        assert "Traceback" not in asked.err


async def test_a_server_that_is_down_is_named_with_its_variable(tmp_path: Path):
    done = await Program(home=tmp_path / "h", ollama_url=NOBODY).run("models", "list")
    assert done.code == 1
    assert f"Ollama at {NOBODY}, named by OLLAMA_HOST, does not answer" in done.err
    async with ScriptedServer() as model:
        program = Program(
            home=tmp_path / "h",
            ollama_url="http://anna:geheim@127.0.0.1:9",
            env=(("OPENAI_BASE_URL", model.openai_url),),
        )
        done = await program.run("models", "list")
    assert done.code == 0
    assert done.out.startswith("scripted")
    assert "named by OLLAMA_HOST, does not answer" in done.err
    assert "geheim" not in done.err


@pytest.mark.parametrize("is_fetched", [False, True])
async def test_the_demo_model_is_listed_without_being_fetched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], is_fetched: bool
):
    loaded = load(
        environment={
            "INGLENOOK_HOME": str(tmp_path / "h"),
            "INGLENOOK_CACHE": str(tmp_path / "cache"),
            "INGLENOOK_KNOWLEDGE__EMBEDDER": "none",
        }
    )
    loaded = replace(loaded, ollama_url=NOBODY)  # as its default, but surely not there
    if is_fetched:
        (tmp_path / "cache" / "models").mkdir(parents=True)
        with (tmp_path / "cache" / "models" / QWEN_CODER_1_5B.name).open("wb") as file:
            file.truncate(QWEN_CODER_1_5B.size_bytes)
    assert await list_models(loaded, as_json=False) == 0
    out = capsys.readouterr().out
    assert out.startswith(
        "demo  tools, window 8,192; calls native; 1,000 tokens: not measured yet  "
    )
    assert ("Fetched." in out, "Not fetched yet" in out) == (is_fetched, not is_fetched)
    assert (tmp_path / "cache" / "models").exists() is is_fetched
    assert not (tmp_path / "h" / "demo-model.log").exists(), "it was not started"


async def test_what_calls_have_taught_is_listed_in_words_and_as_json(tmp_path: Path):
    refused = Failure(status=400, body={"error": "scripted does not support tools"})
    words = " ".join(["four"] * 40)
    answer = Reply(content=f'{{"answer": "{words}"}}', usage=(400, 40))
    models = {"scripted": {"context_length": 8192, "loaded": 4096}}
    async with ScriptedServer([refused, answer], models=models) as model:
        program = Program(home=tmp_path / "h", ollama_url=model.url)
        assert (await program.run("ask", "2+2?")).out.strip() == words
        listed = await program.run("models", "list")
        [item] = (await program.run("models", "list", "--json")).json()
    assert "tools unknown, window 8,192, 4,096 served when last seen; " in listed.out
    assert "calls envelope, as its server refused tools; 1,000 tokens: " in listed.out
    assert "s to write" in listed.out
    assert item["tool_mode"] == {"configured": "auto", "found": "envelope", "because": "refused"}
    assert item["window"] == {"configured": None, "used": 8192, "served": 4096}
    assert item["seconds_per_1000_tokens"]["write"] > 0
