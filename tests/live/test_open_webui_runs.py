"""Whole runs of a served Inglenook over a real Open WebUI: only the model is scripted."""

import asyncio
from asyncio.subprocess import Process
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.api.serving import Answer, Client
from tests.cli.program import Program, line_with
from tests.live.real_open_webui import RealOpenWebUI
from tests.scripted_replies import Raw, calls
from tests.scripted_server import ScriptedServer

pytestmark = pytest.mark.live

HANDBOOK = {"leave.md": "thirty days of leave", "pay.md": "monthly pay"}
SEARCH = calls(("search_knowledge_base", {"query": "days of leave"}))
ANSWER = "You have thirty days of leave [1]."
QUESTION = [{"role": "user", "content": "How many days of leave do I have?"}]


@dataclass(frozen=True, kw_only=True)
class Served:
    client: Client
    process: Process


def program_for(home: Path, model: ScriptedServer, server: RealOpenWebUI, key: str = "") -> Program:
    env = {
        "INGLENOOK_KNOWLEDGE__PROVIDER": "open-webui",
        "OPENWEBUI_URL": server.url,
        "INGLENOOK_OPEN_WEBUI_KEY": key,
    }
    return Program(home=home, ollama_url=model.url, env=tuple(env.items()))


@asynccontextmanager
async def served(
    home: Path, model: ScriptedServer, server: RealOpenWebUI
) -> AsyncGenerator[Served]:
    """`inglenook serve` on this home; what it said is added to the log in it."""
    process = await program_for(home, model, server).start("serve", "--port", "0", "--no-open")
    try:
        url = (await line_with(process, "Inglenook ")).rpartition(" ")[2]
        async with (
            asyncio.timeout(300),
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=120)) as session,
        ):
            yield Served(client=Client(url=url, session=session), process=process)
    finally:
        if process.returncode is None:
            process.terminate()
        _, said = await process.communicate()
        with log_of(home).open("ab") as log:
            log.write(said)


def log_of(home: Path) -> Path:
    return home / "serve.log"


async def everything_about(client: Client, run_id: str) -> list[Answer]:
    path = f"/api/runs/{run_id}"
    return [
        await client.get(path),
        await client.get(f"{path}/events"),
        await client.get(f"{path}/export"),
        await client.get(f"{path}/egress"),
        await client.get("/api/runs"),
    ]


def lie_nowhere(keys: Iterable[str], home: Path, answers: Iterable[Answer]) -> None:
    """Neither in what was answered nor in what the ended server left in its home, log included."""
    left = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    assert log_of(home) in left
    for key in keys:
        for answer in answers:
            assert key.encode() not in answer.body
            assert key not in str(answer.headers)
        for path, content in left.items():
            assert key not in path.name
            assert key.encode() not in content, path


async def waits(client: Client, run_id: str, times: int) -> None:
    """Until the run has begun to wait for a key as often as this."""
    while True:
        events: list[Mapping[str, Any]] = (await client.get(f"/api/runs/{run_id}/events")).json
        begun = [event for event in events if event["type"] == "run_waiting"]
        if len(begun) == times:
            assert {event["reason"] for event in begun} == {"needs_credential"}
            return
        await asyncio.sleep(0.1)


async def test_an_answer_cites_the_file_and_the_key_lies_nowhere(
    open_webui: RealOpenWebUI, tmp_path: Path
):
    ann, home = open_webui.user("ann"), tmp_path / "home"
    base = open_webui.base(ann, "For a run", {"pay.md": "monthly pay"})
    leave = open_webui.add_file(ann, base, "leave.md", "thirty days of leave")
    read = calls(("read_document", {"name": "pay.md"}))
    async with (
        ScriptedServer([SEARCH, read, ANSWER]) as model,
        served(home, model, open_webui) as inglenook,
    ):
        client = inglenook.client
        answer = await client.post(
            "/agent/run",
            {"model": "scripted", "kbIds": [base], "messages": QUESTION},
            headers={"Authorization": f"Bearer {ann.key}"},
        )
        assert answer.status == 200, answer.body
        body = answer.json
        assert (body["answer"], body["status"]) == (ANSWER, "complete")
        search, page = body["trace"]
        assert search["result"].startswith(f"[1] leave.md (file id {leave})\nthirty days of leave")
        assert "monthly pay" in page["result"]
        assert not search["error"]
        assert not page["error"]
        system = model.chats[0].body["messages"][0]["content"]
        assert "Documents in scope (2)" in system
        about = await everything_about(client, body["runId"])
        [source] = [source for source in about[0].json["sources"] if source["cited"]]
        assert (source["title"], source["file_id"]) == ("leave.md", leave)
        assert source["quote"] == "thirty days of leave"
        assert not any(ann.key.encode() in chat.raw for chat in model.chats)
    lie_nowhere([ann.key], home, [answer, *about])


async def test_a_run_that_may_not_begin_asks_the_model_nothing(
    open_webui: RealOpenWebUI, tmp_path: Path
):
    ann, ben, home = open_webui.user("ann"), open_webui.user("ben"), tmp_path / "home"
    own, foreign = open_webui.base(ann, "Ann's", HANDBOOK), open_webui.base(ben, "Ben's", HANDBOOK)
    wrong = f"sk-{'f' * 32}"
    cases = [
        (own, wrong, 401, "HTTP 401"),
        (foreign, ann.key, 404, "shows you no knowledge base"),
        (own, None, 422, "Authorization: Bearer"),
    ]
    async with ScriptedServer() as model, served(home, model, open_webui) as inglenook:
        answers: list[Answer] = []
        for base, key, status, text in cases:
            body = {"model": "scripted", "kbIds": [base], "messages": QUESTION}
            headers = {"Authorization": f"Bearer {key}"} if key else {}
            answer = await inglenook.client.post("/agent/run", body, headers=headers)
            assert answer.status == status, answer.body
            assert text in answer.error
            answers.append(answer)
        assert (await inglenook.client.get("/api/runs")).json["items"] == []
        assert model.chats == []
    lie_nowhere([ann.key, wrong], home, answers)


async def test_an_interrupted_run_waits_for_its_users_key_and_goes_on_with_the_right_one(
    open_webui: RealOpenWebUI, tmp_path: Path
):
    user, other, home = open_webui.user("changer"), open_webui.user("ben"), tmp_path / "home"
    base = open_webui.base(user, "Kept", HANDBOOK)
    async with ScriptedServer([SEARCH, Raw(pieces=[], hang=True)]) as model:
        async with served(home, model, open_webui) as inglenook:
            started = await inglenook.client.post(
                "/api/runs",
                {"model": "scripted", "knowledge": [base], "messages": QUESTION},
                headers={"X-Open-WebUI-Key": user.key},
            )
            assert started.status == 201, started.body
            run_id = started.json["id"]
            while len(model.chats) < 2:
                await asyncio.sleep(0.05)
            inglenook.process.kill()
        new_key = open_webui.new_key(user)
        model.add(ANSWER)
        async with served(home, model, open_webui) as inglenook:
            client, path = inglenook.client, f"/api/runs/{run_id}"
            await waits(client, run_id, 1)
            wrong = [user.key, "nonsense", other.key]
            for times, key in enumerate(wrong, start=2):
                given = await client.post(f"{path}/credential", {"credential": key})
                assert given.status == 200, given.body
                await waits(client, run_id, times)
                row = (await client.get(path)).json
                assert (row["status"], row["reason"]) == ("waiting", "needs_credential")
            assert len(model.chats) == 2, "without a key the model is not asked"
            await client.post(f"{path}/credential", {"credential": new_key})
            while (row := (await client.get(path)).json)["status"] in {"waiting", "running"}:
                await asyncio.sleep(0.1)
            assert (row["status"], row["answer"]) == ("complete", ANSWER)
            assert [source["title"] for source in row["sources"] if source["cited"]] == ["leave.md"]
            about = await everything_about(client, run_id)
    lie_nowhere([*wrong, new_key], home, about)


async def test_the_command_line_asks_with_the_key_of_its_environment(
    open_webui: RealOpenWebUI, tmp_path: Path
):
    user, home = open_webui.user("terminal"), tmp_path / "home"
    open_webui.base(user, "Handbook", HANDBOOK)
    async with ScriptedServer([SEARCH, ANSWER]) as model:
        program = program_for(home, model, open_webui, key=user.key)
        done = await program.run("ask", "--kb", "handbook", QUESTION[0]["content"])
        assert (done.code, done.out) == (0, f"{ANSWER}\n"), done.err
        log_of(home).write_text(done.err, encoding="utf-8")
    lie_nowhere([user.key], home, [])


async def test_bases_files_and_a_search_are_served_with_the_users_key(
    open_webui: RealOpenWebUI, tmp_path: Path
):
    user = open_webui.user("browser")
    base = open_webui.base(user, "Handbook", HANDBOOK)
    key = {"X-Open-WebUI-Key": user.key}
    async with ScriptedServer() as model, served(tmp_path / "home", model, open_webui) as inglenook:
        client = inglenook.client
        listed = (await client.get("/api/knowledge", headers=key)).json
        assert [(b["id"], b["name"], b["files"]) for b in listed["items"]] == [
            (base, "Handbook", 2)
        ]
        files = (await client.get(f"/api/knowledge/{base}/files", headers=key)).json["items"]
        assert {file["name"]: file["size_bytes"] for file in files} == {
            name: len(text) for name, text in HANDBOOK.items()
        }
        search = f"/api/knowledge/{base}/search?q=days%20of%20leave&k=1"
        [found] = (await client.get(search, headers=key)).json["items"]
        assert (found["file_name"], found["text"]) == ("leave.md", HANDBOOK["leave.md"])
        refused = await client.get("/api/knowledge", headers={"X-Open-WebUI-Key": "nonsense"})
        assert refused.status == 401
