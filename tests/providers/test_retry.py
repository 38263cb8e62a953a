"""A failed model call is repeated only where nothing of it was seen."""

from contextlib import aclosing

import aiohttp
import pytest

from inglenook.errors import ModelMissing, ProviderBusy, ProviderError
from inglenook.messages import Message
from inglenook.providers.base import ModelAbilities, StreamOptions
from inglenook.providers.ollama import OllamaProvider
from inglenook.providers.retry import FIRST_WAIT_S, RetryingProvider
from inglenook.providers.scripted import ScriptedProvider, ScriptLine
from tests.providers.streaming import QUESTION, ollama_spec, streamed
from tests.scripted_replies import Raw
from tests.scripted_server import ScriptedServer

BUSY = ProviderBusy("busy")


class Waits:
    """Waits that take no time and are remembered."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def retrying(*script: ScriptLine) -> tuple[RetryingProvider, ScriptedProvider, Waits]:
    inner, waits = ScriptedProvider(script), Waits()
    return RetryingProvider(inner, sleep=waits), inner, waits


async def test_busy_server_is_asked_again_with_growing_waits() -> None:
    provider, inner, waits = retrying(BUSY, BUSY, "ok")
    assert (await streamed(provider)).text == "ok"
    assert len(inner.seen) == 3
    first, second = waits.seconds
    assert FIRST_WAIT_S <= first <= 1.5 * FIRST_WAIT_S
    assert 2 * FIRST_WAIT_S <= second <= 3 * FIRST_WAIT_S


async def test_last_error_is_raised_when_all_tries_failed() -> None:
    provider, inner, _ = retrying(BUSY, BUSY, ProviderBusy("the third"), "never")
    with pytest.raises(ProviderBusy, match="the third"):
        await streamed(provider)
    assert len(inner.seen) == 3


@pytest.mark.parametrize("error", [ModelMissing("x"), ProviderError("x")])
async def test_other_errors_are_raised_at_once(error: ProviderError) -> None:
    provider, inner, waits = retrying(error, "never")
    with pytest.raises(type(error)):
        await streamed(provider)
    assert len(inner.seen) == 1
    assert waits.seconds == []


async def test_reply_that_broke_off_is_not_begun_again(session: aiohttp.ClientSession) -> None:
    begun = Raw(pieces=[b'{"message":{"content":"Once"}}\n', 0.02], cut=True)
    async with ScriptedServer([begun, "never"]) as server:
        inner = OllamaProvider(session, ollama_spec(server.url))
        with pytest.raises(ProviderBusy):
            await streamed(RetryingProvider(inner, first_wait_s=0))
    assert len(server.chats) == 1


async def test_retry_goes_over_a_fresh_connection(session: aiohttp.ClientSession) -> None:
    async with ScriptedServer(["warm up", Raw(pieces=[], cut=True), "ok"]) as server:
        provider = RetryingProvider(
            OllamaProvider(session, ollama_spec(server.url)), first_wait_s=0.01
        )
        await streamed(provider)
        assert (await streamed(provider)).text == "ok"
    warm, lost, again = (seen.peer for seen in server.chats)
    assert warm == lost != again


async def test_closing_closes_the_inner_stream() -> None:
    inner = ScriptedProvider(["a long answer"], piece_chars=1)
    stream = RetryingProvider(inner).stream(QUESTION, (), StreamOptions())
    async with aclosing(stream):
        await anext(stream)
    with pytest.raises(StopAsyncIteration):
        await anext(stream)


async def test_abilities_are_the_inner_ones() -> None:
    inner = ScriptedProvider(abilities=ModelAbilities(context_tokens=5))
    assert (await RetryingProvider(inner).abilities()).context_tokens == 5


async def test_scripted_provider_says_what_it_was_told_and_remembers_what_it_saw() -> None:
    inner = ScriptedProvider([lambda messages, tools: f"{len(messages)} {len(tools)}"])
    assert (await streamed(inner)).text == "2 3"
    assert inner.seen[0].messages == QUESTION
    inner.add(Message(role="assistant", text="one two"))
    assert [delta.text for delta in (await streamed(inner)).deltas] == ["one two"]
    with pytest.raises(ProviderError, match="no line for request 3"):
        await streamed(inner)
