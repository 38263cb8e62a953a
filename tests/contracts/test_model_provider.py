"""What every ModelProvider promises, kept by each of them and by the wrappers around them."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Literal

import pytest

from inglenook.errors import (
    ContextTooLong,
    ModelMissing,
    ProviderBusy,
    ProviderError,
    ToolsUnsupported,
)
from inglenook.events import ReasoningDelta, TextDelta
from inglenook.messages import Message, Reasoning, ToolCall
from inglenook.providers.base import ModelProvider, ModelReply, StreamOptions
from inglenook.providers.ollama import OllamaProvider
from inglenook.providers.openai_chat import OpenAIChatProvider
from inglenook.providers.recovery import RecoveringProvider
from inglenook.providers.retry import RetryingProvider
from inglenook.providers.scripted import ScriptedProvider, ScriptLine
from inglenook.providers.transport import open_session
from tests.providers.streaming import (
    QUESTION,
    TOOLS,
    call_history,
    ollama_spec,
    openai_spec,
    streamed,
)
from tests.scripted_replies import Failure, Raw, Reply, ScriptedCall, ScriptEntry
from tests.scripted_server import ScriptedServer

Kind = Literal["scripted", "ollama", "openai"]
KINDS: tuple[Kind, ...] = ("scripted", "ollama", "openai")
WRAPPERS: dict[str, Callable[[ModelProvider], ModelProvider]] = {
    "bare": lambda inner: inner,
    "wrapped": lambda inner: RetryingProvider(RecoveringProvider(inner), first_wait_s=0),
}


@dataclass(frozen=True)
class Prepared:
    """One answer, told to each kind in its own way."""

    text: str = ""
    thinking: str = ""
    calls: tuple[tuple[str, dict[str, object]], ...] = ()
    error: str = ""
    """`busy`, `missing`, `no tools`, `too long`, `other`"""
    slow: bool = False


ERRORS: dict[str, tuple[type[ProviderError], int, str]] = {
    "busy": (ProviderBusy, 503, "overloaded"),
    "missing": (ModelMissing, 404, "model 'm' not found"),
    "no tools": (ToolsUnsupported, 400, "m does not support tools"),
    "too long": (ContextTooLong, 400, "the prompt exceeds the context window"),
    "other": (ProviderError, 400, "bad request"),
}


def script_line(prepared: Prepared) -> ScriptLine:
    if prepared.error:
        kind, _, text = ERRORS[prepared.error]
        return kind(text)
    return Message(
        role="assistant",
        text=prepared.text,
        tool_calls=tuple(
            ToolCall(id=f"c{n}", name=name, arguments=arguments)
            for n, (name, arguments) in enumerate(prepared.calls)
        ),
        reasoning=Reasoning(text=prepared.thinking) if prepared.thinking else None,
    )


def wire_entry(prepared: Prepared) -> ScriptEntry:
    if prepared.error:
        _, status, text = ERRORS[prepared.error]
        return Failure(status=status, body={"error": text})
    # no ids: making them is part of the contract
    calls = [ScriptedCall(name=n, arguments=a, id=None) for n, a in prepared.calls]
    reply = Reply(content=prepared.text, thinking=prepared.thinking, tool_calls=calls)
    if prepared.slow:
        reply["pace_s"] = 0.02
    return reply


@asynccontextmanager
async def provided(kind: Kind, *script: Prepared) -> AsyncGenerator[ModelProvider, None]:
    if kind == "scripted":
        pause_s = 0.02 if any(prepared.slow for prepared in script) else 0.0
        lines = [script_line(prepared) for prepared in script]
        yield ScriptedProvider(lines, piece_chars=4, pause_s=pause_s)
        return
    entries = [wire_entry(prepared) for prepared in script]
    async with open_session() as session, ScriptedServer(entries) as server:
        if kind == "ollama":
            yield OllamaProvider(session, ollama_spec(server.url))
        else:
            yield OpenAIChatProvider(session, openai_spec(server.openai_url))


everywhere = pytest.mark.parametrize("kind", KINDS)
wrapped_or_not = pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS.keys())


@everywhere
@wrapped_or_not
async def test_deltas_then_exactly_one_reply(
    kind: Kind, wrap: Callable[[ModelProvider], ModelProvider]
) -> None:
    answer = Prepared(text="The answer is 4.", thinking="two and two")
    async with provided(kind, answer) as provider:
        got = await streamed(wrap(provider))
    assert got.text == got.reply.message.text == "The answer is 4."
    assert got.reasoning == "two and two"
    assert got.reply.message.reasoning is not None
    assert got.reply.message.reasoning.text == "two and two"
    assert len(got.deltas) > 2


@everywhere
@wrapped_or_not
async def test_text_deltas_never_hold_thinking(
    kind: Kind, wrap: Callable[[ModelProvider], ModelProvider]
) -> None:
    async with provided(kind, Prepared(text="It is 4.", thinking="secret thought")) as provider:
        got = await streamed(wrap(provider))
    shown = [delta for delta in got.deltas if not isinstance(delta, ReasoningDelta)]
    assert all(type(delta) is TextDelta for delta in shown)
    assert "secret" not in got.text + got.reply.message.text


@everywhere
@wrapped_or_not
async def test_calls_keep_their_order_and_have_ids_that_are_new_in_the_conversation(
    kind: Kind, wrap: Callable[[ModelProvider], ModelProvider]
) -> None:
    asked: tuple[tuple[str, dict[str, object]], ...] = (
        ("calculate", {"expression": "2+2"}),
        ("calculate", {"expression": "2+2"}),
        ("get_current_datetime", {}),
    )
    async with provided(kind, Prepared(calls=asked), Prepared(calls=asked)) as provider:
        first = await streamed(wrap(provider))
        second = await streamed(wrap(provider), call_history())
    assert first.calls == second.calls == [(name, dict(args)) for name, args in asked]
    for got in (first, second):
        ids = [call.id for call in got.reply.message.tool_calls]
        assert all(ids)
        assert len(set(ids)) == len(ids)
    assert "call_1" not in {call.id for call in second.reply.message.tool_calls}


@everywhere
@wrapped_or_not
@pytest.mark.parametrize("error", ERRORS)
async def test_errors_have_their_type(
    kind: Kind, error: str, wrap: Callable[[ModelProvider], ModelProvider]
) -> None:
    async with provided(kind, *[Prepared(error=error)] * 3) as provider:
        with pytest.raises(ProviderError) as caught:
            await streamed(wrap(provider))
    assert type(caught.value) is ERRORS[error][0]


@everywhere
@wrapped_or_not
async def test_nothing_comes_after_closing(
    kind: Kind, wrap: Callable[[ModelProvider], ModelProvider]
) -> None:
    async with provided(kind, Prepared(text="one two three four", slow=True)) as provider:
        stream = wrap(provider).stream(QUESTION, TOOLS, StreamOptions())
        async with aclosing(stream):
            assert isinstance(await anext(stream), TextDelta)
        with pytest.raises(StopAsyncIteration):
            await anext(stream)


@pytest.mark.parametrize("kind", KINDS[1:])
@wrapped_or_not
@pytest.mark.parametrize("how", ["close", "cancel"])
async def test_stopping_closes_the_connection_at_once(
    kind: Kind, how: str, wrap: Callable[[ModelProvider], ModelProvider]
) -> None:
    begun = {
        "ollama": b'{"message":{"content":"Once upon"},"done":false}\n',
        "openai": b'data: {"choices":[{"index":0,"delta":{"content":"Once upon"}}]}\n\n',
    }
    async with (
        open_session() as session,
        ScriptedServer([Raw(pieces=[begun[kind]], hang=True)]) as server,
    ):
        bare: ModelProvider = (
            OllamaProvider(session, ollama_spec(server.url))
            if kind == "ollama"
            else OpenAIChatProvider(session, openai_spec(server.openai_url))
        )
        provider = wrap(bare)
        has_begun = asyncio.Event()

        async def read() -> None:
            async with aclosing(provider.stream(QUESTION, (), StreamOptions())) as parts:
                async for _ in parts:
                    has_begun.set()
                    if how == "close":
                        return

        async with asyncio.timeout(60), asyncio.TaskGroup() as group:
            task = group.create_task(read())
            await has_begun.wait()
            if how == "cancel":
                task.cancel()
            await server.chats[0].ended.wait()
        assert server.chats[0].closed_early


@everywhere
async def test_reply_may_be_taken_without_reading_on(kind: Kind) -> None:
    """The loop stops at the reply; the next call must go well all the same."""
    async with provided(kind, Prepared(text="one"), Prepared(text="two")) as provider:
        texts: list[str] = []
        for _ in range(2):
            async with aclosing(provider.stream(QUESTION, (), StreamOptions())) as parts:
                async for part in parts:
                    if isinstance(part, ModelReply):
                        texts.append(part.message.text)
                        break
    assert texts == ["one", "two"]


@everywhere
async def test_one_provider_serves_many_runs_at_once(kind: Kind) -> None:
    answers = [Prepared(text=f"answer {n}", slow=True) for n in range(8)]
    got: list[str] = []

    async def one(provider: ModelProvider, messages: Sequence[Message]) -> None:
        got.append((await streamed(provider, messages)).text)

    async with provided(kind, *answers) as provider, asyncio.TaskGroup() as group:
        for _ in answers:
            group.create_task(one(provider, QUESTION))
        while len(got) < len(answers):
            await asyncio.sleep(0.01)
    assert sorted(got) == sorted(answer.text for answer in answers)


@everywhere
@wrapped_or_not
async def test_abilities_are_told(
    kind: Kind, wrap: Callable[[ModelProvider], ModelProvider]
) -> None:
    if kind == "scripted":
        assert (await wrap(ScriptedProvider()).abilities()).tools is True
        return
    models = {"m": {"capabilities": ["tools"]}}
    async with open_session() as session, ScriptedServer(models=models) as server:
        if kind == "ollama":
            bare: ModelProvider = OllamaProvider(session, ollama_spec(server.url))
            assert (await wrap(bare).abilities()).tools is True
        else:
            bare = OpenAIChatProvider(session, openai_spec(server.openai_url))
            assert (await wrap(bare).abilities()).tools is None
