"""Which way calls travel: configured, else found out from calls that are made anyway."""

from dataclasses import replace

import pytest

from inglenook.errors import ToolsUnsupported
from inglenook.messages import Message, ToolCall, Usage
from inglenook.providers.base import ModelReply, ModelSpec, StreamOptions
from inglenook.providers.model_memory import ModelMemory
from inglenook.providers.scripted import ScriptedProvider, ScriptLine
from inglenook.providers.tool_mode import ToolModeProvider
from tests.providers.streaming import ollama_spec, openai_spec, streamed

OPENAI = openai_spec("http://127.0.0.1:1/v1")
OLLAMA = ollama_spec("http://127.0.0.1:1")
REFUSED = ToolsUnsupported("m takes no tools.")
ASKED = StreamOptions(estimated_tokens=2000, tools_tokens=1000)


class Model:
    """Answers natively with `native`, and in an envelope with "enveloped"."""

    def __init__(
        self,
        *native: ScriptLine,
        spec: ModelSpec = OPENAI,
        memory: ModelMemory | None = None,
    ) -> None:
        self.memory = memory or ModelMemory()
        self.native = ScriptedProvider(native)
        envelope = ScriptedProvider(["enveloped"] * 5)
        self.spec = spec
        self.provider = ToolModeProvider(self.native, envelope, spec, self.memory)

    async def ask(self, options: StreamOptions = ASKED) -> str:
        return (await streamed(self.provider, options=options)).text


def said(text: str, read: int | None, *calls: ToolCall) -> ModelReply:
    usage = None if read is None else Usage(input_tokens=read, output_tokens=5)
    message = Message(role="assistant", text=text, tool_calls=calls)
    return ModelReply(message=message, usage=usage)


async def test_a_refusal_of_tools_is_answered_in_an_envelope_at_once_and_from_then_on() -> None:
    model = Model(REFUSED)
    assert await model.ask() == "enveloped"
    assert await model.ask() == "enveloped"
    assert len(model.native.seen) == 1
    later = Model(REFUSED, memory=model.memory)
    assert await later.ask() == "enveloped"
    assert later.native.seen == []


async def test_configured_modes_win_over_everything_found() -> None:
    memory = ModelMemory()
    memory.found(OPENAI, "envelope", "refused")
    native = Model("plain", REFUSED, spec=replace(OPENAI, tool_mode="native"), memory=memory)
    assert await native.ask() == "plain"
    with pytest.raises(ToolsUnsupported, match='tool_mode = "native" out of'):
        await native.ask()
    memory.found(OPENAI, "native", "called")
    envelope = Model(spec=replace(OPENAI, tool_mode="envelope"), memory=memory)
    assert await envelope.ask() == "enveloped"


async def test_nothing_known_means_native() -> None:
    model = Model("one", "two", said("three", None))
    assert [await model.ask() for _ in range(3)] == ["one", "two", "three"]
    assert model.memory.of(OPENAI).tool_mode is None


async def test_tools_that_were_dropped_without_a_word_go_in_an_envelope_from_the_next_call() -> (
    None
):
    model = Model(said("I have no tools.", 1000))
    assert await model.ask() == "I have no tools."
    assert await model.ask() == "enveloped"
    assert model.memory.of(OPENAI).because == "dropped"


async def test_a_reply_that_is_not_taken_as_the_tools_were_missing_is_asked_for_anew() -> None:
    model = Model(replace(said("nonsense", 1000), rejected="context_truncated"))
    got = await streamed(model.provider, options=ASKED)
    assert (got.reply.message.text, got.reply.rejected) == ("enveloped", None)


@pytest.mark.parametrize(
    ("read", "whole", "tools"),
    [
        (1400, 2000, 1000),  # the estimate was a third too high, and the tools were there
        (1900, 2000, 1000),
        (2600, 2000, 1000),
        (200, 600, 400),  # made up, or too small to tell
        (255, 900, 500),
        (700, 1000, 300),  # few tools
        (690, 2000, 1000),  # more is missing than the tools: the prompt was cut
        (7000, 10_000, 1000),
        (6500, 10_000, 2000),  # a language that the estimate does not suit
    ],
)
async def test_counts_that_may_be_of_a_prompt_with_tools_prove_nothing(
    read: int, whole: int, tools: int
) -> None:
    model = Model(said("ok", read), "again")
    options = StreamOptions(estimated_tokens=whole, tools_tokens=tools)
    assert [await model.ask(options), await model.ask(options)] == ["ok", "again"]


async def test_ollamas_counts_prove_nothing() -> None:
    model = Model(said("ok", 1000), "again", spec=OLLAMA)
    assert [await model.ask(), await model.ask()] == ["ok", "again"]


async def test_a_model_that_has_called_a_tool_was_shown_it() -> None:
    call = ToolCall(id="1", name="calculate", arguments={})
    model = Model(said("", 1000, call), said("later", 1000), "again")
    assert [await model.ask() for _ in range(3)] == ["", "later", "again"]
    assert model.memory.of(OPENAI).because == "called"


async def test_a_call_that_was_found_in_text_proves_nothing() -> None:
    call = ToolCall(id="1", name="calculate", arguments={})
    model = Model(replace(said("", 1000, call), recovered_from="content"))
    await model.ask()
    assert await model.ask() == "enveloped"
