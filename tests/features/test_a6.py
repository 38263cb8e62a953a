"""A6: the system prompt lists the run's tools and its file names, asked for once a run."""

from pathlib import Path

from inglenook.bootstrap.runtime import open_runtime
from inglenook.messages import Message
from inglenook.run_request import RunRequest
from inglenook.settings.load import load
from tests.fake_open_webui import FakeBase, FakeFile, FakeOpenWebUI
from tests.scripted_replies import calls
from tests.scripted_server import ScriptedServer


async def prompt_of(tmp_path: Path, files: int) -> tuple[str, FakeOpenWebUI]:
    base = FakeBase(id="kb", name="Office", owner="sk-me")
    base.files = [FakeFile(id=f"f{n}", name=f"file-{n:03}.md", text="x") for n in range(files)]
    owui = FakeOpenWebUI(bases=[base])
    call = calls(("search_knowledge_base", {"query": "x"}))
    async with owui.serving(), ScriptedServer([call, call, "ok"]) as model:
        loaded = load(
            environment={
                "INGLENOOK_HOME": str(tmp_path),
                "INGLENOOK_KNOWLEDGE__PROVIDER": "open-webui",
                "OPENWEBUI_URL": owui.url,
                "OLLAMA_HOST": model.url,
            }
        )
        async with open_runtime(loaded) as runtime:
            request = RunRequest(
                model="scripted", messages=(Message(role="user", text="?"),), knowledge=("kb",)
            )
            row = await runtime.runs.start(request, credential="sk-me")
            owui.seen.clear()  # the check of the request's ids is not the run's own
            await runtime.runs.wait(row.id)
        systems = {chat.body["messages"][0]["content"] for chat in model.chats}
    assert len(systems) == 1, "and it is the same at every step"
    return systems.pop(), owui


async def test_tools_and_files_are_listed(tmp_path: Path):
    system, owui = await prompt_of(tmp_path, files=3)
    for name in ("search_knowledge_base", "read_document", "calculate", "get_current_datetime"):
        assert f"- {name}:" in system
    for n in range(3):
        assert f"file-{n:03}.md" in system
    assert "Documents in scope (3)" in system
    lists = [seen for seen in owui.seen if seen.path == "/api/v1/knowledge/kb/files"]
    assert len(lists) <= 1


async def test_a_long_list_is_bounded_and_counted(tmp_path: Path):
    system, _ = await prompt_of(tmp_path, files=75)
    assert system.count("file-0") == 40
    assert "Documents in scope (75)" in system
    assert "and 35 more" in system
