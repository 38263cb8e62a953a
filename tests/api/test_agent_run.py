"""POST /agent/run over HTTP: its bodies, its errors in one string, its answer (API 3)."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from inline_snapshot import snapshot

from inglenook.egress import Egress
from inglenook.errors import CredentialNeeded, ProviderError, StoreError
from inglenook.knowledge.base import KnowledgeBase, Retriever
from inglenook.providers.scripted import ScriptedProvider
from tests.api.serving import Client, serve
from tests.support import EchoTool, FunctionProvider, NoKnowledge, bench, call, replies, say

BODY = {"model": "m", "kbIds": [], "messages": [{"role": "user", "content": "hi"}]}


async def asked(client: Client, body: Any) -> tuple[int, Any]:
    answer = await client.post("/agent/run", body)
    return answer.status, answer.json


async def test_the_answer_comes_with_the_whole_trace(tmp_path: Path):
    provider = replies(
        say("", call("calculate", text="17*23"), call("nope")), say("17 times 23 is 391.")
    )
    calculate = EchoTool("calculate", answer=lambda text: str(eval(text)))
    async with bench(tmp_path, provider, tools=[calculate]) as b, serve(b) as client:
        status, answer = await asked(client, BODY)
        assert status == 200
        assert (await client.get(f"/api/runs/{answer['runId']}")).json["status"] == "complete"
    for entry in answer["trace"]:
        assert isinstance(entry.pop("durationMs"), int)
    assert answer | {"runId": "…"} == snapshot(
        {
            "answer": "17 times 23 is 391.",
            "truncated": False,
            "model": "m",
            "runId": "…",
            "status": "complete",
            "reason": None,
            "trace": [
                {
                    "step": 1,
                    "tool": "calculate",
                    "arguments": {"text": "17*23"},
                    "result": "391",
                    "error": False,
                    "blocked": False,
                    "network": False,
                },
                {
                    "step": 1,
                    "tool": "nope",
                    "arguments": {},
                    "result": "There is no tool 'nope'. The tools of this run: calculate.",
                    "error": True,
                    "blocked": True,
                    "network": False,
                },
            ],
        }
    )


async def test_the_body_may_be_as_short_as_model_and_messages(tmp_path: Path):
    async with bench(tmp_path, replies(say("x"))) as b, serve(b) as client:
        status, answer = await asked(client, {"model": "m", "messages": BODY["messages"]})
        assert (status, answer["answer"]) == (200, "x")


WRONG: list[tuple[Any, int, str]] = [
    ({**BODY, "allowWeb": "true"}, 400, "allowWeb must be a JSON boolean"),
    ({**BODY, "allowWeb": None, "other": 1}, 400, "allowWeb must be a JSON boolean"),
    ({**BODY, "allow_web": True}, 400, "unknown field 'allow_web'. See /docs."),
    ({**BODY, "web": True}, 400, "unknown field 'web'. See /docs."),
    ({**BODY, "knowledge": []}, 400, "unknown field 'knowledge'. See /docs."),
    (
        {**BODY, "kbIds": "kb"},
        400,
        "kbIds: input should be a valid array, got a string of 2 characters. See /docs.",
    ),
    ({**BODY, "kbIds": [1]}, 400, "kbIds.0: input should be a valid string, got 1. See /docs."),
    ({**BODY, "kbIds": ["nope"]}, 404, "no knowledge base 'nope'"),
    ({**BODY, "model": "gpt-9"}, 404, "there is no model 'gpt-9'; models here: m."),
    ({"messages": BODY["messages"]}, 400, "model is missing. See /docs."),
    ([], 400, "the body must be a JSON object, sent as Content-Type: application/json"),
]


async def test_every_error_is_one_string(tmp_path: Path):
    async with bench(tmp_path, replies(say("never"))) as b, serve(b) as client:
        for body, status, words in WRONG:
            assert await asked(client, body) == (status, {"error": words})
        raw = await client.post(
            "/agent/run",
            data=json.dumps(BODY)[:-1] + ', "allowWeb": false, "allowWeb": true}',
            headers={"Content-Type": "application/json"},
        )
        assert raw.status == 400
        assert raw.json == {"error": "the key 'allowWeb' stands twice in one object"}
        assert (await client.get("/api/runs")).json["items"] == []
        assert (await client.get("/agent/run")).json == {"error": "Method Not Allowed"}


async def test_a_model_that_fails_is_502_with_its_words(tmp_path: Path):
    provider = ScriptedProvider([ProviderError("the model's server is gone")])
    async with bench(tmp_path, provider) as b, serve(b) as client:
        status, answer = await asked(client, BODY)
    assert status == 502
    assert answer["error"].startswith("the model's server is gone. GET /api/runs/run_")


async def test_a_run_that_somebody_stops_is_409(tmp_path: Path):
    provider = FunctionProvider(lambda _: say("late"), delay_s=60)
    async with (
        bench(tmp_path, provider) as b,
        serve(b) as client,
        asyncio.TaskGroup() as group,
    ):
        asking = group.create_task(asked(client, BODY))
        while not (runs := (await client.get("/api/runs")).json["items"]):
            await asyncio.sleep(0.02)
        await client.post(f"/api/runs/{runs[0]['id']}/cancel")
        status, answer = await asking
        assert status == 409
        assert answer["error"].startswith("Stopped by the user.")


class LockedKnowledge(NoKnowledge):
    async def open(
        self,
        knowledge_ids: Sequence[str],
        credential: str | None = None,
        egress: Egress | None = None,
    ) -> Retriever:
        if credential is None:
            raise CredentialNeeded("Open WebUI wants a key")
        return await super().open(knowledge_ids, credential)

    async def list(self, credential: str | None = None) -> Sequence[KnowledgeBase]:
        raise StoreError("unused")


async def test_a_missing_open_webui_key_is_asked_for(tmp_path: Path):
    body = {**BODY, "kbIds": ["kb"]}
    async with (
        bench(tmp_path, replies(say("x")), knowledge=LockedKnowledge()) as b,
        serve(b) as client,
    ):
        status, answer = await asked(client, body)
        assert status == 422
        assert answer["error"].startswith("Open WebUI wants a key")
        assert "Authorization: Bearer" in answer["error"]
        assert "X-Open-WebUI-Key" not in answer["error"]
        let_in = await client.post("/agent/run", body, headers={"Authorization": "Bearer sk-1"})
        assert let_in.status == 200


async def test_a_server_that_stops_tells_where_the_answer_will_be(tmp_path: Path):
    provider = FunctionProvider(lambda _: say("late"), delay_s=60)
    stops: list[bool] = []
    async with (
        bench(tmp_path, provider) as b,
        serve(b, is_stopping=lambda: bool(stops)) as client,
        asyncio.TaskGroup() as group,
    ):
        asking = group.create_task(asked(client, BODY))
        while not provider.views:
            await asyncio.sleep(0.02)
        stops.append(True)
        status, answer = await asking
        assert status == 503
        assert "goes on at its next start" in answer["error"]
        [run] = (await client.get("/api/runs")).json["items"]
        assert run["status"] == "running"
        await b.service.cancel(run["id"])
