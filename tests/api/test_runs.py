"""/api/runs over real HTTP: start, read, list, stop, erase, export, replay."""

import asyncio
import io
import json
import sys
from pathlib import Path
from typing import Any, cast

from inline_snapshot import snapshot

from inglenook.providers.scripted import ScriptedProvider
from tests.api.serving import Client, serve
from tests.support import EchoTool, FunctionProvider, bench, call, replies, say

QUESTION = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
CHANGES = {
    *("id", "seq", "run_id", "at", "created_at", "finished_at", "today", "duration_ms"),
    *("view_digest", "tools_digest", "system", "schemas", "versions", "estimated_tokens"),
}


def told(fields: dict[str, Any]) -> dict[str, Any]:
    """What an object says, without what differs from run to run and what is empty."""
    return {
        name: told(cast(dict[str, Any], value))
        if isinstance(value, dict) and name != "call"
        else value
        for name, value in fields.items()
        if name not in CHANGES and value not in (None, [], {}, False)
    }


async def finished_run(client: Client, **fields: Any) -> dict[str, Any]:
    answer = await client.post("/api/runs?wait=true", QUESTION | fields)
    assert answer.status == 201, answer.body
    return answer.json


async def test_a_whole_run_and_its_whole_event_list(tmp_path: Path):
    provider = ScriptedProvider(
        [say("", call("echo", "c1", text="a"), call("nope", "c2")), "It is a."]
    )
    async with bench(tmp_path, provider, tools=[EchoTool()]) as b, serve(b) as client:
        started = await client.post("/api/runs", QUESTION)
        assert (started.status, started.json["status"]) == (201, "queued")
        path = f"/api/runs/{started.json['id']}"
        frames = await client.frames(f"{path}/events")
        listed = (await client.get(f"{path}/events")).json
        run = (await client.get(path)).json

    logged = [frame for frame in frames if frame.id is not None]
    assert [frame.json for frame in logged] == listed
    assert [frame.id for frame in logged] == [str(n) for n in range(len(logged))]
    assert [frame.event for frame in logged] == [event["type"] for event in listed]
    assert [told(event) for event in listed] == snapshot(
        [
            {
                "type": "run_started",
                "request": {
                    "model": "m",
                    "messages": [
                        {
                            "role": "user",
                            "text": "hi",
                            "tool_calls": [],
                            "call_id": None,
                            "tool_name": None,
                            "reasoning": None,
                        }
                    ],
                    "strategy": "assistant",
                    "limits": {},
                },
                "model": "m",
                "permissions": {
                    "delegate": True,
                    "writes": True,
                    "web_search": "allow",
                    "confidential": "ask",
                },
            },
            {
                "type": "prompt_built",
                "tools": ["echo", "read_result"],
                "max_steps": 12,
                "window": 8192,
                "token_ratio": 1.0,
            },
            {"type": "step_started", "step": 1, "remaining": 11},
            {
                "type": "model_requested",
                "step": 1,
                "purpose": "loop",
                "window": 8192,
            },
            {
                "type": "model_replied",
                "step": 1,
                "purpose": "loop",
                "message": {
                    "role": "assistant",
                    "text": "",
                    "tool_calls": [
                        {"id": "c1", "name": "echo", "arguments": {"text": "a"}},
                        {"id": "c2", "name": "nope", "arguments": {}},
                    ],
                },
                "finish_reason": "tool_calls",
                "tool_mode": "native",
            },
            {
                "type": "tool_started",
                "call": {"id": "c1", "name": "echo", "arguments": {"text": "a"}},
                "effect": "read",
            },
            {
                "type": "tool_finished",
                "call": {"id": "c1", "name": "echo", "arguments": {"text": "a"}},
                "result": "a",
            },
            {
                "type": "tool_finished",
                "call": {"id": "c2", "name": "nope", "arguments": {}},
                "result": "There is no tool 'nope'. The tools of this run: echo, read_result.",
                "is_error": True,
                "blocked": True,
            },
            {"type": "step_started", "step": 2, "remaining": 10},
            {
                "type": "model_requested",
                "step": 2,
                "purpose": "loop",
                "ordinal": 1,
                "window": 8192,
            },
            {
                "type": "model_replied",
                "step": 2,
                "purpose": "loop",
                "ordinal": 1,
                "message": {"role": "assistant", "text": "It is a."},
                "finish_reason": "stop",
                "tool_mode": "native",
            },
            {
                "type": "run_finished",
                "status": "complete",
                "explanation": "Answered after 2 steps and 2 tool calls.",
                "answer": "It is a.",
            },
        ]
    )
    assert told(run) == snapshot(
        {
            "title": "hi",
            "status": "complete",
            "explanation": "Answered after 2 steps and 2 tool calls.",
            "model": "m",
            "strategy": "assistant@1",
            "answer": "It is a.",
            "usage": {"steps": 2, "tool_calls": 2},
            "egress": {},
            "evidence": {},
        }
    )


async def test_wait_answers_201_with_what_get_answers(tmp_path: Path):
    async with bench(tmp_path, replies(say("fine"))) as b, serve(b) as client:
        run = await finished_run(client)
        assert run == (await client.get(f"/api/runs/{run['id']}")).json
        assert (run["status"], run["answer"]) == ("complete", "fine")


async def test_a_repeat_with_the_same_key_returns_the_first_run(tmp_path: Path):
    provider = replies(say("fine"))
    async with bench(tmp_path, provider) as b, serve(b) as client:
        key = {"Idempotency-Key": "k-1"}
        first = await client.post("/api/runs?wait=true", QUESTION, headers=key)
        second = await client.post("/api/runs?wait=true", QUESTION, headers=key)
        other = await client.post(
            "/api/runs?wait=true", QUESTION, headers={"Idempotency-Key": "k-2"}
        )
        assert first.json == second.json
        assert other.json["id"] != first.json["id"]
        assert len(provider.views) == 2


async def test_runs_are_listed_newest_first_in_pages(tmp_path: Path):
    async with bench(tmp_path, replies(say("fine"))) as b, serve(b) as client:
        ids = [(await finished_run(client, session=f"s{n % 2}"))["id"] for n in range(5)]
        first = (await client.get("/api/runs?limit=3")).json
        rest = (await client.get(f"/api/runs?limit=3&cursor={first['next']}")).json
        assert [item["id"] for item in first["items"] + rest["items"]] == ids[::-1]
        assert rest["next"] is None
        one = (await client.get("/api/runs?session=s1&status=complete")).json
        assert [item["id"] for item in one["items"]] == [ids[3], ids[1]]
        assert (await client.get("/api/runs?status=failed")).json == {"items": [], "next": None}


async def test_cancel_stops_a_run(tmp_path: Path):
    provider = FunctionProvider(lambda _: say("late"), delay_s=60)
    async with bench(tmp_path, provider) as b, serve(b) as client:
        path = f"/api/runs/{(await client.post('/api/runs', QUESTION)).json['id']}"
        async with client.stream(f"{path}/events") as frames:
            await frames.until("model_requested")
            assert (await client.post(f"{path}/cancel")).status == 200
            last = await frames.until("run_finished")
        assert (last.json["status"], last.json["reason"]) == ("cancelled", "cancelled_by_user")
        again = await client.post(f"{path}/cancel")
        assert (again.status, again.json["status"]) == (200, "cancelled")


async def test_a_failed_run_says_why(tmp_path: Path):
    async with bench(tmp_path, ScriptedProvider([])) as b, serve(b) as client:
        run = await finished_run(client)
        assert (run["status"], run["reason"]) == ("failed", "provider_error")
        assert "the script has no line" in run["explanation"]


async def test_an_erased_run_keeps_its_headers_and_loses_its_text(tmp_path: Path):
    async with bench(tmp_path, replies(say("the canary sings"))) as b, serve(b) as client:
        run = await finished_run(client)
        path = f"/api/runs/{run['id']}"
        erased = await client.ask("DELETE", path)
        events = (await client.get(f"{path}/events")).json
        assert erased.json == {"id": run["id"], "erased": len(events)}
        assert {event["erased"] for event in events} == {True}
        assert b"canary" not in (await client.get(f"{path}/export")).body
        assert (await client.get(path)).json["status"] == "complete"
        assert not (await b.service.verify()).problems


async def test_a_running_run_is_not_erased(tmp_path: Path):
    provider = FunctionProvider(lambda _: say("late"), delay_s=60)
    async with bench(tmp_path, provider) as b, serve(b) as client:
        id = (await client.post("/api/runs", QUESTION)).json["id"]
        refused = await client.ask("DELETE", f"/api/runs/{id}")
        assert (refused.status, refused.error["type"]) == (409, "conflict")
        await client.post(f"/api/runs/{id}/cancel")


async def test_the_export_is_the_log_as_json_lines(tmp_path: Path):
    async with bench(tmp_path, replies(say("fine"))) as b, serve(b) as client:
        run = await finished_run(client)
        answer = await client.get(f"/api/runs/{run['id']}/export")
        assert answer.headers["content-type"] == "application/x-ndjson"
        assert answer.headers["content-disposition"] == f'attachment; filename="{run["id"]}.jsonl"'
        events = (await client.get(f"/api/runs/{run['id']}/events")).json
        exported = [json.loads(line) for line in answer.body.splitlines()]
        assert all(len(event.pop("digest")) == 64 for event in exported)
        assert exported == events


async def test_a_run_that_stayed_here_has_an_empty_ledger(tmp_path: Path):
    async with bench(tmp_path, replies(say("fine"))) as b, serve(b) as client:
        run = await finished_run(client)
        assert (await client.get(f"/api/runs/{run['id']}/egress")).json == {"items": []}
        assert run["egress"] == {"requests": 0, "bytes_out": 0, "bytes_in": 0}


async def test_a_credential_that_no_run_waits_for_is_a_conflict(tmp_path: Path):
    async with bench(tmp_path, replies(say("fine"))) as b, serve(b) as client:
        run = await finished_run(client)
        answer = await client.post(f"/api/runs/{run['id']}/credential", {"credential": "sk-canary"})
        assert (answer.status, answer.error["type"]) == (409, "conflict")
        assert b"sk-canary" not in answer.body


async def test_a_wrong_credential_is_not_quoted_back(tmp_path: Path):
    async with bench(tmp_path, replies(say("fine"))) as b, serve(b) as client:
        body = {"credential": ["sk-canary"]}
        answer = await client.post("/api/runs/run_x/credential", body)
        assert (answer.status, answer.error["field"]) == (400, "credential")
        assert b"sk-canary" not in answer.body


SAYS = "import sys, json; n = len(sys.stdin.read().splitlines()); print(json.dumps({}))"


async def test_replay_hands_the_export_to_the_command_and_tells_what_it_said(tmp_path: Path):
    script = SAYS.format('{"identical": False, "difference": f"{n} events"}')
    command = (sys.executable, "-c", script)
    async with (
        bench(tmp_path, replies(say("fine"))) as b,
        serve(b, replay_command=command) as client,
    ):
        run = await finished_run(client)
        events = (await client.get(f"/api/runs/{run['id']}/events")).json
        answer = await client.post(f"/api/runs/{run['id']}/replay")
    assert answer.json == {"identical": False, "difference": f"{len(events)} events"}


async def test_the_real_replay_says_identical(tmp_path: Path):
    command = (sys.executable, "-m", "inglenook.cli.main", "replay", "--json", "-")
    provider = replies(say("", call("echo", text="a")), say("It is a."))
    async with (
        bench(tmp_path, provider, tools=[EchoTool()]) as b,
        serve(b, replay_command=command) as client,
    ):
        run = await finished_run(client)
        answer = await client.post(f"/api/runs/{run['id']}/replay")
    assert answer.json == {"identical": True, "difference": None}


async def test_a_replay_that_cannot_start_is_told_in_the_commands_words(tmp_path: Path):
    command = (sys.executable, "-c", "import sys; sys.exit('the log is erased')")
    async with (
        bench(tmp_path, replies(say("fine"))) as b,
        serve(b, replay_command=command) as client,
    ):
        run = await finished_run(client)
        answer = await client.post(f"/api/runs/{run['id']}/replay")
    assert answer.status == 422
    assert "the log is erased" in answer.error["message"]


async def test_a_running_run_is_not_replayed(tmp_path: Path):
    provider = FunctionProvider(lambda _: say("late"), delay_s=60)
    async with bench(tmp_path, provider) as b, serve(b) as client:
        id = (await client.post("/api/runs", QUESTION)).json["id"]
        assert (await client.post(f"/api/runs/{id}/replay")).status == 409
        await client.post(f"/api/runs/{id}/cancel")


MESSAGES = [{"role": "user", "content": "hi"}]


WRONG_BODIES: list[tuple[Any, int, str | None, str]] = [
    ({"model": "m"}, 400, "messages", "messages is missing"),
    ({"messages": MESSAGES}, 400, "model", "model is missing"),
    ({"model": "m", "messages": []}, 400, "messages", "at least 1"),
    ({"model": "m", "messages": "hi"}, 400, "messages", "a string of 2 characters"),
    ({"model": "m", "messages": [{"role": "user"}]}, 400, "messages.0.content", "missing"),
    (
        {"model": "m", "messages": [{"role": "tool", "content": "x"}]},
        400,
        "messages.0.role",
        "got 'tool'",
    ),
    (
        {"model": "m", "messages": [{"role": "user", "content": "x", "name": "y"}]},
        400,
        "messages.0.name",
        "unknown field 'messages.0.name'",
    ),
    (
        {"model": "m", "messages": [{"role": "assistant", "content": "x"}]},
        400,
        "messages",
        "no message of role 'user'",
    ),
    ({**QUESTION, "wbe": True}, 400, "wbe", "unknown field 'wbe'"),
    ({**QUESTION, "user": "root"}, 400, "user", "unknown field"),
    ({**QUESTION, "tools": ["x"]}, 400, "tools", "unknown field"),
    ({**QUESTION, "web": "true"}, 400, "web", "web must be a JSON boolean"),
    ({**QUESTION, "web": None}, 400, "web", "web must be a JSON boolean"),
    ({**QUESTION, "limits": {"steps": 0}}, 400, "limits.steps", "greater than or equal to 1"),
    ({**QUESTION, "limits": {"steps": True}}, 400, "limits.steps", "integer"),
    ({**QUESTION, "knowledge": ["no-such"]}, 404, "knowledge", "'no-such'"),
    ({**QUESTION, "model": "gpt-9"}, 404, "model", "models here: m"),
    ({**QUESTION, "strategy": "magic"}, 422, "strategy", "unknown strategy 'magic'"),
    ({**QUESTION, "workspace": True}, 422, "workspace", "not in this version"),
    ({**QUESTION, "approvals": {"write": "ask"}}, 422, "approvals.write", "'ask'"),
    ([QUESTION], 400, None, "must be a JSON object"),
    ("hi", 400, None, "must be a JSON object"),
]


async def test_a_wrong_body_is_refused_with_its_field(tmp_path: Path):
    async with bench(tmp_path, replies(say("never"))) as b, serve(b) as client:
        for body, status, field, words in WRONG_BODIES:
            answer = await client.post("/api/runs", body)
            assert answer.status == status, body
            assert answer.error.get("field") == field, body
            assert words in answer.error["message"], body
        assert (await client.get("/api/runs")).json["items"] == []


NO_JSON = [
    (b'{"model": "m", "model": "m"}', "application/json", "'model' stands twice"),
    (b'{"model": }', "application/json", "line 1, column 11"),
    (b'{"model": NaN}', "application/json", "NaN"),
    (b"", "application/json", "must be a JSON object"),
    (json.dumps(QUESTION).encode(), "text/plain", "Content-Type: application/json"),
]


async def test_a_body_that_is_no_json_is_refused(tmp_path: Path):
    async with bench(tmp_path, replies(say("never"))) as b, serve(b) as client:
        for data, kind, words in NO_JSON:
            answer = await client.post("/api/runs", data=data, headers={"Content-Type": kind})
            assert (answer.status, answer.error["type"]) == (400, "invalid_request"), data
            assert words in answer.error["message"], data


async def test_a_body_over_the_limit_is_413_with_the_number(tmp_path: Path):
    async with bench(tmp_path, replies(say("never"))) as b, serve(b) as client:
        big = json.dumps(QUESTION | {"metadata": {"x": "y" * (10 << 20)}}).encode()
        announced = await client.post(
            "/api/runs", data=io.BytesIO(big), headers={"Content-Type": "application/json"}
        )

        async def pieces():
            for start in range(0, len(big), 1 << 20):
                yield big[start : start + (1 << 20)]
                await asyncio.sleep(0)

        chunked = await client.post(
            "/api/runs", data=pieces(), headers={"Content-Type": "application/json"}
        )
        for answer in (announced, chunked):
            assert (answer.status, answer.error["type"]) == (413, "too_large")
            assert "10 MiB (10,485,760 bytes)" in answer.error["message"]
            assert answer.headers["x-content-type-options"] == "nosniff"


async def test_an_unknown_run_is_404_everywhere(tmp_path: Path):
    asked = [("GET", path) for path in ("", "/events", "/egress", "/export", "/nothing")]
    asked += [("POST", path) for path in ("/cancel", "/replay")] + [("DELETE", "")]
    async with bench(tmp_path, replies(say("x"))) as b, serve(b) as client:
        for method, path in asked:
            answer = await client.ask(method, f"/api/runs/run_nope{path}")
            assert (answer.status, answer.error["type"]) == (404, "not_found"), path


async def test_a_method_that_is_not_there_is_405_in_our_form(tmp_path: Path):
    async with bench(tmp_path, replies(say("x"))) as b, serve(b) as client:
        answer = await client.ask("PUT", "/api/runs")
        assert (answer.status, answer.error["type"]) == (405, "method_not_allowed")


async def test_a_wrong_query_names_its_parameter(tmp_path: Path):
    async with bench(tmp_path, replies(say("x"))) as b, serve(b) as client:
        run = await finished_run(client)
        for query in ("limit=0", "limit=201", "limit=x", "status=done", "after=-2"):
            path = "/api/runs" if "after" not in query else f"/api/runs/{run['id']}/events"
            answer = await client.get(f"{path}?{query}")
            assert (answer.status, answer.error["field"]) == (400, query.partition("=")[0])


async def test_lone_surrogates_and_nul_pass_through_a_run(tmp_path: Path):
    odd = "a\ud800b\x00c"
    provider = replies(say("", call("echo", "c1", text=odd)), say(f"said {odd}"))
    async with bench(tmp_path, provider, tools=[EchoTool()]) as b, serve(b) as client:
        messages = [{"role": "user", "content": odd}]
        run = await finished_run(client, messages=messages, metadata={odd: odd})
        assert run["answer"] == f"said {odd}"
        events = (await client.get(f"/api/runs/{run['id']}/events")).json
        assert events[0]["request"]["messages"][0]["text"] == odd
        frames = await client.frames(f"/api/runs/{run['id']}/events")
        assert [frame.json for frame in frames] == events
        assert (await client.get("/api/runs")).status == 200


async def test_an_empty_idempotency_key_is_none(tmp_path: Path):
    async with bench(tmp_path, replies(say("fine"))) as b, serve(b) as client:
        key = {"Idempotency-Key": ""}
        first = await client.post("/api/runs?wait=true", QUESTION, headers=key)
        second = await client.post("/api/runs?wait=true", QUESTION, headers=key)
        assert first.json["id"] != second.json["id"]


async def test_a_cursor_that_no_page_gave_is_refused(tmp_path: Path):
    async with bench(tmp_path, replies(say("fine"))) as b, serve(b) as client:
        for cursor in ("zzz", "", "run_", "run_0\n"):
            answer = await client.get("/api/runs", params={"cursor": cursor})
            assert (answer.status, answer.error["field"]) == (400, "cursor")
            assert "`next` of the page before" in answer.error["message"]
