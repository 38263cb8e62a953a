"""/v1 over HTTP: models, completions, streams, and the stop button of Open WebUI."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from inglenook.context.cleanup import NO_ANSWER
from inglenook.errors import ProviderError
from inglenook.events import RunStarted
from inglenook.messages import Message, Reasoning, ToolCall
from inglenook.providers.calls import MALFORMED_ARGUMENTS
from inglenook.providers.scripted import ScriptedProvider
from tests.api.serving import Client, serve
from tests.support import EchoTool, FunctionProvider, HeldProvider, bench, call, replies, say

QUESTION = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
PATH = "/v1/chat/completions"
THOUGHT = Message(role="assistant", text="four", reasoning=Reasoning(text="secret thought"))


async def streamed(
    client: Client, model: HeldProvider | None = None, **fields: Any
) -> list[dict[str, Any]]:
    """The chunks of a run, whose model speaks once this reader follows it."""
    chunks: list[dict[str, Any]] = []
    async with client.stream(PATH, json=QUESTION | {"stream": True} | fields) as frames:
        async for frame in frames:
            if frame.data == "[DONE]":
                return chunks
            chunks.append(frame.json)
            if model is not None and "event" in frame.json:
                model.go.set()
    raise AssertionError("the stream ended without [DONE]")


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.01)


def content(chunks: list[dict[str, Any]]) -> str:
    return "".join(
        choice["delta"].get("content", "") for chunk in chunks for choice in chunk["choices"]
    )


async def test_the_models_are_those_on_offer(tmp_path: Path):
    async with bench(tmp_path, replies(say("x"))) as b, serve(b) as client:
        assert (await client.get("/v1/models")).json == {
            "object": "list",
            "data": [{"id": "m", "object": "model", "created": 0, "owned_by": "inglenook"}],
        }


async def test_a_completion_has_answer_usage_and_how_the_run_ended(tmp_path: Path):
    provider = replies(say("", call("echo", text="a")), say("It is a."))
    async with bench(tmp_path, provider, tools=[EchoTool()]) as b, serve(b) as client:
        answer = (await client.post(PATH, QUESTION)).json
        assert answer["object"] == "chat.completion"
        [choice] = answer["choices"]
        assert choice["message"] == {"role": "assistant", "content": "It is a."}
        assert choice["finish_reason"] == "stop"
        assert answer["usage"] == {
            "prompt_tokens": 20,
            "completion_tokens": 10,
            "total_tokens": 30,
        }
        run = (await client.get(f"/api/runs/{answer['runtime']['run_id']}")).json
        assert (run["status"], answer["runtime"]["status"]) == ("complete", "complete")


async def test_a_stream_has_the_text_as_it_came_and_the_trace(tmp_path: Path):
    script = [say("", call("echo", text="a")), "It is a."]
    model = HeldProvider(ScriptedProvider(script, piece_chars=3))
    async with bench(tmp_path, model, tools=[EchoTool()]) as b, serve(b) as client:
        chunks = await streamed(client, model, stream_options={"include_usage": True})
    assert content(chunks) == "It is a."
    assert sum(bool(chunk["choices"] and chunk["choices"][0]["delta"]) for chunk in chunks) == 4
    items = [chunk["item"]["type"] for chunk in chunks if "item" in chunk]
    assert items == ["function_call", "function_call", "function_call_output"]
    assert chunks[-1]["choices"] == []
    assert chunks[-1]["usage"]["total_tokens"] == 0
    assert {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}


async def test_without_include_usage_the_last_chunk_is_the_stop(tmp_path: Path):
    async with bench(tmp_path, replies(say("x"))) as b, serve(b) as client:
        chunks = await streamed(client)
        assert chunks[-1]["choices"][0]["finish_reason"] == "stop"


async def test_a_client_that_closes_the_stream_stops_the_run(tmp_path: Path):
    provider = FunctionProvider(lambda _: say("late"), delay_s=60)
    async with bench(tmp_path, provider) as b, serve(b) as client:
        async with client.stream(PATH, json=QUESTION | {"stream": True}) as frames:
            await anext(frames)
            await until(lambda: provider.views)
        await until(lambda: provider.closed)
        [run] = (await client.get("/api/runs")).json["items"]
        row = await b.service.wait(run["id"])
        assert (row.status, row.reason) == ("cancelled", "cancelled_by_user")


async def test_a_client_that_reads_to_the_end_stops_nothing(tmp_path: Path):
    async with bench(tmp_path, replies(say("x"))) as b, serve(b) as client:
        await streamed(client)
        [run] = (await client.get("/api/runs")).json["items"]
        assert run["status"] == "complete"


async def test_a_silent_stream_is_kept_alive_by_comments(tmp_path: Path):
    model = HeldProvider(replies(say("x")))
    async with bench(tmp_path, model) as b, serve(b, heartbeat_s=0) as client:
        stream = client.stream(PATH, json=QUESTION | {"stream": True})
        async with stream as frames, asyncio.TaskGroup() as group:
            reading = group.create_task(frames.rest())
            await until(lambda: "keep-alive" in frames.comments)
            model.go.set()
        assert reading.result()[-1].data == "[DONE]"


async def test_a_model_that_fails_is_an_error_in_the_clients_form(tmp_path: Path):
    provider = ScriptedProvider([ProviderError("the model's server is gone")] * 2)
    async with bench(tmp_path, provider) as b, serve(b) as client:
        whole = await client.post(PATH, QUESTION)
        chunks = await streamed_raw(client)
    assert whole.status == 502
    assert whole.error["code"] == "provider_error"
    assert whole.error["message"].startswith("the model's server is gone")
    [error] = [chunk["error"] for chunk in chunks if "error" in chunk]
    assert error["message"] == "the model's server is gone"


async def streamed_raw(client: Client) -> list[dict[str, Any]]:
    frames = await client.frames(PATH, json=QUESTION | {"stream": True})
    return [json.loads(frame.data) for frame in frames[:-1]]


async def test_unknown_parameters_are_ignored_and_known_ones_checked(tmp_path: Path):
    ignored = {
        "temperature": 0.2, "n": 1, "top_p": 1, "seed": 3, "user": "u", "stop": ["x"],
        "tools": [{"type": "function", "function": {"name": "get_weather"}}],
        "tool_choice": "auto", "function_calling": "native",
    }  # fmt: skip
    wrong: list[tuple[dict[str, Any], int, str]] = [
        ({"model": "gpt-9"}, 404, "model"),
        ({"messages": []}, 400, "messages"),
        ({"messages": [{"role": "root", "content": "x"}]}, 400, "messages.0.role"),
        ({"max_tokens": 0}, 400, "max_tokens"),
        ({"runtime": {"web": "true"}}, 400, "runtime.web"),
        ({"runtime": {"web": 1}}, 400, "runtime.web"),
        ({"runtime": {"web": None}}, 400, "runtime.web"),
        ({"runtime": {"knowledge": ["no"]}}, 404, "knowledge"),
        ({"runtime": {"workspace": True}}, 422, "workspace"),
    ]
    async with bench(tmp_path, replies(say("x"))) as b, serve(b) as client:
        assert (await client.post(PATH, QUESTION | ignored)).status == 200
        for fields, status, param in wrong:
            answer = await client.post(PATH, QUESTION | fields)
            assert (answer.status, answer.error["param"]) == (status, param), fields
            assert set(answer.error) == {"message", "type", "param", "code"}


async def test_the_runtime_object_sets_scope_and_permissions(tmp_path: Path):
    web = EchoTool("web_search", open_world=True)
    async with bench(tmp_path, replies(say("x")), web=[web]) as b, serve(b) as client:
        runtime = {"knowledge": ["kb"], "web": True, "chat_id": "c1", "message_id": "m1"}
        answer = (await client.post(PATH, QUESTION | {"runtime": runtime, "max_tokens": 9})).json
        started = (await b.service.events(answer["runtime"]["run_id"]))[0]
        assert isinstance(started, RunStarted)
        assert started.permissions.knowledge == ("kb",)
        assert started.permissions.web is True
        assert started.request.session == "c1"
        assert started.request.limits.output_tokens == 9


def text(value: str) -> dict[str, str]:
    return {"type": "text", "text": value}


async def test_a_history_with_tool_traces_reaches_the_model_as_it_was(tmp_path: Path):
    provider = replies(say("x"))
    messages = [
        {"role": "developer", "content": "be brief"},
        {"role": "user", "content": [text("two "), text("parts")]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "function": {"name": "f", "arguments": '{"a": 1}'}},
                {"id": "c2", "function": {"name": "g", "arguments": "{broken"}},
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "one"},
        {"role": "tool", "tool_call_id": "c2", "content": "two"},
        {"role": "user", "content": "and now?"},
    ]  # fmt: skip
    async with bench(tmp_path, provider) as b, serve(b) as client:
        assert (await client.post(PATH, {"model": "m", "messages": messages})).status == 200
    [view] = provider.views
    assert view[0].role == "system"
    assert "be brief" in view[0].text
    assert view[1:] == [
        Message(role="user", text="two parts"),
        Message(
            role="assistant",
            tool_calls=(
                ToolCall(id="c1", name="f", arguments={"a": 1}),
                ToolCall(id="c2", name="g", arguments={MALFORMED_ARGUMENTS: "{broken"}),
            ),
        ),
        Message(role="tool", text="one", call_id="c1", tool_name="f"),
        Message(role="tool", text="two", call_id="c2", tool_name="g"),
        NO_ANSWER,
        Message(role="user", text="and now?"),
    ]


async def test_a_follow_up_of_open_webui_is_taken(tmp_path: Path):
    """It rebuilds a turn from what it stored of the last one."""
    provider = replies(say("x"))
    trace = '<details type="reasoning" done="true">\n<summary>Thought</summary>\n> hm\n</details>'
    asked = {"type": "function", "id": "c1", "function": {"name": "f", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "first"},
        {"role": "assistant", "content": None, "tool_calls": [asked]},
        {"role": "tool", "tool_call_id": "c1", "content": [{"type": "input_text", "text": "one"}]},
        {"role": "assistant", "content": f"{trace}\nSo one."},
        {"role": "user", "content": "second"},
        {"role": "assistant", "content": ""},
        {"role": "user", "content": "third"},
    ]
    async with bench(tmp_path, provider) as b, serve(b) as client:
        assert (await client.post(PATH, {"model": "m", "messages": messages})).status == 200
    assert provider.views[0][1:] == [
        Message(role="user", text="first"),
        say("", ToolCall(id="c1", name="f", arguments={})),
        Message(role="tool", text="one", call_id="c1", tool_name="f"),
        say("So one."),
        Message(role="user", text="second\n\nthird"),
    ]


async def test_a_history_that_can_be_mended_is_not_refused(tmp_path: Path):
    provider = replies(say("x"))
    nothing = {"id": None, "function": {"name": None, "arguments": None}}
    called = {"function": {"name": "f", "arguments": {"a": 1}}}
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
    messages = [
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
        {"role": "user", "content": ["plain ", text("parts")]},
        {"role": "assistant", "tool_calls": [nothing, called]},
        {"role": "tool", "content": None, "tool_call_id": None},
        {"role": "tool", "content": [text("seen"), image], "name": "f"},
        {"role": "assistant", "content": None, "function_call": {"name": "g"}},
        {"role": "function", "name": "g", "content": "old"},
        {"role": "assistant", "content": "done", "tool_calls": None},
        {"role": "tool", "tool_call_id": "lost", "content": "of another runtime"},
        {"role": "user", "content": "go on"},
    ]
    async with bench(tmp_path, provider) as b, serve(b) as client:
        assert (await client.post(PATH, {"model": "m", "messages": messages})).status == 200
    [view] = provider.views
    assert [m.role for m in view[1:]] == [
        "user", "assistant", "user", "assistant", "tool", "assistant", "tool", "assistant", "user",
    ]  # fmt: skip
    assert [m.text for m in view if m.role == "tool"] == ["seen", "old"]
    assert view[4].tool_calls[0].arguments == {"a": 1}


async def test_an_image_is_refused_by_its_place(tmp_path: Path):
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
    messages = [{"role": "user", "content": [text("what?"), image]}]
    async with bench(tmp_path, replies(say("x"))) as b, serve(b) as client:
        answer = await client.post(PATH, {"model": "m", "messages": messages})
        assert (answer.status, answer.error["param"]) == (422, "messages.0.content")


async def test_thinking_stays_hidden_unless_opted_in(tmp_path: Path):
    model = HeldProvider(ScriptedProvider([THOUGHT] * 4))
    async with bench(tmp_path, model) as b:
        async with serve(b) as client:
            hidden = json.dumps(await streamed(client, model))
            hidden += json.dumps((await client.post(PATH, QUESTION)).json)
            model.go.clear()
        async with serve(b, show_reasoning=True) as client:
            shown = json.dumps(await streamed(client, model))
            whole = (await client.post(PATH, QUESTION)).json
    assert "secret thought" not in hidden
    assert "secret thought" in shown
    assert whole["choices"][0]["message"]["reasoning_content"] == "secret thought"
