"""A22: a refused call is a clear error in the trace and to the model, blocked and offline."""

from pathlib import Path

from tests.api.serving import serve
from tests.features.web_faces import Searcher, ask
from tests.support import EchoTool, FunctionProvider, bench, call, say


async def test_a_refused_web_call_is_told_to_both(tmp_path: Path):
    model = Searcher()
    async with bench(tmp_path, model.provider, web=[model.tool]) as b, serve(b) as client:
        [entry] = (await ask(client, "/agent/run")).json["trace"]
    assert (entry["error"], entry["blocked"], entry["network"]) == (True, True, False)
    assert entry["result"] == (
        "'web_search' does not exist in this run: web access is off; only the user can turn it "
        "on, for one run at a time. Nothing was sent."
    )
    [told] = [message for message in model.provider.views[1] if message.role == "tool"]
    assert told.text == entry["result"]


async def test_an_unknown_tool_is_told_to_both_with_the_tools_there_are(tmp_path: Path):
    provider = FunctionProvider(
        lambda view: say("done") if view[-1].role == "tool" else say("", call("rm_rf", "c1"))
    )
    async with (
        bench(tmp_path, provider, tools=[EchoTool("calculate")]) as b,
        serve(b) as client,
    ):
        [entry] = (await ask(client, "/agent/run")).json["trace"]
    assert (entry["error"], entry["blocked"], entry["network"]) == (True, True, False)
    assert entry["result"] == "There is no tool 'rm_rf'. The tools of this run: calculate."
    [told] = [message for message in provider.views[1] if message.role == "tool"]
    assert told.text == entry["result"]


async def test_the_event_says_blocked_and_offline_too(tmp_path: Path):
    model = Searcher()
    async with bench(tmp_path, model.provider, web=[model.tool]) as b, serve(b) as client:
        run_id = (await ask(client, "/agent/run")).json["runId"]
        events = (await client.get(f"/api/runs/{run_id}/events")).json
        assert (await client.get(f"/api/runs/{run_id}/egress")).json == {"items": []}
    [finished] = [event for event in events if event["type"] == "tool_finished"]
    assert (finished["blocked"], finished["network"], finished["is_error"]) == (True, False, True)
