"""One Chat Completions reply put together from its chunks, as loosely as servers write them.

Pure: chunks in, deltas out, and at the end the calls, the reasoning and the usage.
Source: https://platform.openai.com/docs/api-reference/chat-streaming
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from inglenook.events import ReasoningDelta, TextDelta
from inglenook.messages import Message, Reasoning, Usage
from inglenook.providers import wire_json
from inglenook.providers.base import ModelReply, Part
from inglenook.providers.calls import RawCall, finished_calls, usable_id
from inglenook.providers.wire_json import dict_in, dicts_in, first_dict_in, text_in

REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking", "thought")
"""Where servers put the model's thinking; OpenRouter's structured form is `reasoning_details`."""
_REASONING_KEYS = frozenset({*REASONING_FIELDS, "reasoning_details"})
GROWING_TEXTS = ("text", "summary", "data")
"""Fields of a reasoning detail that come in pieces."""


@dataclass(kw_only=True)
class _OpenCall:
    """A call whose pieces are still coming."""

    id: str | None
    index: int | None
    name: str
    text: str = ""
    object: dict[str, Any] | None = None
    """Arguments that came as an object at once."""

    @property
    def is_complete(self) -> bool:
        if self.object is not None:
            return True
        try:
            return isinstance(wire_json.decode(self.text.encode("utf-8", "replace")), dict)
        except ValueError:
            return False


@dataclass
class OpenAIReply:
    finish_reason: str | None = None
    usage: Usage | None = None
    _text: list[str] = field(default_factory=list[str])
    _reasoning: list[str] = field(default_factory=list[str])
    _reasoning_field: str = ""
    _details: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    _calls: list[_OpenCall] = field(default_factory=list[_OpenCall])
    _by_id: dict[str, _OpenCall] = field(default_factory=dict[str, _OpenCall])
    _by_index: dict[int, _OpenCall] = field(default_factory=dict[int, _OpenCall])

    def take(self, chunk: dict[str, Any]) -> Sequence[Part]:
        """The deltas in one chunk.

        Shape: {"choices": [{"index": 0, "delta": {"content"?, "tool_calls"?, …},
        "finish_reason": str | null}], "usage"?: {"prompt_tokens", "completion_tokens"} | null};
        where the server does not stream, `message` in place of `delta`.
        """
        if chunk.get("usage"):
            self._take_usage(dict_in(chunk, "usage"))
        choice = first_dict_in(chunk.get("choices"))
        if not choice or choice.get("index") not in (0, None):
            return ()  # further choices are never asked for
        if not self.finish_reason:
            self.finish_reason = text_in(choice, "finish_reason") or None
        delta = dict_in(choice, "delta") or dict_in(choice, "message")
        parts: list[Part] = []
        if len(delta) > ("content" in delta) + ("role" in delta):
            if not _REASONING_KEYS.isdisjoint(delta):
                parts += self._take_reasoning(delta)
            for fragment in dicts_in(delta.get("tool_calls")):
                self._take_call(fragment)
        if text := _content_text(delta.get("content")):
            self._text.append(text)
            parts.append(TextDelta(text))
        return parts

    def finished(self, messages: Sequence[Message]) -> ModelReply:
        raw = [RawCall(c.id, c.name, c.text if c.object is None else c.object) for c in self._calls]
        calls, repairs = finished_calls(raw, messages) if raw else ((), ())
        reasoning = None
        if self._reasoning_field or self._details:
            reasoning = Reasoning(
                text="".join(self._reasoning),
                field=self._reasoning_field,
                details=tuple(_joined(item) for item in self._details),
            )
        return ModelReply(
            message=Message(
                role="assistant", text="".join(self._text), tool_calls=calls, reasoning=reasoning
            ),
            usage=self.usage,
            finish_reason=self.finish_reason,
            repairs=repairs,
        )

    def _take_usage(self, usage: dict[str, Any]) -> None:
        """The last count wins: some servers send a running one with every chunk."""
        sent, made = usage.get("prompt_tokens"), usage.get("completion_tokens")
        if isinstance(sent, int) and isinstance(made, int) and min(sent, made) >= 0:
            self.usage = Usage(input_tokens=sent, output_tokens=made)

    def _take_reasoning(self, delta: dict[str, Any]) -> list[Part]:
        """Deltas of the first field that has text: servers with two fields send one text twice."""
        parts: list[Part] = []
        for name in REASONING_FIELDS:
            text = delta.get(name)
            if not isinstance(text, str):
                continue
            if text and (name == self._reasoning_field or not self._reasoning):
                self._reasoning_field = name
                self._reasoning.append(text)
                parts.append(ReasoningDelta(text))
                break
            # an empty text counts: DeepSeek wants the field back with a call
            self._reasoning_field = self._reasoning_field or name
        for item in dicts_in(delta.get("reasoning_details")):
            self._take_detail(item)
            if not self._reasoning and (text := text_in(item, "text")):
                parts.append(ReasoningDelta(text))
        return parts

    def _take_detail(self, item: dict[str, Any]) -> None:
        """Join the pieces of one item: same type and index, and texts that grow.

        Source: https://openrouter.ai/docs/use-cases/reasoning-tokens
        """
        last: dict[str, Any] = self._details[-1] if self._details else {}
        if not last or any(last.get(key) != item.get(key) for key in ("type", "index")):
            last = {}
            self._details.append(last)
        for key, value in item.items():
            if key in GROWING_TEXTS and isinstance(value, str):
                last.setdefault(key, []).append(value)
            elif value is not None or key not in last:
                last[key] = value

    def _take_call(self, fragment: dict[str, Any]) -> None:
        """
        Shape: {"index"?, "id"?, "function": {"name"?, "arguments"?: str | {…}}}
        """
        function = dict_in(fragment, "function")
        index, id_, name = (
            fragment.get("index"),
            usable_id(fragment.get("id")),
            text_in(function, "name"),
        )
        arguments: object = function.get("arguments")
        call = self._continued(index, id_, name, arguments)
        if call is None:
            call = _OpenCall(id=id_, index=index if isinstance(index, int) else None, name=name)
            self._calls.append(call)
        call.id = call.id or id_
        if call.id:
            self._by_id[call.id] = call
        if isinstance(index, int):
            self._by_index[index] = call
        call.name = call.name or name
        if isinstance(arguments, dict):
            call.object = cast("dict[str, Any]", arguments)
        elif isinstance(arguments, str) and not _is_repeated(call, arguments):
            call.text += arguments

    def _continued(
        self, index: object, id_: str | None, name: str, arguments: object
    ) -> _OpenCall | None:
        """The open call that a fragment belongs to; None: it begins a new one.

        The index alone does not tell: some servers number every call 0, leave the number out, or
        make up a new id for every fragment.
        """
        call = self._candidate(index, id_)
        if call is None:
            return None
        if name and isinstance(index, int) and call.index is not None and call.index != index:
            return None  # some servers give all calls of a reply one id
        if id_ and call.id and id_ != call.id:
            return None if name or call.is_complete else call
        if name and arguments and call.name and call.is_complete:
            if not id_:
                return None
            if _begins_an_object(arguments) and not _is_repeated(call, arguments):
                return None  # another call under the same id
        return call

    def _candidate(self, index: object, id_: str | None) -> _OpenCall | None:
        numbered = self._by_index.get(index) if isinstance(index, int) else None
        if numbered is not None and id_ and numbered.id == id_:
            return numbered
        if id_ and (call := self._by_id.get(id_)):
            return call
        if index is None:
            return self._calls[-1] if self._calls else None
        return numbered


def _joined(item: dict[str, Any]) -> dict[str, Any]:
    texts = {key: item[key] for key in GROWING_TEXTS if isinstance(item.get(key), list)}
    return item | {key: "".join(pieces) for key, pieces in texts.items()}


def _is_repeated(call: _OpenCall, arguments: object) -> bool:
    """Some servers send the whole call once more at the end."""
    if isinstance(arguments, dict):
        return call.object == arguments
    return bool(arguments) and call.text == arguments and call.is_complete


def _begins_an_object(arguments: object) -> bool:
    return isinstance(arguments, dict) or str(arguments).lstrip()[:1] == "{"


def _content_text(content: object) -> str:
    """The text of a delta; Mistral sends a list of {"type": "text", "text": str}."""
    if isinstance(content, str):
        return content
    return "".join(text_in(item, "text") for item in dicts_in(content)) if content else ""
