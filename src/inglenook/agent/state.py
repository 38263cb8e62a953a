"""RunState: where a run stands, as a fold over its events.

The live loop, crash recovery and replay all change the state through `apply` alone, so that a
resumed run cannot stand anywhere else than the run that was killed.
"""

import json
from collections.abc import Awaitable, Iterable, Sequence
from dataclasses import replace

from inglenook.agent.asked import AskedCalls
from inglenook.agent.labels import Reading
from inglenook.agent.last_step import NOT_RESEARCHED, budget_notice, concluded
from inglenook.agent.repeats import Repeats
from inglenook.agent.window_state import ANSWER, LOOP, WindowState
from inglenook.context.cleanup import valid_history
from inglenook.context.compaction import compacted
from inglenook.events import (
    ApprovalDecided,
    ApprovalRequested,
    ChildFinished,
    ChildStarted,
    ContextCompacted,
    EgressStarted,
    EventSink,
    GuardrailObjected,
    ModelReplied,
    ModelRequested,
    PromptBuilt,
    ReportReused,
    RunEvent,
    RunFinished,
    RunStarted,
    StepStarted,
    TextDelta,
    ToolFinished,
    ToolStarted,
    WindowServed,
)
from inglenook.messages import Message, Source, ToolCall, ToolSchema, Usage
from inglenook.tools.registry import plain_name


class RunState:
    def __init__(self, events: Iterable[RunEvent] = ()) -> None:
        self.started: RunStarted | None = None
        self.prompt: PromptBuilt | None = None
        self.finished: RunFinished | None = None
        self.messages: list[Message] = []
        """What the model sees, the fixed part first."""
        self.steps = 0
        self.ordinal = 0
        self.step_is_open = False
        """A step was counted whose reply is not there yet."""
        self.awaiting_review = False
        """The last reply is an answer, in text or by a tool that ends the run, and has not been
        accepted."""
        self.empty_replies = 0
        """Empty replies in a row."""
        self.malformed_calls = 0
        """Replies in a row that were a call nobody can read."""
        self.malformed_call: str | None = None
        """What was wrong with the last reply, if it was one of those."""
        self.last_finish_reason: str | None = None
        """The server's word for how its last reply ended."""
        self.last_text = ""
        """The last non-empty text of the model, accepted or not."""
        self.is_concluded = False
        """The run was asked for its answer without tools; there is no further try."""
        self.lookups = 0
        """Calls that ran and were no answer; counted where the answer needs sources."""
        self.objections: set[str] = set()
        """Names of the guardrails that have objected to an answer."""
        self.tool_calls = 0
        self.used_call_ids: set[str] = set()
        """Of all calls of the run, those that went with a compaction included."""
        self.usage = Usage()
        self.sources: list[Source] = []
        self.repeats = Repeats()
        self.reading = Reading()
        self.asked = AskedCalls()
        self.window = WindowState()
        self.reused: ReportReused | None = None
        """The earlier report that answers the run."""
        self.fixed = 0
        """Messages at the start of `messages` that stay, whatever happens."""
        self.results: dict[str, str] = {}
        """Whole results that the model was shown a part of, by the id that `read_result` takes."""
        self.open_children: list[str] = []
        """Child runs that were started and have not reported back."""
        self._open_calls: tuple[ToolCall, ...] = ()
        self._results: dict[str, ToolFinished] = {}
        self._started: dict[str, ToolStarted] = {}
        for event in events:
            self.apply(event)

    # --- what the loop asks ----------------------------------------------------------------

    def unanswered_calls(self) -> list[ToolCall]:
        """Calls of the last reply that have no result, in the model's order."""
        return [call for call in self._open_calls if call.id not in self._results]

    def was_started(self, call: ToolCall) -> ToolStarted | None:
        """The intent of a call that has no result: its process died while it ran."""
        return self._started.get(call.id)

    def is_early_answer(self, call: ToolCall) -> bool:
        """`call` would end the run, but came with others whose results the model has not seen."""
        return len(self._open_calls) > 1 and self._ends_run(call)

    def offered(self, schemas: Sequence[ToolSchema]) -> Sequence[ToolSchema]:
        """Those of the run's tools that the present step offers."""
        last = self._last_step_tools
        if last is None:
            return schemas
        return tuple(schema for schema in schemas if schema.name in last)

    def is_too_late(self, call: ToolCall) -> bool:
        """`call` is none of those that the last step still takes."""
        last = self._last_step_tools
        return last is not None and plain_name(call.name) not in last

    @property
    def owes_answer(self) -> bool:
        """A run that ends now without an answer is asked for one, without tools."""
        return (
            self.prompt is not None
            and self.prompt.last_step_tools is not None
            and not self.is_concluded
        )

    @property
    def needs_sources(self) -> bool:
        """The answer must stand on something, and nothing was found yet."""
        return self.prompt is not None and self.prompt.needs_sources and not self.sources

    @property
    def answer(self) -> str:
        """What the run has to show, labelled where it had to be researched and was not."""
        if self.last_text and self.needs_sources:
            return f"{NOT_RESEARCHED}\n\n{self.last_text}"
        return self.last_text

    @property
    def _last_step_tools(self) -> tuple[str, ...] | None:
        """None where the present step is not the last, or like the others."""
        if self.prompt is None or self.steps < self.prompt.max_steps:
            return None
        return self.prompt.last_step_tools

    # --- the fold --------------------------------------------------------------------------

    def apply(self, event: RunEvent) -> None:
        match event:
            case ModelReplied():
                self._apply_reply(event)
            case ToolFinished():
                self._apply_result(event)
            case StepStarted():
                self.steps = event.step
                self.step_is_open = True
            case ModelRequested():
                self.ordinal = event.ordinal
                self.window.requested(event)
            case WindowServed() | ContextCompacted():
                self._apply_window(event)
            case ToolStarted():
                self._started[event.call.id] = event
            case GuardrailObjected():
                self.awaiting_review = False
                self.objections.add(event.guardrail)
                self.messages.append(Message(role="system", text=event.text))
            case RunStarted() | PromptBuilt() | RunFinished():
                self._apply_frame(event)
            case _:
                self._apply_aside(event)

    def _apply_frame(self, event: RunStarted | PromptBuilt | RunFinished) -> None:
        match event:
            case RunStarted():
                self.started = event
                self.reading.begin(event)
            case PromptBuilt():
                self._apply_prompt(event)
            case RunFinished():
                self.finished = event

    def _apply_aside(self, event: RunEvent) -> None:
        match event:
            case ChildStarted() | ChildFinished():
                self._apply_child(event)
            case ReportReused():
                self.reused = event
                self.last_text = event.answer
                self.sources.extend(event.sources)
                self.reading.labels.update(event.labels)
            case ApprovalRequested() | ApprovalDecided() | EgressStarted():
                self.asked.apply(event)
            case _:
                pass

    def _apply_child(self, event: ChildStarted | ChildFinished) -> None:
        self.open_children = [id for id in self.open_children if id != event.child_run_id]
        if isinstance(event, ChildStarted):
            self.open_children.append(event.child_run_id)

    def _apply_prompt(self, event: PromptBuilt) -> None:
        assert self.started is not None, "run_started is every run's first event"
        self.prompt = event
        self.messages = [
            Message(role="system", text=event.system),
            *event.examples,
        ]
        self.fixed = len(self.messages)
        posted = self.started.request.messages  # its system messages are part of the prompt's
        self.messages += valid_history([m for m in posted if m.role != "system"])
        self.window.begin(event)

    def _apply_window(self, event: WindowServed | ContextCompacted) -> None:
        if isinstance(event, WindowServed):
            self.window.served(event)
            return
        self.messages = compacted(
            self.messages,
            start=self.fixed,
            end=len(self.messages) - event.kept,
            summary=event.summary,
            shorten_to=event.shortened_to,
            shelve=self._shelved,
        )
        self.window.compacted(event)

    def _apply_reply(self, event: ModelReplied) -> None:
        self.ordinal = event.ordinal + 1
        if event.usage:
            self.usage = Usage(
                input_tokens=self.usage.input_tokens + event.usage.input_tokens,
                output_tokens=self.usage.output_tokens + event.usage.output_tokens,
            )
        self.window.replied(event)
        if event.purpose == LOOP and not event.rejected:
            self._take_reply(event)
        elif event.purpose == ANSWER:
            self._take_conclusion(event)

    def _take_reply(self, event: ModelReplied) -> None:
        self.step_is_open = False
        self.last_finish_reason = event.finish_reason
        self.malformed_call = event.malformed_call
        self.malformed_calls = self.malformed_calls + 1 if event.malformed_call else 0
        message = event.message.with_reasoning(event.reasoning)
        self._open_calls = message.tool_calls
        self.used_call_ids.update([call.id for call in message.tool_calls])
        self._results = {}
        self._started = {}
        self.awaiting_review = not message.tool_calls
        if message.text.strip():
            self.last_text = message.text
        if message.text.strip() or message.tool_calls:
            self.messages.append(message)  # an empty message is refused by many servers
            self.empty_replies = 0
        else:
            self.empty_replies = 0 if event.malformed_call else self.empty_replies + 1

    def _take_conclusion(self, event: ModelReplied) -> None:
        assert self.prompt is not None, "prompt_built comes before the first request"
        self.is_concluded = True
        answer = concluded(event.message.text, self.prompt)
        if event.rejected or not answer.strip():
            return
        self.last_text = answer
        self.last_finish_reason = event.finish_reason
        self.malformed_call, self.empty_replies = None, 0
        self._open_calls = ()
        self.step_is_open = False
        self.awaiting_review = True

    def _apply_result(self, event: ToolFinished) -> None:
        self.tool_calls += 1
        if self.prompt is not None and self.prompt.needs_sources and not event.blocked:
            self.lookups += not self._ends_run(event.call)
        self.sources.extend(event.sources)
        self._results[event.call.id] = event
        if not self.unanswered_calls():
            self._close_step()

    def _close_step(self) -> None:
        """All results are there: they join the history in the model's order."""
        results = [self._results[call.id] for call in self._open_calls]
        for result in results:
            started = self._started.get(result.call.id)
            is_write = started is not None and started.effect == "write"
            self.repeats.note(result, is_write=is_write)
            if result.labels:
                self.reading.note(result)
            self.messages.append(
                Message(
                    role="tool",
                    text=self._shown(result),
                    call_id=result.call.id,
                    tool_name=result.call.name,
                )
            )
        if len(results) == 1 and not results[0].is_error and self._ends_run(results[0].call):
            self.awaiting_review = True
            self.last_text = results[0].result
        self._open_calls = ()
        if self.prompt is not None and (notice := budget_notice(self.prompt, self.steps)):
            last = self.messages[-1]
            self.messages[-1] = replace(last, text=last.text + notice)

    def _shown(self, event: ToolFinished) -> str:
        """What the model sees of a result: all of it, or its beginning and how to read on."""
        if event.truncated_to is None or len(event.result) <= event.truncated_to:
            return event.result
        return self._shelved(event.result, event.truncated_to)

    def _shelved(self, text: str, limit: int) -> str:
        """The beginning of `text`, which is kept whole to be read on where the run can do so."""
        note = f"\n\n[Shown: {limit:,} of {len(text):,} characters. "
        if self.prompt is None or "read_result" not in self.prompt.tools:
            return f"{text[:limit]}{note}Ask for a smaller part.]"
        id = f"r{len(self.results) + 1}"
        self.results[id] = text
        call = json.dumps({"id": id, "offset": limit})
        return f"{text[:limit]}{note}The rest is kept: call read_result with {call}.]"

    def _ends_run(self, call: ToolCall) -> bool:
        return self.prompt is not None and plain_name(call.name) in self.prompt.ends_run


class FoldingSink:
    """Keeps a run's state in step with its log: what is emitted is applied at once."""

    def __init__(self, sink: EventSink, state: RunState) -> None:
        self._sink = sink
        self._state = state

    def emit(self, event: RunEvent) -> None:
        self._sink.emit(event)
        self._state.apply(event)

    def settle(self, *, sync: bool = False) -> Awaitable[None]:
        return self._sink.settle(sync=sync)

    def publish(self, delta: TextDelta) -> None:
        self._sink.publish(delta)
