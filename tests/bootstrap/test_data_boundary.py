"""What the settings say of confidential documents holds for whole runs, over the real parts."""

from pathlib import Path

import pytest

from inglenook.bootstrap.runtime import open_runtime
from inglenook.knowledge.base import Label
from inglenook.messages import Message
from inglenook.run_request import RunRequest
from inglenook.settings.load import load
from tests.fake_duckduckgo import FakeDuckDuckGo, organic, page
from tests.scripted_replies import calls
from tests.scripted_server import ScriptedServer

PRIVATE = ("KNOWLEDGE__PRIVATE", "any")


@pytest.mark.parametrize(
    ("label", "setting", "status", "sent"),
    [
        ("normal", (), "complete", 1),
        ("confidential", (), "waiting", 0),
        ("normal", PRIVATE, "waiting", 0),
        ("confidential", ("APPROVALS__CONFIDENTIAL", "block"), "complete", 0),
        ("confidential", ("APPROVALS__CONFIDENTIAL", "allow"), "complete", 1),
        ("normal", ("APPROVALS__WEB_SEARCH", "ask"), "waiting", 0),
        ("normal", ("APPROVALS__WEB_SEARCH", "block"), "complete", 0),
    ],
)
async def test_what_was_read_decides_what_leaves(
    tmp_path: Path, label: Label, setting: tuple[str, ...], status: str, sent: int
) -> None:
    steps = [
        calls(("search_knowledge_base", {"query": "gate code"})),
        calls(("web_search", {"query": "4711"})),
        "Done.",
    ]
    rows = page(organic(url="https://otters.test/", title="Otters"))
    async with ScriptedServer(steps) as model, FakeDuckDuckGo(rows) as engine:
        environment = {
            "INGLENOOK_HOME": str(tmp_path),
            "INGLENOOK_KNOWLEDGE__EMBEDDER": "none",
            "INGLENOOK_WEB__DUCKDUCKGO_URL": engine.url,
            "INGLENOOK_WEB__ALLOW_PRIVATE_ADDRESSES": "true",
            "OLLAMA_HOST": model.url,
        }
        if setting:
            environment[f"INGLENOOK_{setting[0]}"] = setting[1]
        async with open_runtime(load(environment=environment)) as runtime:
            assert runtime.library is not None
            base = await runtime.library.create("Board", label)
            await runtime.library.add_bytes(base.id, "gate-codes.md", b"The gate code is 4711.")
            request = RunRequest(
                model="scripted",
                messages=(Message(role="user", text="?"),),
                knowledge=(base.id,),
                web=True,
            )
            row = await runtime.runs.wait((await runtime.runs.start(request)).id)
            waiting = await runtime.runs.approvals("pending")
        prompt = str(model.chats[0].body["messages"])
    assert (row.status, len(engine.asked)) == (status, sent)
    is_private = label == "confidential" or setting == PRIVATE
    assert ("gate-codes.md" in prompt) is not is_private
    if status == "waiting":
        [item] = waiting
        assert ("gate-codes.md" in item["reason"]) is is_private
