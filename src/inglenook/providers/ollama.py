"""Ollama's native `/api/chat`: one streamed NDJSON reply, and what Ollama knows of its models.

Source: https://github.com/ollama/ollama/blob/main/docs/api.md
"""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from typing import Any, cast

import aiohttp

from inglenook.egress import Egress
from inglenook.errors import ConfigError, ProviderError
from inglenook.events import ReasoningDelta, TextDelta
from inglenook.messages import Message, Reasoning, ToolSchema, Usage
from inglenook.providers import wire_json
from inglenook.providers.base import (
    DEFAULT_CONTEXT_TOKENS,
    ModelAbilities,
    ModelReply,
    ModelSpec,
    Part,
    StreamOptions,
)
from inglenook.providers.calls import RawCall, finished_calls
from inglenook.providers.stream_lines import LineSplitter
from inglenook.providers.transport import CONNECT_TIMEOUT_S, IDLE_TIMEOUT_S, ModelServer
from inglenook.providers.wire_body import chat_body
from inglenook.providers.wire_json import (
    Repeating,
    decode_repeating,
    dict_in,
    dicts_in,
    is_json,
    repeats_a_key,
    text_in,
)


class OllamaProvider:
    def __init__(
        self,
        session: aiohttp.ClientSession,
        spec: ModelSpec,
        *,
        connect_timeout_s: float = CONNECT_TIMEOUT_S,
        idle_timeout_s: float = IDLE_TIMEOUT_S,
    ) -> None:
        """
        Raises:
            ConfigError: `spec` asks for a reasoning effort, which Ollama's `think` does not have.
        """
        if spec.reasoning_effort is not None:
            raise ConfigError(
                f"model {spec.id!r}: reasoning_effort {spec.reasoning_effort!r} has no place in "
                'Ollama\'s API; use thinking = true or false, or provider = "openai".'
            )
        self._model = spec.model
        self._server = ModelServer(
            session,
            base_url=spec.base_url,
            model=spec.model,
            api_key=spec.api_key,
            model_hint=f"Fetch it with `ollama pull {spec.model}`, or correct the name.",
            connect_timeout_s=connect_timeout_s,
            idle_timeout_s=idle_timeout_s,
        )
        self._context_tokens = spec.context_tokens or DEFAULT_CONTEXT_TOKENS
        self._fixed: dict[str, Any] = {"model": spec.model, "stream": True}
        if spec.thinking is not None:
            self._fixed["think"] = spec.thinking

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSchema], options: StreamOptions
    ) -> AsyncGenerator[Part, None]:
        body = self._body(messages, tools, options)
        answer = await self._server.open_stream("api/chat", body, options.egress)
        try:
            reply = _Reply(self._server)
            lines = LineSplitter()
            while not reply.is_done:
                chunk = await answer.read()
                for line in lines.feed(chunk) if chunk else _sound(lines.close()):
                    for part in reply.take(line):
                        yield part
                if not chunk and not reply.is_done:
                    raise self._server.broken_off()
            await answer.finish()
            yield reply.finished(messages)
        finally:
            answer.close()

    async def abilities(self, egress: Egress | None = None) -> ModelAbilities:
        shown = await self._server.ask("api/show", {"model": self._model}, egress)
        return replace(abilities_of(shown), served_tokens=await self._served_tokens(egress))

    async def _served_tokens(self, egress: Egress | None) -> int | None:
        """The window that the model is loaded with now, where it is loaded.

        Shape: {"models": [{"name": str, "model": str, "context_length"?: int}]}
        """
        try:
            loaded = await self._server.ask("api/ps", egress=egress)
        except ProviderError:  # only told in passing
            return None
        names = (self._model, f"{self._model}:latest")
        for entry in dicts_in(loaded.get("models")):
            size: object = entry.get("context_length")
            if entry.get("name") in names and isinstance(size, int):
                return size
        return None

    def _body(
        self, messages: Sequence[Message], tools: Sequence[ToolSchema], options: StreamOptions
    ) -> bytes:
        limits = {"num_ctx": options.window or self._context_tokens}
        if options.max_output_tokens is not None:
            limits["num_predict"] = options.max_output_tokens
        fixed = {**self._fixed, "options": limits}
        if options.reply_schema is not None:
            fixed["format"] = options.reply_schema
        sent = [m.wire.get("ollama") or encode_message(m) for m in messages]
        return chat_body(fixed, tools, sent)


def encode_message(message: Message) -> bytes:
    """The message in Ollama's shape, kept on the message for the steps to come.

    Shape: {"role","content"[,"thinking"][,"tool_calls":[{"function":{"name","arguments":{}}}]]},
    a result as {"role":"tool","tool_name","content"}. Arguments are an object here, where OpenAI
    has a string; thinking goes back only with the calls it led to.
    """
    shape: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.tool_calls:
        if message.reasoning is not None and message.reasoning.text:
            shape["thinking"] = message.reasoning.text
        shape["tool_calls"] = [
            {"function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    if message.role == "tool":
        shape["tool_name"] = message.tool_name or ""
    encoded = message.wire["ollama"] = wire_json.encode(shape)
    return encoded


class _Reply:
    """One reply in the making."""

    def __init__(self, server: ModelServer) -> None:
        self._server = server
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._calls: list[RawCall] = []
        self._last: dict[str, Any] = {}
        self.is_done = False

    def take(self, line: bytes) -> Sequence[Part]:
        """
        Shape: {"message": {"content": str, "thinking"?: str, "tool_calls"?: […]}, "done": bool},
        or {"error": str} also after a good start.

        Raises:
            ProviderError: The line says that the model failed, or is no JSON.
        """
        if not line or line.isspace() or self.is_done:
            return ()
        event = self._server.decode(line)
        if event.get("error"):
            raise self._server.stream_error(event["error"])
        if event.get("done") is True:
            self.is_done = True
            self._last = event
        message = dict_in(event, "message")
        parts: list[Part] = []
        if thinking := text_in(message, "thinking"):
            self._thinking.append(thinking)
            parts.append(ReasoningDelta(thinking))
        if content := text_in(message, "content"):
            self._text.append(content)
            parts.append(TextDelta(content))
        if message.get("tool_calls"):
            self._calls += _raw_calls(message, line.decode("utf-8", "replace"))
        return parts

    def finished(self, messages: Sequence[Message]) -> ModelReply:
        calls, repairs = finished_calls(self._calls, messages) if self._calls else ((), ())
        thinking = "".join(self._thinking)
        return ModelReply(
            message=Message(
                role="assistant",
                text="".join(self._text),
                tool_calls=calls,
                reasoning=Reasoning(text=thinking, field="thinking") if thinking else None,
            ),
            usage=_usage(self._last),
            finish_reason=text_in(self._last, "done_reason") or None,
            repairs=repairs,
        )


async def list_models(
    session: aiohttp.ClientSession, base_url: str, api_key: str | None = None
) -> list[str]:
    """Names of the models that are installed there.

    Raises:
        ProviderError: As `ModelProvider.abilities`.
    """
    server = ModelServer(session, base_url=base_url, model="", api_key=api_key)
    answer = await server.ask("api/tags")
    return [name for entry in dicts_in(answer.get("models")) if (name := text_in(entry, "name"))]


def abilities_of(shown: dict[str, Any]) -> ModelAbilities:
    """
    Shape: {"capabilities"?: [str], "model_info": {"<architecture>.context_length": int}}; before
    0.6 there are no capabilities.
    """
    listed: object = shown.get("capabilities")
    capabilities = cast("list[object]", listed) if isinstance(listed, list) else None
    info = dict_in(shown, "model_info")
    windows = [info[key] for key in info if key.endswith(".context_length")]
    return ModelAbilities(
        tools=None if capabilities is None else "tools" in capabilities,
        thinking=None if capabilities is None else "thinking" in capabilities,
        context_tokens=next((window for window in windows if isinstance(window, int)), None),
    )


def _raw_calls(message: dict[str, Any], line: str) -> list[RawCall]:
    """The calls of one line of the stream, whose `message` this is.

    Arguments are an object here, decoded with the line, and with a key that stood twice one of its
    values is gone. Such arguments are handed on as text, in which that is seen and refused.
    """
    if repeats_a_key(line):
        message = dict_in(decode_repeating(line), "message")
    found: list[RawCall] = []
    for call in dicts_in(message["tool_calls"]):
        function = dict_in(call, "function")
        arguments = function.get("arguments")
        if isinstance(arguments, Repeating):
            arguments = arguments.text
        found.append(RawCall(call.get("id"), function.get("name"), arguments))
    return found


def _usage(last: dict[str, Any]) -> Usage | None:
    """Ollama leaves a count out where it is zero, as for a prompt it still had in its cache."""
    sent, made = last.get("prompt_eval_count", 0), last.get("eval_count", 0)
    if not isinstance(sent, int) or not isinstance(made, int) or min(sent, made) < 0:
        return None
    if not (sent or made):
        return None
    return Usage(input_tokens=sent, output_tokens=made)


def _sound(last: bytes) -> list[bytes]:
    """What a stream ends with, unless it is cut off."""
    return [last] if is_json(last) else []
