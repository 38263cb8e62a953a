"""What `ScriptedServer` can be told to say, and its encoding in both wire formats."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypedDict


class ScriptedCall(TypedDict, total=False):
    name: str
    arguments: Any
    """An object, or a string that is sent as it is (OpenAI's face)."""
    id: str | None
    """Absent: `call_1`, `call_2`, … on OpenAI's face, none on Ollama's."""


class Reply(TypedDict, total=False):
    content: str
    thinking: str
    """Sent as `thinking` by Ollama's face, as `reasoning_field` by OpenAI's."""
    reasoning_field: str
    """Default `reasoning_content`."""
    tool_calls: list[ScriptedCall]
    finish: str
    """Default: `stop`, or `tool_calls` on OpenAI's face when there are calls."""
    usage: tuple[int, int] | None
    """Tokens in and out; default (7, 3); None: not reported."""
    pace_s: float
    """Pause before each streamed piece."""


@dataclass(frozen=True, kw_only=True)
class Raw:
    """`pieces`: bytes are written at once and flushed, a number is a pause in seconds."""

    pieces: Sequence[bytes | float]
    status: int = 200
    content_type: str | None = None
    """Default: what the path normally answers with."""
    cut: bool = False
    """End by dropping the connection in the middle of the body."""
    hang: bool = False
    """After the pieces, keep the connection open until the client closes it."""


@dataclass(frozen=True, kw_only=True)
class Failure:
    status: int
    body: Any = ""
    """A string is sent as text, anything else as JSON."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


Answer: TypeAlias = str | Reply | Raw | Failure
ScriptEntry: TypeAlias = Answer | Callable[[dict[str, Any]], Answer]


def calls(*named: tuple[str, Any], content: str = "", thinking: str = "") -> Reply:
    """A reply that calls tools: `calls(("calculate", {"expression": "2+2"}))`."""
    reply = Reply(tool_calls=[ScriptedCall(name=name, arguments=args) for name, args in named])
    if content:
        reply["content"] = content
    if thinking:
        reply["thinking"] = thinking
    return reply


def ollama_lines(reply: Reply) -> list[bytes]:
    """The reply as Ollama's native NDJSON: whole calls with arguments as objects, then `done`.

    Source: https://github.com/ollama/ollama/blob/main/docs/api.md
    """
    parts: list[dict[str, Any]] = [
        {"content": "", "thinking": word} for word in _words(reply.get("thinking", ""))
    ]
    parts += [{"content": word} for word in _words(reply.get("content", ""))]
    for call in reply.get("tool_calls", []):
        function = {"name": call.get("name"), "arguments": call.get("arguments")}
        named = {"id": call["id"]} if "id" in call else {}
        parts.append({"content": "", "tool_calls": [{**named, "function": function}]})
    lines = [{"message": {"role": "assistant", **part}, "done": False} for part in parts]
    last: dict[str, Any] = {
        "message": {"role": "assistant", "content": ""},
        "done": True,
        "done_reason": reply.get("finish", "stop"),
    }
    if (usage := reply.get("usage", (7, 3))) is not None:
        last |= {"prompt_eval_count": usage[0], "eval_count": usage[1]}
    base = {"model": "scripted", "created_at": "2026-01-01T00:00:00Z"}
    return [dump({**base, **line}) + b"\n" for line in [*lines, last]]


def openai_lines(reply: Reply) -> list[bytes]:
    """The reply as Chat Completions events: a call's name first, its arguments in two pieces.

    Source: https://platform.openai.com/docs/api-reference/chat-streaming
    """
    field_name = reply.get("reasoning_field", "reasoning_content")
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{field_name: word} for word in _words(reply.get("thinking", ""))]
    deltas += [{"content": word} for word in _words(reply.get("content", ""))]
    requested = reply.get("tool_calls", [])
    for index, call in enumerate(requested):
        arguments = call.get("arguments")
        text = arguments if isinstance(arguments, str) else dump(arguments).decode()
        first = {
            "index": index,
            "id": call.get("id", f"call_{index + 1}"),
            "type": "function",
            "function": {"name": call.get("name"), "arguments": ""},
        }
        deltas.append({"tool_calls": [first]})
        for part in (text[:9], text[9:]):
            deltas.append({"tool_calls": [{"index": index, "function": {"arguments": part}}]})
    events = [_event([{"index": 0, "delta": delta, "finish_reason": None}]) for delta in deltas]
    finish = reply.get("finish", "tool_calls" if requested else "stop")
    events.append(_event([{"index": 0, "delta": {}, "finish_reason": finish}]))
    if (usage := reply.get("usage", (7, 3))) is not None:
        counted = {"prompt_tokens": usage[0], "completion_tokens": usage[1]}
        events.append({**_event([]), "usage": {**counted, "total_tokens": sum(usage)}})
    return [b"data: " + dump(event) + b"\n\n" for event in events] + [b"data: [DONE]\n\n"]


def _event(choices: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": "chatcmpl-0",
        "object": "chat.completion.chunk",
        "created": 1767225600,
        "model": "scripted",
        "choices": choices,
    }


def _words(text: str) -> list[str]:
    """The text in pieces as a model streams it: each word with the space before it."""
    first, *rest = text.split(" ")
    return [piece for piece in (first, *(f" {word}" for word in rest)) if piece]


def dump(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")
