"""A4: the user's Open WebUI key goes along with their request, and stays nowhere."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from inglenook.egress import Egress
from inglenook.errors import CredentialNeeded, InvalidRequest, ToolError
from inglenook.knowledge.base import Document, KnowledgeBase, Retriever
from tests.api.serving import Answer, Client, serve
from tests.support import Bench, EmptyRetriever, NoKnowledge, bench, replies, say

CANARY = "sk-canary-0123456789abcdef"
MESSAGES = [{"role": "user", "content": "hi"}]
KEY = {"X-Open-WebUI-Key": CANARY}


@dataclass
class KeyedKnowledge(NoKnowledge):
    """Wants a key, notes what it was given, and can fail as a service fails."""

    keys: list[str | None] = field(default_factory=list[str | None])
    refuses: bool = False
    breaks: bool = False

    async def list(self, credential: str | None = None) -> Sequence[KnowledgeBase]:
        self._check(credential)
        return await super().list()

    async def open(
        self,
        knowledge_ids: Sequence[str],
        credential: str | None = None,
        egress: Egress | None = None,
    ) -> Retriever:
        self._check(credential)
        await super().open(knowledge_ids)
        return BrokenRetriever() if self.breaks else EmptyRetriever()

    def _check(self, credential: str | None) -> None:
        self.keys.append(credential)
        if credential is None:
            raise CredentialNeeded("Open WebUI wants your key")
        if self.refuses:
            raise InvalidRequest("Open WebUI refused your key", status=403)


class BrokenRetriever(EmptyRetriever):
    async def documents(self) -> Sequence[Document]:
        raise ToolError("Open WebUI answered 500")


def lies_nowhere(home: Path, caplog: pytest.LogCaptureFixture, *answers: Answer) -> None:
    canary = CANARY.encode()
    for answer in answers:
        assert canary not in answer.body
        assert CANARY not in str(answer.headers)
    assert CANARY not in caplog.text
    assert [str(r.__dict__) for r in caplog.records if CANARY in str(r.__dict__)] == []
    for path in home.rglob("*"):
        assert CANARY not in path.name
        assert path.is_dir() or canary not in path.read_bytes(), path


async def everything_about(client: Client, run_id: str) -> list[Answer]:
    path = f"/api/runs/{run_id}"
    return [
        await client.get(path),
        await client.get(f"{path}/events"),
        await client.get(f"{path}/events", headers={"Accept": "text/event-stream"}),
        await client.get(f"{path}/export"),
        await client.get(f"{path}/egress"),
        await client.get("/api/runs"),
    ]


async def ask(client: Client, face: str) -> Answer:
    if face == "/agent/run":
        body: Any = {"model": "m", "kbIds": ["kb"], "messages": MESSAGES}
        return await client.post(face, body, headers={"Authorization": f"Bearer {CANARY}"})
    if face == "/api/runs":
        body = {"model": "m", "knowledge": ["kb"], "messages": MESSAGES}
        return await client.post("/api/runs?wait=true", body, headers=KEY)
    body = {"model": "m", "runtime": {"knowledge": ["kb"]}, "messages": MESSAGES}
    return await client.post(face, body, headers=KEY)


async def one_run(b: Bench) -> str:
    [item] = (await b.service.list_runs())["items"]
    return item["id"]


FACES = ["/agent/run", "/api/runs", "/v1/chat/completions"]


@pytest.mark.parametrize("face", FACES)
async def test_the_key_reaches_the_knowledge_service_and_nothing_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, face: str
):
    caplog.set_level(logging.DEBUG)
    knowledge = KeyedKnowledge()
    async with (
        bench(tmp_path, replies(say("done")), knowledge=knowledge) as b,
        serve(b) as client,
    ):
        answer = await ask(client, face)
        assert answer.status in (200, 201), answer.body
        assert set(knowledge.keys) == {CANARY}
        assert len(knowledge.keys) >= 2, "at the start and by the run itself"
        assert b.credentials == {}, "forgotten when the run has ended"
        lies_nowhere(tmp_path, caplog, answer, *await everything_about(client, await one_run(b)))
    lies_nowhere(tmp_path, caplog)


@pytest.mark.parametrize("face", FACES)
async def test_a_refused_key_is_in_no_error(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, face: str
):
    caplog.set_level(logging.DEBUG)
    knowledge = KeyedKnowledge(refuses=True)
    async with (
        bench(tmp_path, replies(say("never")), knowledge=knowledge) as b,
        serve(b) as client,
    ):
        answer = await ask(client, face)
        assert answer.status == 403
        assert "refused your key" in str(answer.error)
        lies_nowhere(tmp_path, caplog, answer)
        assert b.credentials == {}


async def test_a_run_that_fails_does_not_tell_the_key(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.DEBUG)
    async with (
        bench(tmp_path, replies(say("never")), knowledge=KeyedKnowledge(breaks=True)) as b,
        serve(b) as client,
    ):
        answer = await ask(client, "/api/runs")
        assert answer.json["status"] == "failed"
        lies_nowhere(tmp_path, caplog, answer, *await everything_about(client, answer.json["id"]))


async def test_without_a_key_it_is_asked_for(tmp_path: Path):
    async with (
        bench(tmp_path, replies(say("never")), knowledge=KeyedKnowledge()) as b,
        serve(b) as client,
    ):
        body = {"model": "m", "knowledge": ["kb"], "messages": MESSAGES}
        answer = await client.post("/api/runs", body)
        assert (answer.status, answer.error["type"]) == (422, "credential_needed")
        assert answer.error["field"] == "X-Open-WebUI-Key"
        listed = await client.get("/api/knowledge")
        assert (listed.status, listed.error["type"]) == (422, "credential_needed")
        assert (await client.get("/api/runs")).json["items"] == []


async def test_two_users_keys_never_meet(tmp_path: Path):
    knowledge = KeyedKnowledge()
    async with (
        bench(tmp_path, replies(say("done")), knowledge=knowledge) as b,
        serve(b) as client,
    ):
        body = {"model": "m", "knowledge": ["kb"], "messages": MESSAGES}
        for key in ("sk-one", "sk-two"):
            knowledge.keys.clear()
            await client.post("/api/runs?wait=true", body, headers={"X-Open-WebUI-Key": key})
            assert set(knowledge.keys) == {key}
