"""ScriptedProvider: a model that says what it was told to say, for tests, demos and replay."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from inglenook.egress import Egress
from inglenook.errors import ProviderError
from inglenook.events import ReasoningDelta, TextDelta
from inglenook.messages import Message, ToolSchema
from inglenook.providers.base import ModelAbilities, ModelReply, Part, StreamOptions

Said: TypeAlias = str | Message | ModelReply | Exception
ScriptLine: TypeAlias = Said | Callable[[Sequence[Message], Sequence[ToolSchema]], Said]
"""A string is an answer in text, an exception is raised, a function decides by the request."""


@dataclass(frozen=True, kw_only=True)
class SeenRequest:
    messages: tuple[Message, ...]
    tools: tuple[ToolSchema, ...]
    options: StreamOptions


class ScriptedProvider:
    def __init__(
        self,
        script: Iterable[ScriptLine] = (),
        *,
        abilities: ModelAbilities | None = None,
        piece_chars: int = 0,
        pause_s: float = 0.0,
    ) -> None:
        """`piece_chars`: text and reasoning are streamed in pieces of this size before the reply;
        0: as one piece. `pause_s` passes before each piece and before the reply."""
        self._script = list(script)
        self._abilities = abilities or ModelAbilities(tools=True)
        self._piece_chars = piece_chars
        self._pause_s = pause_s
        self.seen: list[SeenRequest] = []

    def add(self, *lines: ScriptLine) -> None:
        self._script += lines

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSchema], options: StreamOptions
    ) -> AsyncGenerator[Part, None]:
        self.seen.append(SeenRequest(messages=tuple(messages), tools=tuple(tools), options=options))
        if not self._script:
            raise ProviderError(f"the script has no line for request {len(self.seen)}; add one")
        line = self._script.pop(0)
        reply = _reply_of(line(messages, tools) if callable(line) else line)
        reasoning = reply.message.reasoning
        for piece in self._pieces(reasoning.text if reasoning else ""):
            await self._pause()
            yield ReasoningDelta(piece)
        for piece in self._pieces(reply.message.text):
            await self._pause()
            yield TextDelta(piece)
        await self._pause()
        yield reply

    async def abilities(self, egress: Egress | None = None) -> ModelAbilities:
        return self._abilities

    def _pieces(self, text: str) -> list[str]:
        size = self._piece_chars or len(text) or 1
        return [text[start : start + size] for start in range(0, len(text), size)]

    async def _pause(self) -> None:
        if self._pause_s:
            await asyncio.sleep(self._pause_s)


def _reply_of(said: Said) -> ModelReply:
    if isinstance(said, Exception):
        raise said
    if isinstance(said, ModelReply):
        return said
    message = Message(role="assistant", text=said) if isinstance(said, str) else said
    return ModelReply(message=message, finish_reason="tool_calls" if message.tool_calls else "stop")
