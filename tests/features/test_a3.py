"""A3: a browser's question goes through POST /agent/run to the agent and comes back whole."""

from pathlib import Path

from inglenook.events import RunStarted
from tests.api.serving import serve
from tests.support import EchoTool, bench, call, replies, say


async def test_a_page_of_this_server_asks_and_gets_answer_and_trace(tmp_path: Path):
    search = EchoTool("search_knowledge_base", answer=lambda _: "[1] handbook.md: 31 days")
    provider = replies(say("", call("search_knowledge_base", text="leave")), say("31 days [1]."))
    body = {
        "model": "m",
        "kbIds": ["kb"],
        "allowWeb": False,
        "messages": [{"role": "user", "content": "How many days of leave?"}],
    }
    async with (
        bench(tmp_path, provider, documents=[search]) as b,
        serve(b) as client,
    ):
        answer = await client.post("/agent/run", body, headers={"Origin": client.url})
        assert answer.status == 200
        assert answer.json["answer"] == "31 days [1]."
        assert [entry["tool"] for entry in answer.json["trace"]] == ["search_knowledge_base"]
        [started, *_] = await b.service.events(answer.json["runId"])
    assert isinstance(started, RunStarted)
    assert started.request.messages[0].text == "How many days of leave?"
    assert started.permissions.knowledge == ("kb",)
    assert started.permissions.web is False


async def test_another_sites_page_cannot_ask(tmp_path: Path):
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    async with bench(tmp_path, replies(say("never"))) as b, serve(b) as client:
        for origin in ("https://evil.example", "null", "http://127.0.0.1:1"):
            answer = await client.post("/agent/run", body, headers={"Origin": origin})
            assert answer.status == 403
        assert (await client.get("/api/runs")).json["items"] == []


async def test_its_runs_hold_the_five_tools_and_no_others(tmp_path: Path):
    """Whatever else an installation has: delegates, writes, later tools."""
    five = ["search_knowledge_base", "read_document", "get_current_datetime", "calculate"]
    others = ["delegate", "remember", "run_command"]
    provider = replies(say("x"))
    async with (
        bench(
            tmp_path,
            provider,
            documents=[EchoTool(name) for name in five[:2]],
            tools=[EchoTool(name) for name in five[2:] + others]
            + [EchoTool("write_file", effect="write")],
            web=[EchoTool("web_search", open_world=True), EchoTool("visit", open_world=True)],
        ) as b,
        serve(b) as client,
    ):
        messages = [{"role": "user", "content": "hi"}]
        body = {"model": "m", "kbIds": ["kb"], "allowWeb": True, "messages": messages}
        assert (await client.post("/agent/run", body)).status == 200
        own = {"model": "m", "knowledge": ["kb"], "web": True, "messages": messages}
        assert (await client.post("/api/runs?wait=true", own)).status == 201
    seen = [{schema.name for schema in schemas} for schemas in provider.tools]
    assert seen[0] == {*five, "web_search"}
    web = ["web_search", "visit", "web_research"]
    assert seen[1] == {*five, *others, "write_file", *web, "read_result"}
