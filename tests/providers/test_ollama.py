"""Ollama's native chat: bodies as its documentation has them, replies as its servers send them."""

import json
from typing import Any

import aiohttp
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inglenook.errors import (
    ConfigError,
    ModelMissing,
    ProviderBusy,
    ProviderError,
    ToolsUnsupported,
)
from inglenook.messages import Message, Reasoning, ToolCall, Usage
from inglenook.providers.base import ModelAbilities, StreamOptions
from inglenook.providers.calls import MALFORMED_ARGUMENTS
from inglenook.providers.ollama import (
    DEFAULT_CONTEXT_TOKENS,
    OllamaProvider,
    encode_message,
    list_models,
)
from tests.providers.streaming import TOOLS, call_history, ollama_spec, streamed
from tests.scripted_replies import Failure, Raw, calls
from tests.scripted_server import ScriptedServer


def line(**fields: Any) -> bytes:
    return json.dumps(fields).encode() + b"\n"


DONE = line(done=True, done_reason="stop", message={"role": "assistant", "content": ""})


async def test_body_holds_model_window_messages_and_tools(session: aiohttp.ClientSession) -> None:
    async with ScriptedServer(["ok"]) as server:
        await streamed(OllamaProvider(session, ollama_spec(server.url)))
    assert server.chats[0].body == {
        "model": "m",
        "stream": True,
        "options": {"num_ctx": DEFAULT_CONTEXT_TOKENS},
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                },
            }
            for tool in TOOLS
        ],
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "2+2?"},
        ],
    }


async def test_window_and_output_limit_are_sent_on_every_call(
    session: aiohttp.ClientSession,
) -> None:
    async with ScriptedServer(["a", "b"]) as server:
        provider = OllamaProvider(session, ollama_spec(server.url, context_tokens=4096))
        await streamed(provider, tools=(), options=StreamOptions(max_output_tokens=100))
        await streamed(provider, tools=())
    first, second = (seen.body for seen in server.chats)
    assert first["options"] == {"num_ctx": 4096, "num_predict": 100}
    assert second["options"] == {"num_ctx": 4096}
    assert "tools" not in first


@pytest.mark.parametrize("thinking", [True, False, None])
async def test_think_is_the_configured_boolean_or_absent(
    session: aiohttp.ClientSession, thinking: bool | None
) -> None:
    async with ScriptedServer(["a"]) as server:
        await streamed(OllamaProvider(session, ollama_spec(server.url, thinking=thinking)))
    assert server.chats[0].body.get("think", None) is thinking


async def test_reply_holds_text_thinking_calls_usage_and_finish(
    session: aiohttp.ClientSession,
) -> None:
    reply = calls(("calculate", {"expression": "2+2"}), content="I add.", thinking="two and two")
    async with ScriptedServer([reply]) as server:
        got = await streamed(OllamaProvider(session, ollama_spec(server.url)))
    assert got.text == got.reply.message.text == "I add."
    assert got.reasoning == "two and two"
    assert got.reply.message.reasoning == Reasoning(text="two and two", field="thinking")
    assert got.calls == [("calculate", {"expression": "2+2"})]
    assert got.reply.usage == Usage(input_tokens=7, output_tokens=3)
    assert got.reply.finish_reason == "stop"


def test_history_is_encoded_as_ollama_wants_it_and_once() -> None:
    asked, result = call_history(reasoning=Reasoning(text="hm", field="thinking"))[2:]
    assert json.loads(encode_message(asked)) == {
        "role": "assistant",
        "content": "",
        "thinking": "hm",
        "tool_calls": [{"function": {"name": "calculate", "arguments": {"expression": "2+2"}}}],
    }
    assert json.loads(encode_message(result)) == {
        "role": "tool",
        "content": "4",
        "tool_name": "calculate",
    }
    assert result.wire["ollama"] == encode_message(result)


def test_thinking_of_an_answer_without_calls_does_not_go_back() -> None:
    answer = Message(role="assistant", text="4", reasoning=Reasoning(text="x", field="thinking"))
    assert json.loads(encode_message(answer)) == {"role": "assistant", "content": "4"}


async def test_lone_surrogates_in_a_conversation_do_not_break_the_request(
    session: aiohttp.ClientSession,
) -> None:
    broken = ToolCall(id="c", name="calculate", arguments={"expression": "\udc80"})
    history = (
        Message(role="user", text="a\ud800b"),
        Message(role="assistant", tool_calls=(broken,)),
        Message(role="tool", text="\udfff", call_id="c", tool_name="calculate"),
    )
    async with ScriptedServer(["ok"]) as server:
        await streamed(OllamaProvider(session, ollama_spec(server.url)), history)
    assert server.chats[0].body["messages"][0]["content"] == "a\ufffdb"


async def test_arguments_as_text_are_read_and_cut_ones_kept(
    session: aiohttp.ClientSession,
) -> None:
    sent = [{"function": {"name": "calculate", "arguments": text}} for text in ('{"a":1}', '{"a":')]
    pieces = [line(message={"content": "", "tool_calls": sent}), DONE]
    async with ScriptedServer([Raw(pieces=pieces)]) as server:
        got = await streamed(OllamaProvider(session, ollama_spec(server.url)))
    assert got.calls == [("calculate", {"a": 1}), ("calculate", {MALFORMED_ARGUMENTS: '{"a":'})]
    assert len(got.reply.repairs) == 1


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        ('{"path": "a", "path": "b"}', '{"path": "a", "path": "b"}'),
        ('{"at": [{"x": {"y": 1, "y": 2}}]}', '{"at": [{"x": {"y": 1, "y": 2}}]}'),
        ('{"q":"ü \\"","q":null}', '{"q": "ü \\"", "q": null}'),
    ],
)
async def test_arguments_with_a_key_twice_are_refused_and_their_neighbours_run(
    session: aiohttp.ClientSession, arguments: str, kept: str
) -> None:
    sound = '{"function": {"name": "calculate", "arguments": {"a": {"b": 1}, "b": 2}}}'
    repeating = f'{{"function": {{"name": "write_file", "arguments": {arguments}}}}}'
    sent = f'{{"message": {{"content": "", "tool_calls": [{sound}, {repeating}]}}}}\n'
    async with ScriptedServer([Raw(pieces=[sent.encode(), DONE])]) as server:
        got = await streamed(OllamaProvider(session, ollama_spec(server.url)))
    assert got.calls == [
        ("calculate", {"a": {"b": 1}, "b": 2}),
        ("write_file", {MALFORMED_ARGUMENTS: kept}),
    ]
    assert got.reply.repairs == (
        "the arguments of 'write_file' had a key twice and were kept as text",
    )


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (Failure(status=400, body={"error": "m does not support tools"}), ToolsUnsupported),
        (Failure(status=404, body={"error": "model 'm' not found"}), ModelMissing),
        (Failure(status=503, body={"error": "server busy"}), ProviderBusy),
        (Failure(status=400, body={"error": "invalid message"}), ProviderError),
        (Raw(pieces=[line(error="llama runner process no longer running")]), ProviderBusy),
        (
            Raw(pieces=[line(message={"content": "a"}), line(error="m does not support tools")]),
            ToolsUnsupported,
        ),
        (Raw(pieces=[b"<html>no</html>\n"]), ProviderError),
        (Raw(pieces=[line(message={"content": "a"})]), ProviderBusy),
        (Raw(pieces=[line(message={"content": "a"}), b'{"message":{"conte']), ProviderBusy),
        (Raw(pieces=[line(message={"content": "a"})], cut=True), ProviderBusy),
        (Raw(pieces=[]), ProviderBusy),
    ],
)
async def test_failure_is_typed(
    session: aiohttp.ClientSession, failure: Failure | Raw, kind: type
) -> None:
    async with ScriptedServer([failure]) as server:
        provider = OllamaProvider(session, ollama_spec(server.url))
        with pytest.raises(ProviderError) as caught:
            await streamed(provider)
    assert type(caught.value) is kind
    assert server.url in str(caught.value)


async def test_missing_model_comes_with_the_command_that_fetches_it(
    session: aiohttp.ClientSession,
) -> None:
    async with ScriptedServer(models={}) as server:
        with pytest.raises(ModelMissing, match="ollama pull m"):
            await streamed(OllamaProvider(session, ollama_spec(server.url)))


async def test_last_line_needs_no_line_end(session: aiohttp.ClientSession) -> None:
    pieces = [line(message={"content": "a"}), DONE.strip()]
    async with ScriptedServer([Raw(pieces=pieces)]) as server:
        got = await streamed(OllamaProvider(session, ollama_spec(server.url)))
    assert got.reply.message.text == "a"


async def test_connection_is_kept_for_the_next_call(session: aiohttp.ClientSession) -> None:
    async with ScriptedServer(["a", "b", "c"]) as server:
        provider = OllamaProvider(session, ollama_spec(server.url))
        for _ in range(3):
            await streamed(provider)
    assert len({seen.peer for seen in server.chats}) == 1


async def test_abilities_are_what_show_says(session: aiohttp.ClientSession) -> None:
    models = {
        "new": {
            "capabilities": ["completion", "tools"],
            "context_length": 40960,
            "loaded": 16384,
        },
        "old": {"context_length": 2048},
    }
    async with ScriptedServer(models=models) as server:
        new = OllamaProvider(session, ollama_spec(server.url, model="new"))
        old = OllamaProvider(session, ollama_spec(server.url, model="old"))
        missing = OllamaProvider(session, ollama_spec(server.url, model="none"))
        assert await new.abilities() == ModelAbilities(
            tools=True, thinking=False, context_tokens=40960, served_tokens=16384
        )
        assert await old.abilities() == ModelAbilities(context_tokens=2048)
        with pytest.raises(ModelMissing):
            await missing.abilities()
        assert await list_models(session, server.url) == ["new", "old"]


def test_reasoning_effort_is_refused_where_there_is_none() -> None:
    spec = ollama_spec("http://127.0.0.1:1", reasoning_effort="high")
    with pytest.raises(ConfigError, match="reasoning_effort"):
        OllamaProvider(None, spec)  # pyright: ignore[reportArgumentType]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["message", "content", "thinking", "tool_calls", "function", "name", "arguments"]
                + ["id", "done", "done_reason", "error", "eval_count", "prompt_eval_count"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(events=st.lists(JSON, max_size=4))
async def test_whatever_json_comes_there_is_a_reply_or_a_typed_error(events: list[object]) -> None:
    """Hostile shapes: nothing but our own errors leaves the provider."""
    pieces = [json.dumps(event).encode() + b"\n" for event in events]
    async with (
        aiohttp.ClientSession() as own,
        ScriptedServer([Raw(pieces=[*pieces, DONE])]) as server,
    ):
        try:
            got = await streamed(OllamaProvider(own, ollama_spec(server.url)))
        except ProviderError:
            return
    ids = [call.id for call in got.reply.message.tool_calls]
    assert all(ids)
    assert len(set(ids)) == len(ids)
