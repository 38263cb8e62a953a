"""The scripted model server keeps its own promises, since many tests rest on it."""

import asyncio
import json

import aiohttp

from tests.scripted_replies import Failure, Raw, ScriptEntry, calls
from tests.scripted_server import ScriptedServer


async def post(server: ScriptedServer, path: str, body: dict[str, object]) -> tuple[int, bytes]:
    async with (
        aiohttp.ClientSession() as session,
        session.post(server.url + path, json=body) as response,
    ):
        return response.status, await response.read()


async def test_ollama_face_streams_words_and_whole_calls() -> None:
    script = [calls(("add", {"a": 1}), content="I add.", thinking="hm so")]
    async with ScriptedServer(script) as server:
        status, body = await post(server, "/api/chat", {"model": "m", "messages": []})
    lines = [json.loads(line) for line in body.splitlines()]
    assert status == 200
    assert "".join(line["message"].get("thinking", "") for line in lines) == "hm so"
    assert "".join(line["message"]["content"] for line in lines) == "I add."
    found = [line["message"]["tool_calls"] for line in lines if "tool_calls" in line["message"]]
    assert found == [[{"function": {"name": "add", "arguments": {"a": 1}}}]]
    assert lines[-1]["done"] is True
    assert (lines[-1]["prompt_eval_count"], lines[-1]["eval_count"]) == (7, 3)


async def test_openai_face_streams_arguments_in_pieces_and_ends_with_done() -> None:
    async with ScriptedServer([calls(("add", {"a": 1, "b": 2}))]) as server:
        _, body = await post(server, "/v1/chat/completions", {"model": "m", "messages": []})
    data = [line[6:] for line in body.decode().split("\n\n") if line]
    assert data[-1] == "[DONE]"
    events = [json.loads(line) for line in data[:-1]]
    arguments = "".join(
        call["function"]["arguments"]
        for event in events
        for choice in event["choices"]
        for call in choice["delta"].get("tool_calls", [])
    )
    assert json.loads(arguments) == {"a": 1, "b": 2}
    assert events[-1]["usage"]["total_tokens"] == 10


async def test_script_entries_answer_in_order_and_may_look_at_the_request() -> None:
    script: list[ScriptEntry] = [
        Failure(status=429, body="slow down"),
        lambda body: f"for {body['model']}",
    ]
    async with ScriptedServer(script) as server:
        first = await post(server, "/api/chat", {"model": "m"})
        _, second = await post(server, "/api/chat", {"model": "m"})
        third = await post(server, "/api/chat", {"model": "m"})
    assert first == (429, b"slow down")
    assert b" m" in second
    assert third[0] == 500
    assert [seen.body for seen in server.chats] == [{"model": "m"}] * 3


async def test_a_client_that_hangs_up_is_noticed() -> None:
    async with ScriptedServer([Raw(pieces=[b"{}\n"], hang=True)]) as server:
        async with aiohttp.ClientSession() as session:
            response = await session.post(f"{server.url}/api/chat", json={"model": "m"})
            assert await response.content.readany() == b"{}\n"
            response.close()
            async with asyncio.timeout(60):
                await server.chats[0].ended.wait()
        assert server.chats[0].closed_early


async def test_given_models_and_key_are_the_only_ones() -> None:
    models = {"qwen3": {"capabilities": ["tools"], "context_length": 4096, "family": "qwen3"}}
    async with ScriptedServer(["hi"], models=models) as server:
        status, body = await post(server, "/api/show", {"model": "qwen3"})
        assert status == 200
        assert json.loads(body)["model_info"]["qwen3.context_length"] == 4096
        assert (await post(server, "/api/show", {"model": "x"}))[0] == 404
        assert (await post(server, "/api/chat", {"model": "x"}))[0] == 404
    async with ScriptedServer(["hi"], api_key="k") as server:
        assert (await post(server, "/api/chat", {"model": "m"}))[0] == 401
