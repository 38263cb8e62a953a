"""A model's speed, learned from real calls by the clock on the wall."""

from collections.abc import AsyncGenerator, Sequence

import pytest

from inglenook.egress import Egress
from inglenook.events import TextDelta
from inglenook.messages import Message, ToolSchema, Usage
from inglenook.providers.base import ModelAbilities, ModelReply, Part, StreamOptions
from inglenook.providers.model_memory import Known, ModelMemory
from inglenook.providers.speed import MeasuredProvider
from tests.providers.streaming import QUESTION, call_history, ollama_spec, streamed

SPEC = ollama_spec("http://127.0.0.1:1")


class TimedModel:
    """Reads for `reads_s` and then writes a piece every `writes_s`, by a clock of its own."""

    def __init__(
        self, *, reads_s: float, writes_s: float, pieces: int, usage: Usage | None
    ) -> None:
        self.now = 0.0
        self._reads_s, self._writes_s, self._pieces = reads_s, writes_s, pieces
        self._usage = usage

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSchema], options: StreamOptions
    ) -> AsyncGenerator[Part, None]:
        self.now += self._reads_s
        for n in range(self._pieces):
            self.now += self._writes_s if n else 0
            yield TextDelta("x")
        yield ModelReply(message=Message(role="assistant", text="x"), usage=self._usage)

    async def abilities(self, egress: Egress | None = None) -> ModelAbilities:
        return ModelAbilities()


async def measured(model: TimedModel, *asked: Sequence[Message]) -> Known:
    memory = ModelMemory()
    provider = MeasuredProvider(model, SPEC, memory, clock=lambda: model.now)
    for messages in asked or [QUESTION]:
        await streamed(provider, messages)
    return memory.of(SPEC)


async def test_reading_and_writing_are_told_apart() -> None:
    usage = Usage(input_tokens=500, output_tokens=11)
    known = await measured(TimedModel(reads_s=5, writes_s=0.1, pieces=11, usage=usage))
    assert known.read_s == pytest.approx(10.0)  # pyright: ignore[reportUnknownMemberType]
    assert known.write_s == pytest.approx(100.0)  # pyright: ignore[reportUnknownMemberType]


async def test_a_prompt_that_the_server_has_just_read_is_not_measured() -> None:
    usage = Usage(input_tokens=500, output_tokens=11)
    model = TimedModel(reads_s=5, writes_s=0.1, pieces=11, usage=usage)
    long = (Message(role="system", text="x" * 500), *QUESTION)
    known = await measured(model, long, (*long, Message(role="assistant", text="4")))
    assert known.read_s == pytest.approx(10.0)  # pyright: ignore[reportUnknownMemberType]
    other = await measured(model, long, call_history())
    assert other.read_s == pytest.approx(10.0)  # pyright: ignore[reportUnknownMemberType]


@pytest.mark.parametrize(
    ("pieces", "usage"),
    [
        (11, None),
        (0, Usage(input_tokens=500, output_tokens=11)),
        (11, Usage(input_tokens=7, output_tokens=3)),
        (1, Usage(input_tokens=7, output_tokens=400)),
    ],
)
async def test_calls_that_tell_nothing_are_not_measured(pieces: int, usage: Usage | None) -> None:
    model = TimedModel(reads_s=5, writes_s=0.1, pieces=pieces, usage=usage)
    assert await measured(model) == Known()
