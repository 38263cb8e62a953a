"""A19: model output is untrusted: without permission there is no handler to reach."""

from pathlib import Path

import pytest

from tests.api.serving import serve
from tests.features.web_faces import FACES, Searcher, ask
from tests.support import EchoTool, FunctionProvider, bench, call, say

SPELLINGS = ["web_search", "WEB_SEARCH", "functions.web_search", " web_search ", "Web_Search\n"]


@pytest.mark.parametrize("face", FACES)
async def test_a_call_that_the_model_makes_anyway_reaches_nothing(tmp_path: Path, face: str):
    model = Searcher()
    async with bench(tmp_path, model.provider, web=[model.tool]) as b, serve(b) as client:
        await ask(client, face)
        [run] = (await client.get("/api/runs")).json["items"]
        events = (await client.get(f"/api/runs/{run['id']}/events")).json
    assert model.tool.calls == []
    assert "tool_started" not in {event["type"] for event in events}


async def test_no_spelling_of_the_name_finds_a_handler(tmp_path: Path):
    web = EchoTool("web_search", open_world=True)
    calls = [call(name, f"c{n}", text="x") for n, name in enumerate(SPELLINGS)]
    provider = FunctionProvider(
        lambda view: say("done") if view[-1].role == "tool" else say("", *calls)
    )
    async with bench(tmp_path, provider, web=[web]) as b, serve(b) as client:
        got = (await ask(client, "/agent/run")).json
    assert web.calls == []
    assert [(entry["blocked"], entry["network"]) for entry in got["trace"]] == [(True, False)] * 5


async def test_with_permission_the_same_call_is_made(tmp_path: Path):
    model = Searcher()
    async with bench(tmp_path, model.provider, web=[model.tool]) as b, serve(b) as client:
        got = (await ask(client, "/agent/run", True)).json
    assert model.tool.calls == ["news"]
    [entry] = got["trace"]
    assert (entry["blocked"], entry["network"], entry["error"]) == (False, True, False)
