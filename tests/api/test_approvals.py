"""`/api/approvals` and the decision: what is refused, and how it is said."""

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.api.serving import Client, serve
from tests.sending import SearchTool, Wire
from tests.support import FunctionProvider, bench, call, results, say

BODY = {
    "model": "m",
    "messages": [{"role": "user", "content": "?"}],
    "web": True,
    "approvals": {"web_search": "ask"},
}
MODEL = FunctionProvider(
    lambda view: say("done") if results(view) else say("", call("web_search", "c", query="otters"))
)


async def waiting(client: Client) -> str:
    run = (await client.post("/api/runs?wait=true", BODY)).json
    assert (run["status"], run["reason"]) == ("waiting", "approval")
    assert "approve" in run["explanation"]
    return f"/api/runs/{run['id']}/approvals/c"


@pytest.mark.parametrize(
    ("body", "status", "named"),
    [
        ({}, 400, "decision"),
        ({"decision": "yes"}, 400, "decision"),
        ({"decision": "approve", "by": "me"}, 400, "by"),
        ({"decision": "edit"}, 400, "arguments"),
        ({"decision": "edit", "arguments": "otters"}, 400, "arguments"),
        ({"decision": "deny", "arguments": {"query": "x"}}, 400, "arguments"),
        ({"decision": "edit", "arguments": {}}, 422, "query"),
        ({"decision": "edit", "arguments": {"query": ["x"]}}, 422, "query"),
        ({"decision": "edit", "arguments": {"query": "x", "engine": "y"}}, 422, "engine"),
    ],
)
async def test_a_wrong_decision_is_refused_by_name_and_the_call_still_waits(
    tmp_path: Path, body: dict[str, Any], status: int, named: str
) -> None:
    wire = Wire()
    async with bench(tmp_path, MODEL, web=[SearchTool(wire)]) as b, serve(b) as client:
        place = await waiting(client)
        answer = await client.post(place, body)
        assert (answer.status, wire.sent) == (status, [])
        assert named in answer.body.decode()
        [item] = (await client.get("/api/approvals?status=pending")).json["items"]
        assert item["status"] == "pending"
        assert (await client.post(place, {"decision": "approve"})).status == 200


@pytest.mark.parametrize("id", ["call/1", "/", "f.x:0?b#c", "é %2F", "c" * 512])
async def test_a_call_is_decided_by_whatever_id_its_models_server_gave_it(
    tmp_path: Path, id: str
) -> None:
    wire = Wire()
    model = FunctionProvider(
        lambda view: say("done") if results(view) else say("", call("web_search", id, query="old"))
    )
    async with bench(tmp_path, model, web=[SearchTool(wire)]) as b, serve(b) as client:
        run = (await client.post("/api/runs?wait=true", BODY)).json
        place = f"/api/runs/{run['id']}/approvals/{quote(id, safe='')}"
        edit = {"query": "new"}
        seen = await client.post(f"{place}/preview", {"arguments": edit})
        assert seen.json["preview"] == 'Asks engine.test for "new".'
        decided = await client.post(place, {"decision": "edit", "arguments": edit})
        assert (decided.status, decided.json["call"]["id"]) == (200, id)
        await b.service.wait(run["id"])
        late = await client.post(place, {"decision": "deny"})
        assert (late.status, "edited" in late.error["message"]) == (409, True)
    assert wire.bodies == ["q=new"]


async def test_an_edit_can_be_seen_before_it_is_decided(tmp_path: Path) -> None:
    wire = Wire()
    async with bench(tmp_path, MODEL, web=[SearchTool(wire)]) as b, serve(b) as client:
        place = await waiting(client)
        seen = await client.post(f"{place}/preview", {"arguments": {"query": "seals & co"}})
        assert seen.json == {
            "preview": 'Asks engine.test for "seals & co".',
            "requests": [
                {
                    "method": "POST",
                    "url": "https://engine.test/html/",
                    "host": "engine.test",
                    "body": "q=seals+%26+co",
                }
            ],
        }
        wrong = await client.post(f"{place}/preview", {"arguments": {"q": "x"}})
        assert wrong.status == 422
    assert wire.sent == []


async def test_what_there_is_not_is_not_found(tmp_path: Path) -> None:
    async with bench(tmp_path, MODEL, web=[SearchTool(Wire())]) as b, serve(b) as client:
        place = await waiting(client)
        for wrong in (f"{place}2", "/api/runs/run_0/approvals/c", "/api/runs/run_0/approvals/%2e"):
            answer = await client.post(wrong, {"decision": "approve"})
            assert answer.status == 404
        assert (await client.get("/api/approvals?status=maybe")).status == 400
