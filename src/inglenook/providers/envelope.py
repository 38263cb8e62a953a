"""EnvelopeProvider: tools for models that have none: a call is a JSON object in the reply's text.

A wrapper with the same method. The model's server is handed a JSON schema to hold the reply to;
where it takes none, the instructions alone must do. One reply holds one call or an answer.
"""

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace

from inglenook.egress import Egress
from inglenook.errors import ContextTooLong, ModelMissing, ProviderError
from inglenook.events import ReasoningDelta, TextDelta
from inglenook.messages import Message, ToolSchema
from inglenook.providers.base import (
    ModelAbilities,
    ModelProvider,
    ModelReply,
    ModelSpec,
    Part,
    StreamOptions,
)
from inglenook.providers.calls import RawCall, finished_calls
from inglenook.providers.envelope_prompt import for_envelope
from inglenook.providers.envelope_reply import EnvelopeReader, Read
from inglenook.providers.envelope_schema import reply_schema
from inglenook.providers.finish_reasons import CUT_OFF_NOTE, is_cut_off
from inglenook.providers.model_memory import ModelMemory
from inglenook.providers.wire_body import encode_tool
from inglenook.providers.written_calls import WrittenCalls

logger = logging.getLogger(__name__)

SCHEMA_REFUSALS = frozenset((400, 404, 405, 415, 422, 500, 501))
"""Statuses that servers answer a `response_format` with that they cannot serve. What else they may
mean shows when the same is asked without one."""


class EnvelopeProvider:
    """Wraps a provider whose replies are split into thinking and text (`RecoveringProvider`)."""

    def __init__(self, inner: ModelProvider, spec: ModelSpec, memory: ModelMemory) -> None:
        self._inner = inner
        self._spec = spec
        self._memory = memory

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSchema], options: StreamOptions
    ) -> AsyncGenerator[Part, None]:
        sent = for_envelope(messages, tools)
        if not tools:
            async with aclosing(self._inner.stream(sent, (), options)) as parts:
                async for part in parts:
                    yield part
            return
        options = replace(
            options,
            estimated_tokens=_estimated(messages, sent, tools, options),
            tools_tokens=None,
        )
        if not self._memory.of(self._spec).refuses_schema:
            held = replace(options, reply_schema=reply_schema(tools))
            has_begun = False
            try:
                async with aclosing(self._replies(messages, sent, tools, held)) as parts:
                    async for part in parts:
                        has_begun = True
                        yield part
                return
            except ProviderError as error:
                if has_begun or not _may_mean_the_schema(error):
                    raise
                logger.info("model %s: asked again without a schema: %s", self._spec.id, error)
        async with aclosing(self._replies(messages, sent, tools, options)) as parts:
            async for part in parts:
                self._note_refusal()
                yield part

    async def abilities(self, egress: Egress | None = None) -> ModelAbilities:
        return await self._inner.abilities(egress)

    def _note_refusal(self) -> None:
        """The call that was refused with a schema goes well without."""
        if not self._memory.of(self._spec).refuses_schema:
            self._memory.refused_schema(self._spec)

    async def _replies(
        self,
        messages: Sequence[Message],
        sent: Sequence[Message],
        tools: Sequence[ToolSchema],
        options: StreamOptions,
    ) -> AsyncGenerator[Part, None]:
        reader = EnvelopeReader()
        async with aclosing(self._inner.stream(sent, (), options)) as parts:
            async for part in parts:
                if isinstance(part, ModelReply):
                    is_cut = is_cut_off(part.finish_reason)
                    read = reader.end([tool.name for tool in tools], is_cut=is_cut)
                    if read.due:
                        yield TextDelta(read.due)
                    yield _unwrapped(part, read, messages, tools)
                elif isinstance(part, ReasoningDelta):
                    yield part
                elif text := reader.feed(part.text):
                    yield TextDelta(text)


def _unwrapped(
    reply: ModelReply, read: Read, messages: Sequence[Message], tools: Sequence[ToolSchema]
) -> ModelReply:
    """`reply` with the call or the answer that its text holds."""
    raw, repairs = reply.message.text, reply.repairs
    if reply.rejected or reply.message.tool_calls:
        return replace(reply, tool_mode="envelope")
    calls = [read.call] if read.call else []
    broken = read.broken
    if broken and not is_cut_off(reply.finish_reason):
        written = WrittenCalls(tools).in_answer(raw)
        if written is not None and written.calls:
            first = written.calls[0]
            calls, broken = [RawCall(None, first.name, first.arguments)], None
    made, notes = finished_calls(calls, messages)
    if made or broken:
        repairs = tuple(note for note in repairs if note != CUT_OFF_NOTE)
    if read.is_mended and read.text != raw:
        repairs = (*repairs, f"the reply was not the plain JSON that was asked for: {raw}")
    return replace(
        reply,
        message=replace(reply.message, text=read.text, tool_calls=made),
        tool_mode="envelope",
        malformed_call=broken,
        repairs=(*repairs, *notes),
    )


def _may_mean_the_schema(error: ProviderError) -> bool:
    is_other = isinstance(error, (ContextTooLong, ModelMissing))
    return not is_other and error.status in SCHEMA_REFUSALS


def _estimated(
    messages: Sequence[Message],
    sent: Sequence[Message],
    tools: Sequence[ToolSchema],
    options: StreamOptions,
) -> int | None:
    """The tokens of the request: its tools are a part of the system message here."""
    if options.estimated_tokens is None or options.tools_tokens is None:
        return options.estimated_tokens
    has_system = bool(messages) and messages[0].role == "system"
    as_text = len(sent[0].text) - (len(messages[0].text) if has_system else 0)
    native = sum(len(tool.wire.get("function") or encode_tool(tool)) for tool in tools)
    return round(options.estimated_tokens + options.tools_tokens * (as_text / native - 1))
