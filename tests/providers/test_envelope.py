"""EnvelopeProvider over a real socket: what goes out, what comes back, what is refused."""

from typing import Any

import aiohttp
import pytest

from inglenook.bootstrap.models import transport_of
from inglenook.errors import ModelMissing, ProviderBusy, ProviderError
from inglenook.providers.base import ModelProvider, ModelSpec, StreamOptions
from inglenook.providers.envelope import EnvelopeProvider
from inglenook.providers.finish_reasons import CUT_OFF_NOTE
from inglenook.providers.model_memory import ModelMemory
from inglenook.providers.recovery import RecoveringProvider
from inglenook.providers.scripted import ScriptedProvider
from tests.providers.streaming import (
    QUESTION,
    TOOLS,
    call_history,
    ollama_spec,
    openai_spec,
    streamed,
)
from tests.scripted_replies import Failure, Reply
from tests.scripted_server import ScriptedServer

CALL = '{"name": "calculate", "arguments": {"expression": "2+2"}}'
ANSWER = '{"answer": "It is 4."}'
kinds = pytest.mark.parametrize("kind", ["ollama", "openai"])


def spec_of(kind: str, server: ScriptedServer) -> ModelSpec:
    return ollama_spec(server.url) if kind == "ollama" else openai_spec(server.openai_url)


def enveloped(
    session: aiohttp.ClientSession, spec: ModelSpec, memory: ModelMemory | None = None
) -> ModelProvider:
    memory = memory or ModelMemory()
    inner = RecoveringProvider(transport_of(session, spec, memory))
    return RecoveringProvider(EnvelopeProvider(inner, spec, memory))


def schema_of(body: dict[str, Any]) -> Any:
    if "response_format" in body:
        assert body["response_format"]["type"] == "json_schema"
        return body["response_format"]["json_schema"]["schema"]
    return body.get("format")


@kinds
async def test_call_and_answer_travel_as_text_held_to_a_schema(
    session: aiohttp.ClientSession, kind: str
) -> None:
    async with ScriptedServer([CALL, ANSWER]) as server:
        provider = enveloped(session, spec_of(kind, server))
        called = await streamed(provider)
        answered = await streamed(provider, call_history())
    assert called.calls == [("calculate", {"expression": "2+2"})]
    assert called.deltas == []
    assert called.reply.message.text == ""
    assert all(call.id for call in called.reply.message.tool_calls)
    assert answered.text == answered.reply.message.text == "It is 4."
    assert len(answered.deltas) > 1, "it is shown while it comes"
    for got in (called, answered):
        assert (got.reply.tool_mode, got.reply.repairs) == ("envelope", ())
        assert got.reply.recovered_from is None
    first, second = (seen.body for seen in server.chats)
    for body in (first, second):
        assert "tools" not in body
        assert schema_of(body)["anyOf"][-1]["required"] == ["answer"]
        assert {message["role"] for message in body["messages"]} <= {"system", "user", "assistant"}
        assert all("tool_calls" not in message for message in body["messages"])
    assert first["messages"] == second["messages"][:2]
    assert second["messages"][2:] == [
        {"role": "assistant", "content": CALL},
        {"role": "user", "content": "Result of calculate: 4"},
    ]


@kinds
async def test_thinking_before_the_object_is_reasoning(
    session: aiohttp.ClientSession, kind: str
) -> None:
    script = [f"<think>\nI must add.\n</think>\n\n{CALL}", Reply(content=ANSWER, thinking="easy")]
    async with ScriptedServer(script) as server:
        provider = enveloped(session, spec_of(kind, server))
        tagged, native = await streamed(provider), await streamed(provider)
    assert tagged.calls == [("calculate", {"expression": "2+2"})]
    assert (tagged.text, tagged.reasoning.strip()) == ("", "I must add.")
    assert (native.text, native.reasoning) == ("It is 4.", "easy")


@kinds
@pytest.mark.parametrize("status", [400, 422, 500])
async def test_a_server_that_refuses_the_schema_is_asked_without_from_then_on(
    session: aiohttp.ClientSession, kind: str, status: int
) -> None:
    def answer(body: dict[str, Any]) -> Any:
        if schema_of(body):
            return Failure(status=status, body={"error": "response_format is not supported"})
        return f"```json\n{CALL}\n```"

    memory = ModelMemory()
    async with ScriptedServer(answer) as server:
        spec = spec_of(kind, server)
        first = await streamed(enveloped(session, spec, memory))
        second = await streamed(enveloped(session, spec, memory))
    assert first.calls == second.calls == [("calculate", {"expression": "2+2"})]
    assert first.deltas == []
    assert [bool(schema_of(seen.body)) for seen in server.chats] == [True, False, False]
    assert "```json" in first.reply.repairs[0], "what the model wrote is kept"


@kinds
async def test_a_failure_that_has_nothing_to_do_with_the_schema_is_passed_on(
    session: aiohttp.ClientSession, kind: str
) -> None:
    wrong = Failure(status=400, body={"error": "temperature must be positive"})
    script = [wrong, wrong, Failure(status=429, body={"error": "slow down"})]
    script += [Failure(status=404, body={"error": "model 'm' not found"}), ANSWER]
    memory = ModelMemory()
    async with ScriptedServer(script) as server:
        provider = enveloped(session, spec_of(kind, server), memory)
        with pytest.raises(ProviderError, match="temperature"):
            await streamed(provider)
        with pytest.raises(ProviderBusy, match="slow down"):
            await streamed(provider)
        with pytest.raises(ModelMissing):
            await streamed(provider)
        assert (await streamed(provider)).text == "It is 4."
    assert schema_of(server.chats[-1].body)
    assert not any(memory.of(spec_of(kind, server)).refuses_schema for _ in range(1))


async def test_a_call_that_was_cut_off_is_no_call_and_no_answer(
    session: aiohttp.ClientSession,
) -> None:
    script = [
        Reply(content='{"name": "calculate", "arguments": {"expression": "2+', finish="length"),
        Reply(content='{"answer": "It is', finish="length"),
    ]
    async with ScriptedServer(script) as server:
        provider = enveloped(session, ollama_spec(server.url))
        call, answer = await streamed(provider), await streamed(provider)
    assert (call.text, call.calls, call.reply.message.text) == ("", [], "")
    assert call.reply.malformed_call == (
        "the call of 'calculate' was cut off at the model's output limit"
    )
    assert CUT_OFF_NOTE not in call.reply.repairs
    assert answer.text == answer.reply.message.text == "It is"
    assert CUT_OFF_NOTE in answer.reply.repairs


@pytest.mark.parametrize(
    "text",
    [
        "<tool_call>\n" + CALL + "\n</tool_call>",
        "I will calculate it.\n" + CALL,
        "{'name': 'calculate', 'arguments': {'expression': '2+2'}}",
        '{"answer": "<tool_call>{\\"name\\": \\"calculate\\", \\"arguments\\": '
        '{\\"expression\\": \\"2+2\\"}}</tool_call>"}',
    ],
)
@pytest.mark.parametrize("piece_chars", [1, 5, 0])
async def test_a_call_in_a_form_of_the_models_own_is_found(text: str, piece_chars: int) -> None:
    model = RecoveringProvider(ScriptedProvider([text], piece_chars=piece_chars))
    spec = ollama_spec("http://127.0.0.1:1")
    got = await streamed(RecoveringProvider(EnvelopeProvider(model, spec, ModelMemory())))
    assert got.calls == [("calculate", {"expression": "2+2"})]
    lead_in = "I will calculate it." if text.startswith("I") else ""
    assert got.text.strip() == got.reply.message.text == lead_in
    assert got.reply.tool_mode == "envelope"
    assert any("calculate" in note for note in got.reply.repairs)


async def test_prose_is_the_answer() -> None:
    model = ScriptedProvider(["It is 4, or {x}."], piece_chars=3)
    spec = ollama_spec("http://127.0.0.1:1")
    got = await streamed(EnvelopeProvider(model, spec, ModelMemory()))
    assert got.text == got.reply.message.text == "It is 4, or {x}."
    assert got.reply.repairs == ()


async def test_without_tools_it_is_a_plain_conversation() -> None:
    model = ScriptedProvider(["ok"])
    spec = ollama_spec("http://127.0.0.1:1")
    got = await streamed(EnvelopeProvider(model, spec, ModelMemory()), call_history(), tools=())
    assert got.text == "ok"
    assert got.reply.tool_mode == "native"
    [seen] = model.seen
    assert seen.options.reply_schema is None
    assert {message.role for message in seen.messages} <= {"system", "user", "assistant"}
    assert seen.messages[0] is call_history()[0] or seen.messages[0] == QUESTION[0]


async def test_the_estimate_is_of_what_is_sent() -> None:
    model = ScriptedProvider([ANSWER, ANSWER])
    spec = ollama_spec("http://127.0.0.1:1")
    provider = EnvelopeProvider(model, spec, ModelMemory())
    await streamed(provider, options=StreamOptions(estimated_tokens=1000, tools_tokens=100))
    await streamed(provider, options=StreamOptions(estimated_tokens=1000))
    estimated, unknown = (seen.options.estimated_tokens for seen in model.seen)
    assert unknown == 1000
    assert estimated is not None
    part = len(model.seen[0].messages[0].text) - len(QUESTION[0].text)
    native = sum(len(tool.wire["function"]) for tool in TOOLS)
    assert estimated == round(900 + 100 * part / native)
