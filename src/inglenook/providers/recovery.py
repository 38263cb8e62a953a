"""RecoveringProvider: what a model meant, where its server passed on what it wrote.

Calls printed as text or left in the thinking become calls, thinking in tags becomes reasoning,
control tokens go. What counts as a call is `call_text.py`'s; the raw text is kept in `repairs`.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace

from inglenook.egress import Egress
from inglenook.errors import ProviderError
from inglenook.events import TextDelta
from inglenook.messages import Message, Reasoning, ToolSchema
from inglenook.providers.base import (
    ModelAbilities,
    ModelProvider,
    ModelReply,
    Part,
    StreamOptions,
)
from inglenook.providers.calls import RawCall, finished_calls
from inglenook.providers.finish_reasons import CUT_OFF_NOTE, is_cut_off
from inglenook.providers.live_text import LiveText
from inglenook.providers.think_tags import Split, split_thinking, without_tokens
from inglenook.providers.written_calls import Written, WrittenCalls

MAX_REPEATED_PIECES = 4096
"""Equal pieces in a row. A table's rule or a blank page has hundreds; a model that is stuck goes
on until its window is full, which on a CPU is an hour."""


class RecoveringProvider:
    """Its replies hold calls, text and thinking each in their place. Wrapped by the retrying
    provider: what is held back here was seen by nobody, and may come again."""

    def __init__(self, inner: ModelProvider, *, begins_thinking: bool = False) -> None:
        """`begins_thinking`: the model probably writes its thinking without an opening tag, so
        that its first text is not shown as an answer."""
        self._inner = inner
        self._opening_is_missing = self._is_guess = begins_thinking
        """Seen once: from then on this model's text counts as thinking up to the closing tag."""

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSchema], options: StreamOptions
    ) -> AsyncGenerator[Part, None]:
        calls = WrittenCalls(tools) if tools else None
        live = LiveText(calls, assume_thinking=self._opening_is_missing)
        last, repeats = "", 0
        async with aclosing(self._inner.stream(messages, tools, options)) as parts:
            async for part in parts:
                if isinstance(part, ModelReply):
                    reply = self._mended(part, messages, calls)
                    is_call = reply.recovered_from == "content" or reply.malformed_call is not None
                    for delta in live.end(reply.message.text, is_call=is_call):
                        yield delta
                    yield reply
                    continue
                repeats = repeats + 1 if part.text == last else 0
                last = part.text
                if repeats >= MAX_REPEATED_PIECES:
                    raise ProviderError(
                        f"The model repeated {last[:40]!r} {repeats} times in a row and was "
                        "stopped. Ask again, or choose another model."
                    )
                if type(part) is not TextDelta:
                    live.thinks_natively()
                    yield part
                    continue
                for delta in live.feed(part):
                    yield delta

    async def abilities(self, egress: Egress | None = None) -> ModelAbilities:
        return await self._inner.abilities(egress)

    def _mended(
        self, reply: ModelReply, messages: Sequence[Message], calls: WrittenCalls | None
    ) -> ModelReply:
        message = reply.message
        split = split_thinking(message.text)
        self._learn(message, split)
        if split.thinking:
            message = replace(message, reasoning=_joined(message.reasoning, split.thinking))
        if calls is not None and not message.tool_calls:
            if written := calls.in_answer(split.answer):
                message = replace(message, text=split.answer)
                return _with_written(reply, message, written, messages, "content")
            thinking = message.reasoning.text if message.reasoning else ""
            if thinking and not split.answer.strip() and (found := calls.in_thinking(thinking)):
                message = replace(message, text="")
                return _with_written(reply, message, found, messages, "thinking")
        answer = without_tokens(split.answer)
        if answer != message.text:
            message = replace(message, text=answer)
        if is_cut_off(reply.finish_reason) and answer and not message.tool_calls:
            reply = replace(reply, message=message, repairs=(*reply.repairs, CUT_OFF_NOTE))
        return reply if message is reply.message else replace(reply, message=message)

    def _learn(self, message: Message, split: Split) -> None:
        """Whether this model's text begins inside of its thinking; a guess holds until a reply
        contradicts it."""
        if split.opening_is_missing:
            self._opening_is_missing, self._is_guess = True, False
        elif self._is_guess and (split.answer.strip() or message.reasoning):
            self._opening_is_missing = self._is_guess = False


def _joined(native: Reasoning | None, thinking: str) -> Reasoning:
    """Thinking out of tags has no field of its own, so that it does not go back to the server."""
    if native is None:
        return Reasoning(text=thinking)
    return replace(native, text=f"{native.text}\n\n{thinking}" if native.text else thinking)


def _with_written(
    reply: ModelReply,
    message: Message,
    written: Written,
    messages: Sequence[Message],
    source: str,
) -> ModelReply:
    raw = [RawCall(None, call.name, call.arguments) for call in written.calls]
    calls, notes = finished_calls(raw, messages)
    kept = (f"the model wrote its call as text: {message.text}",) if message.text else ()
    return replace(
        reply,
        message=replace(message, text=without_tokens(written.lead_in), tool_calls=calls),
        recovered_from=source if calls else None,
        malformed_call=written.malformed,
        repairs=(*reply.repairs, *kept, *notes),
    )
