"""A11: the full trace comes back, every call with arguments and result, before the answer."""

from pathlib import Path

from tests.api.serving import serve
from tests.support import EchoTool, bench, call, replies, say


async def test_every_call_is_in_the_trace_in_the_models_order(tmp_path: Path):
    def fails(_: str) -> str:
        raise ValueError("boom")

    provider = replies(
        say(
            "",
            call("slow", "c1", text="one"),
            call("fast", "c2", text="two"),
            call("broken", "c3", text="three"),
            call("missing", "c4"),
        ),
        say("", call("fast", "c5", text="five")),
        say("all done"),
    )
    tools = [EchoTool("slow", delay_s=0.1), EchoTool("fast"), EchoTool("broken", answer=fails)]
    body = {"model": "m", "messages": [{"role": "user", "content": "go"}]}
    async with bench(tmp_path, provider, tools=tools) as b, serve(b) as client:
        run = (await client.post("/api/runs?wait=true", body)).json
        events = (await client.get(f"/api/runs/{run['id']}/events")).json
    finished = [event for event in events if event["type"] == "tool_finished"]
    assert len(finished) == 5
    assert events[-1]["type"] == "run_finished", "steps are told before the answer"
    assert {e["call"]["id"]: e["result"] for e in finished if not e["is_error"]} == {
        "c1": "one",
        "c2": "two",
        "c5": "five",
    }


async def test_agent_run_returns_that_trace_with_its_answer(tmp_path: Path):
    provider = replies(
        say(
            "",
            call("calculate", "c1", text="one"),
            call("get_current_datetime", "c2", text="two"),
            call("missing", "c3", path="/etc"),
        ),
        say("all done"),
    )
    tools = [EchoTool("calculate", delay_s=0.1), EchoTool("get_current_datetime")]
    body = {"model": "m", "messages": [{"role": "user", "content": "go"}]}
    async with bench(tmp_path, provider, tools=tools) as b, serve(b) as client:
        got = (await client.post("/agent/run", body)).json
    assert got["answer"] == "all done"
    trace = [
        (entry["step"], entry["tool"], entry["arguments"], entry["error"]) for entry in got["trace"]
    ]
    assert trace == [
        (1, "calculate", {"text": "one"}, False),
        (1, "get_current_datetime", {"text": "two"}, False),
        (1, "missing", {"path": "/etc"}, True),
    ]
    assert [entry["result"] for entry in got["trace"]][:2] == ["one", "two"]
    assert got["trace"][0]["durationMs"] >= 100
    assert set(got["trace"][0]) == {
        *("step", "tool", "arguments", "result", "error", "blocked", "network", "durationMs")
    }
