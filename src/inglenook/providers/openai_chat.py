"""Chat Completions over server-sent events: llama.cpp, vLLM, LM Studio, DeepSeek, OpenRouter.

Source: https://platform.openai.com/docs/api-reference/chat
"""

import re
from collections.abc import AsyncGenerator, Sequence
from typing import Any, cast

import aiohttp

from inglenook.egress import Egress
from inglenook.errors import ProviderError, shown_address
from inglenook.messages import Message, ToolSchema
from inglenook.providers import wire_json
from inglenook.providers.base import ModelAbilities, ModelSpec, Part, StreamOptions
from inglenook.providers.openai_reply import OpenAIReply
from inglenook.providers.stream_lines import DocumentSplitter, EventSplitter
from inglenook.providers.transport import CONNECT_TIMEOUT_S, IDLE_TIMEOUT_S, ModelServer
from inglenook.providers.wire_body import chat_body
from inglenook.providers.wire_json import dict_in, dicts_in, is_json, text_in

DONE = b"[DONE]"
PLAIN, WITH_REASONING = "openai", "openai+reasoning"
"""Names of the two encodings of a message."""
NO_REASONING = " "
"""Sent for a call whose thinking is unknown, to a server that wants it back; DeepSeek refuses a
missing one and an empty one (NousResearch/hermes-agent#18263)."""


MAX_NAME_CHARS = 64
_NO_TOOL_NAME = re.compile(r"[^a-zA-Z0-9_-]+")


class OpenAIChatProvider:
    def __init__(
        self,
        session: aiohttp.ClientSession,
        spec: ModelSpec,
        *,
        connect_timeout_s: float = CONNECT_TIMEOUT_S,
        idle_timeout_s: float = IDLE_TIMEOUT_S,
    ) -> None:
        """`spec.thinking` is sent as `thinking`, the switch of DeepSeek, GLM and Kimi; other
        servers have it in their model's template, so leave it unset for them."""
        self._model = spec.model
        self._server = ModelServer(
            session,
            base_url=spec.base_url,
            model=spec.model,
            api_key=spec.api_key,
            model_hint=f"{shown_address(spec.base_url.rstrip('/'))}/models lists the names it has.",
            connect_timeout_s=connect_timeout_s,
            idle_timeout_s=idle_timeout_s,
        )
        self._wants_reasoning = spec.thinking is True
        self._fixed: dict[str, Any] = {
            "model": spec.model,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if spec.thinking is not None:
            self._fixed["thinking"] = {"type": "enabled" if spec.thinking else "disabled"}
        if spec.reasoning_effort is not None:
            self._fixed["reasoning_effort"] = spec.reasoning_effort

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSchema], options: StreamOptions
    ) -> AsyncGenerator[Part, None]:
        body = self._body(messages, tools, options)
        answer = await self._server.open_stream("chat/completions", body, options.egress)
        try:
            reply = OpenAIReply()
            events = DocumentSplitter() if answer.is_json else EventSplitter()
            is_done = False
            chunk = b"\n"
            while chunk and not is_done:
                chunk = await (answer.read_tail() if reply.finish_reason else answer.read())
                for data in events.feed(chunk) if chunk else _sound(events.close()):
                    if data == DONE:
                        is_done = True
                        break
                    for part in self._take(data, reply):
                        yield part
            if not is_done and not reply.finish_reason:
                raise self._server.broken_off()
            if reply.finish_reason == "error":  # OpenRouter, where a model's server failed half-way
                raise self._server.stream_error(
                    "the model's server failed in the middle of a reply"
                )
            await answer.finish()
            yield reply.finished(messages)
        finally:
            answer.close()

    def _take(self, data: bytes, reply: OpenAIReply) -> Sequence[Part]:
        chunk = self._server.decode(data)
        if chunk.get("error"):
            raise self._server.stream_error(chunk["error"])
        return reply.take(chunk)

    async def abilities(self, egress: Egress | None = None) -> ModelAbilities:
        """What `/models` says: much at OpenRouter, the window at vLLM and llama.cpp."""
        try:
            answer = await self._server.ask("models", egress=egress)
        except ProviderError as error:
            if error.status in (404, 405):  # not all compatible servers have the list
                return ModelAbilities()
            raise
        entries = dicts_in(answer.get("data"))
        for entry in entries:
            if entry.get("id") == self._model:
                return abilities_of(entry)
        # a server of one model answers to any name
        return abilities_of(entries[0]) if len(entries) == 1 else ModelAbilities()

    def _body(
        self, messages: Sequence[Message], tools: Sequence[ToolSchema], options: StreamOptions
    ) -> bytes:
        fixed = self._fixed
        if options.max_output_tokens is not None:
            fixed = {**fixed, "max_tokens": options.max_output_tokens}
        if options.reply_schema is not None:
            schema = {"name": "reply", "strict": True, "schema": options.reply_schema}
            fixed = {**fixed, "response_format": {"type": "json_schema", "json_schema": schema}}
        if self._wants_reasoning:
            sent = [m.wire.get(WITH_REASONING) or encode_message(m, True) for m in messages]
        else:
            sent = [m.wire.get(PLAIN) or encode_message(m, False) for m in messages]
        return chat_body(fixed, tools, sent)


def encode_message(message: Message, wants_reasoning: bool) -> bytes:
    """The message in OpenAI's shape, kept on the message for the steps to come.

    Shape: {"role","content"[,"tool_calls":[{"id","type","function":{"name","arguments"}}]]}, a
    result as {"role":"tool","tool_call_id","content"}. Arguments are a string here, where Ollama
    has an object. Reasoning goes back under the name it came under, with the calls it led to;
    where the server `wants_reasoning`, with every reply, and no call goes without it.
    """
    shape: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.role == "tool":
        shape["tool_call_id"] = message.call_id or ""
    if message.tool_calls:
        shape["content"] = message.text or None
        shape["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": _sent_name(call.name),
                    "arguments": wire_json.encode(call.arguments).decode(),
                },
            }
            for call in message.tool_calls
        ]
    if message.tool_calls or wants_reasoning:
        shape |= _reasoning_of(message, wants_reasoning)
    encoded = wire_json.encode(shape)
    message.wire[WITH_REASONING if wants_reasoning else PLAIN] = encoded
    return encoded


def _sent_name(name: str) -> str:
    """OpenAI refuses every later request of a conversation in which a model once made up a name
    that no tool could have; the rule is `^[a-zA-Z0-9_-]{1,64}$`."""
    if not (name.isascii() and name.isidentifier()):
        name = _NO_TOOL_NAME.sub("_", name.strip()) or "unnamed"
    return name[:MAX_NAME_CHARS]


def _reasoning_of(message: Message, wants_reasoning: bool) -> dict[str, Any]:
    shape: dict[str, Any] = {}
    reasoning = message.reasoning
    if reasoning is not None and reasoning.field:
        # `thinking` is Ollama's name: such a reply comes from before the run changed its model
        foreign = wants_reasoning and reasoning.field == "thinking"
        text = reasoning.text or (NO_REASONING if wants_reasoning else "")
        shape["reasoning_content" if foreign else reasoning.field] = text
    elif wants_reasoning and message.tool_calls:
        shape["reasoning_content"] = NO_REASONING
    if reasoning is not None and reasoning.details:
        shape["reasoning_details"] = list(reasoning.details)
    return shape


async def list_models(
    session: aiohttp.ClientSession, base_url: str, api_key: str | None = None
) -> list[str]:
    """Names of the models that are served there.

    Raises:
        ProviderError: As `ModelProvider.abilities`.
    """
    server = ModelServer(session, base_url=base_url, model="", api_key=api_key)
    answer = await server.ask("models")
    return [name for entry in dicts_in(answer.get("data")) if (name := text_in(entry, "id"))]


def abilities_of(entry: dict[str, Any]) -> ModelAbilities:
    """
    Shape: {"id", "context_length"?: int (OpenRouter), "max_model_len"?: int (vLLM),
    "meta"?: {"n_ctx"?: int} (llama.cpp), "supported_parameters"?: [str] (OpenRouter)}
    """
    served = (entry.get("max_model_len"), dict_in(entry, "meta").get("n_ctx"))
    windows = [size for size in (entry.get("context_length"), *served) if isinstance(size, int)]
    listed: object = entry.get("supported_parameters")
    parameters = cast("list[object]", listed) if isinstance(listed, list) else None
    return ModelAbilities(
        tools=None if parameters is None else "tools" in parameters,
        thinking=None if parameters is None else "reasoning" in parameters,
        context_tokens=next(iter(windows), None),
        served_tokens=next((size for size in served if isinstance(size, int)), None),
    )


def _sound(last: list[bytes]) -> list[bytes]:
    """What a stream ends with, unless it is cut off."""
    return [data for data in last if data == DONE or is_json(data)]
