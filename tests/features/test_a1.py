"""A1: with Open WebUI's knowledge there is no second index, embedder or model server here."""

from pathlib import Path

from inglenook.bootstrap.runtime import open_runtime
from inglenook.messages import Message
from inglenook.run_request import RunRequest
from inglenook.settings.load import load
from tests.fake_open_webui import FakeBase, FakeFile, FakeOpenWebUI
from tests.scripted_replies import calls
from tests.scripted_server import ScriptedServer

FILE = FakeFile(id="f1", name="handbook.md", text="27 days of leave")


async def test_nothing_is_indexed_or_embedded_here(tmp_path: Path):
    owui = FakeOpenWebUI(bases=[FakeBase(id="kb", name="Office", owner="sk-me", files=[FILE])])
    script = [calls(("search_knowledge_base", {"query": "leave"})), "27 days [1]."]
    async with owui.serving(), ScriptedServer(script) as model:
        loaded = load(
            environment={
                "INGLENOOK_HOME": str(tmp_path),
                "INGLENOOK_KNOWLEDGE__PROVIDER": "open-webui",
                "OPENWEBUI_URL": owui.url,
                "OLLAMA_HOST": model.url,
            }
        )
        async with open_runtime(loaded) as runtime:
            assert runtime.library is None
            row = await runtime.runs.start(
                RunRequest(
                    model="scripted",
                    messages=(Message(role="user", text="leave?"),),
                    knowledge=("kb",),
                ),
                credential="sk-me",
            )
            await runtime.runs.wait(row.id)
            run = await runtime.runs.get(row.id)
        assert (run["status"], run["answer"]) == ("complete", "27 days [1].")
        assert [s["title"] for s in run["sources"] if s["cited"]] == ["handbook.md"]
        assert not (tmp_path / "knowledge").exists()
        asked = {seen.path for seen in model.requests}
        assert asked <= {"/api/tags", "/api/chat", "/api/show"}, "and no embedding is asked for"
