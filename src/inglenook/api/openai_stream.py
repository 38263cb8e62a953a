"""A run's frames as Chat Completions chunks that Open WebUI renders: pure, no clock and no I/O.

Text, reasoning, tool traces and citations go out as measured on Open WebUI 0.12.4. What OpenAI's
format has no place for rides on a chunk with an empty delta, so that other clients pass over it.
`delta.tool_calls` is never sent: Open WebUI would run the tools again.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from inglenook.agent.strategies import RESEARCH
from inglenook.agent.window_state import LOOP
from inglenook.api.openai_body import RESEARCH_SUFFIX
from inglenook.events import (
    ApprovalRequested,
    ModelReplied,
    ModelRequested,
    ReasoningDelta,
    RunEvent,
    RunFinished,
    RunWaiting,
    StepStarted,
    TextDelta,
    ToolFinished,
    ToolStarted,
)
from inglenook.messages import Source, ToolCall, Usage
from inglenook.research.status import status_text
from inglenook.store.base import RunRow

Chunk = dict[str, Any]
UNFINISHED = "The run ended before this call did; its outcome is unknown."


class ChatStream:
    def __init__(self, row: RunRow, *, show_reasoning: bool, include_usage: bool) -> None:
        self._head = head(row, "chat.completion.chunk")
        self._run_id = row.id
        self._show_reasoning = show_reasoning
        self._include_usage = include_usage
        self._usage = Usage()
        self._said = ""
        """What was streamed of the present reply's text."""
        self._needs_break = False
        """The next text begins a new paragraph."""
        self._open_calls: dict[str, ToolCall] = {}
        self._sources: dict[int, Source] = {}
        self._sources_sent = 0
        self._titles: set[str] = set()
        self._is_report = is_research(row)
        """What the model says under way is no part of the answer, which comes whole at the end."""

    def opening(self) -> list[Chunk]:
        return [self._chunk({"role": "assistant", "content": ""})]

    def of(self, frame: RunEvent | TextDelta) -> list[Chunk]:
        """The chunks that a frame becomes; frames come in their order."""
        match frame:
            case ReasoningDelta():
                return self._reasoning(frame.text)
            case TextDelta():
                return [] if self._is_report else self._text(frame.text)
            case StepStarted():
                self._needs_break = self._needs_break or bool(self._said)
                self._said = ""
                return []
            case ModelRequested():
                return [self._status("model", f"Step {frame.step}: the model works", done=False)]
            case ModelReplied():
                return self._reply(frame)
            case ToolStarted():
                self._open_calls[frame.call.id] = frame.call
                return [self._call(frame.call, "in_progress"), *self._progress(frame.call)]
            case ToolFinished():
                return self._result(frame)
            case ApprovalRequested() | RunWaiting():
                return [self._status("run", self._waits(frame), done=False)]
            case RunFinished():
                return self._end(frame)
            case _:
                return []

    def _waits(self, event: ApprovalRequested | RunWaiting) -> str:
        if isinstance(event, RunWaiting):
            return f"Waiting: {event.reason}"
        return (
            f"Waits for your approval: {event.preview} Decide in Inglenook's page, or with "
            f"`inglenook runs approve {self._run_id} {event.call.id}`."
        )

    def _text(self, text: str) -> list[Chunk]:
        if not text:
            return []
        gap = "\n\n" if self._needs_break else ""
        self._needs_break = False
        self._said += text
        return [self._chunk({"content": gap + text})]

    def _reasoning(self, text: str) -> list[Chunk]:
        return [self._chunk({"reasoning_content": text})] if self._show_reasoning and text else []

    def _reply(self, event: ModelReplied) -> list[Chunk]:
        """Live pieces may be missed, the reply never is: send what the reader has not seen."""
        if event.usage:
            self._usage = Usage(
                input_tokens=self._usage.input_tokens + event.usage.input_tokens,
                output_tokens=self._usage.output_tokens + event.usage.output_tokens,
            )
        text = event.message.text
        if self._is_report or event.purpose != LOOP:
            return []
        if text.strip() == self._said.strip():
            return []
        if text.startswith(self._said):
            return self._text(text.removeprefix(self._said))
        self._needs_break = True
        return self._text(text)

    def _progress(self, call: ToolCall) -> list[Chunk]:
        text = status_text(call.name, call.arguments)
        return [self._status(call.name, text, done=False)] if text else []

    def _call(self, call: ToolCall, status: str) -> Chunk:
        """Source: https://platform.openai.com/docs/api-reference/responses-streaming"""
        return self._item(
            {
                "type": "function_call",
                "id": f"fc_{call.id}",
                "call_id": call.id,
                "name": call.name,
                "arguments": json.dumps(call.arguments, ensure_ascii=False),
                "status": status,
            }
        )

    def _output(self, call_id: str, text: str) -> Chunk:
        return self._item(
            {
                "type": "function_call_output",
                "id": f"fco_{call_id}",
                "call_id": call_id,
                "output": [{"type": "input_text", "text": text}],
                "status": "completed",
            }
        )

    def _result(self, event: ToolFinished) -> list[Chunk]:
        call = event.call
        self._open_calls.pop(call.id, None)
        for source in event.sources:
            self._sources.setdefault(source.n, source)
        return [
            self._call(call, "completed"),
            self._output(call.id, event.result),
            *self._next_sources(),
        ]

    def _next_sources(self) -> list[Chunk]:
        """Open WebUI numbers citations by their order, so source 2 waits for source 1."""
        chunks: list[Chunk] = []
        while (source := self._sources.get(self._sources_sent + 1)) is not None:
            self._sources_sent += 1
            chunks.append(self._source(source))
        return chunks

    def _source(self, source: Source) -> Chunk:
        """Open WebUI merges citations of one name or id: each passage gets its own."""
        name = source.title if source.title not in self._titles else f"{source.title} ({source.n})"
        self._titles.add(source.title)
        place = {"url": source.url} if source.url else {}
        file = {"file_id": source.file_id} if source.file_id else {}
        data = {
            "source": {"id": f"source-{source.n}", "name": name, **place},
            "document": [source.quote or source.title],
            "metadata": [{"source": f"source-{source.n}", "name": name, **file}],
        }
        return self._aside({"event": {"type": "source", "data": data}})

    def _end(self, event: RunFinished) -> list[Chunk]:
        """ONE `finish_reason`, and it is `stop`; how the run really ended is in `runtime`."""
        chunks: list[Chunk] = []
        for call in self._open_calls.values():
            chunks += [self._call(call, "completed"), self._output(call.id, UNFINISHED)]
        if self._is_report:
            chunks += self._text(event.answer)
        chunks.append(self._status("run", event.explanation, done=True))
        if not has_answer([event]):
            chunks.append({"error": ending_error(event)})
        last = self._chunk({}, finish_reason="stop")
        chunks.append(last | {"runtime": runtime_view(self._run_id, event)})
        if self._include_usage:
            chunks.append(self._head | {"choices": [], "usage": usage_view(self._usage)})
        return chunks

    def _status(self, action: str, description: str, *, done: bool) -> Chunk:
        data = {"action": action, "description": description, "done": done}
        return self._aside({"event": {"type": "status", "data": data}})

    def _item(self, item: Mapping[str, Any]) -> Chunk:
        return self._aside({"type": "response.output_item.added", "item": item})

    def _aside(self, fields: Chunk) -> Chunk:
        return self._chunk({}) | fields

    def _chunk(self, delta: Mapping[str, str], finish_reason: str | None = None) -> Chunk:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        return self._head | {"choices": [choice]}


def completion(row: RunRow, events: Sequence[RunEvent], *, show_reasoning: bool) -> Chunk:
    """A finished run as one `chat.completion`."""
    finished = _finished(events)
    assert finished is not None
    replies = [event for event in events if isinstance(event, ModelReplied)]
    message = {"role": "assistant", "content": finished.answer}
    thoughts = [reply.reasoning.text for reply in replies if reply.reasoning]
    if show_reasoning and any(thoughts):
        message["reasoning_content"] = "\n\n".join(filter(None, thoughts))
    usages = [reply.usage for reply in replies if reply.usage]
    usage = Usage(
        input_tokens=sum(usage.input_tokens for usage in usages),
        output_tokens=sum(usage.output_tokens for usage in usages),
    )
    return head(row, "chat.completion") | {
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": usage_view(usage),
        "runtime": runtime_view(row.id, finished),
    }


def has_answer(events: Sequence[RunEvent]) -> bool:
    """The run ended and has something to show for it."""
    finished = _finished(events)
    return finished is not None and finished.status != "failed" and bool(finished.answer)


def head(row: RunRow, kind: str) -> Chunk:
    return {
        "id": f"chatcmpl-{row.id}",
        "object": kind,
        "created": int(row.created_at.timestamp()),
        "model": row.model + (RESEARCH_SUFFIX if is_research(row) else ""),
    }


def is_research(row: RunRow) -> bool:
    return row.strategy.partition("@")[0] == RESEARCH.name


def _finished(events: Sequence[RunEvent]) -> RunFinished | None:
    return next((event for event in events if isinstance(event, RunFinished)), None)


def usage_view(usage: Usage) -> dict[str, int]:
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
    }


def runtime_view(run_id: str, event: RunFinished) -> dict[str, Any]:
    return {
        "run_id": run_id,
        "status": event.status,
        "reason": event.reason,
        "explanation": event.explanation,
    }


def ending_error(event: RunFinished) -> dict[str, Any]:
    """For a run that ended without an answer to show."""
    return {
        "message": event.explanation,
        "type": "server_error",
        "param": None,
        "code": event.reason or event.status,
    }
