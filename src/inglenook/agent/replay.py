"""Replay: the real loop over recorded replies and results, compared event by event.

Nothing here can reach a network, a model or a tool: the provider and the dispatcher know only the
log. Dates, ids and durations come from the events; parallel calls are compared each by itself.
"""

from collections.abc import AsyncGenerator, Awaitable, Generator, Sequence
from typing import Any

from inglenook.agent.guardrails import OutputGuardrail
from inglenook.agent.loop import AgentLoop
from inglenook.agent.model_call import reply_of
from inglenook.agent.sources import cited_sources
from inglenook.agent.state import FoldingSink, RunState
from inglenook.context.base import ContextPolicy
from inglenook.context.window import Window
from inglenook.egress import Egress
from inglenook.errors import InvalidRequest, ReplayMismatch, RunEnded
from inglenook.events import (
    ContextCompacted,
    Effect,
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
from inglenook.messages import Message, ToolCall, ToolSchema
from inglenook.providers.base import ModelAbilities, Part, StreamOptions
from inglenook.run_context import Limits, RunContext
from inglenook.tools.registry import plain_name

Key = tuple[str, object]
NOT_COMPARED = {"duration_ms", "estimated_tokens"}
"""What may differ between two versions of this program that decide alike."""
NOT_REPLAYED = ("provider_error", "internal_error", "time_limit", "cancelled_by_user")
"""Reasons that came from outside the loop: the replay compares up to there."""


async def replay(
    events: Sequence[RunEvent],
    *,
    context: ContextPolicy,
    guardrails: Sequence[OutputGuardrail],
) -> str:
    """Run the recorded run again and return its answer.

    Raises:
        ReplayMismatch: The first event that is missing or differs, and how.
        InvalidRequest: The log is no replayable run (not finished, or erased).
    """
    if reused := next((event for event in events if isinstance(event, ReportReused)), None):
        return _again(events, reused)
    record = Record(events)
    prompt = record.prompt
    state = RunState([record.started, prompt])
    sink = ComparingSink(record)
    run = RunContext(
        run_id="replay",
        sink=FoldingSink(sink, state),
        limits=Limits(max_steps=prompt.max_steps),
        permissions=record.started.permissions,
        today=record.started.today,
    )
    loop = AgentLoop(
        provider=RecordedProvider(record),
        context=context,
        tools=RecordedTools(record),
        guardrails=guardrails,
        served_window=record.served_window,
    )
    finished = record.finished
    try:
        await loop.run(state, run)
        outcome = ("complete", None)
    except RunEnded as ended:
        outcome = ("incomplete", ended.reason)
    except EndOfRecord:
        outcome = (finished.status, finished.reason)
    sink.check_all_seen()
    answer = state.answer
    again = finished.model_copy(
        update={
            "status": outcome[0],
            "reason": outcome[1],
            "answer": answer,
            "sources": cited_sources(answer, state.sources),
        }
    )
    if again != finished:
        raise ReplayMismatch(_difference("run_finished", finished, again))
    return answer


def _again(events: Sequence[RunEvent], reused: ReportReused) -> str:
    """A run that an earlier report answered: no model was asked and no tool called.

    Raises:
        ReplayMismatch, InvalidRequest: As `replay`.
    """
    finished = events[-1]
    if not isinstance(finished, RunFinished):
        raise InvalidRequest("the run has not ended yet; only finished runs are replayed")
    state = RunState(event for event in events if not isinstance(event, RunFinished))
    again = finished.model_copy(
        update={"answer": state.answer, "sources": cited_sources(state.answer, state.sources)}
    )
    if again != finished:
        raise ReplayMismatch(_difference("run_finished", finished, again))
    return reused.answer


class EndOfRecord(Exception):
    """The run was stopped from outside here; the replay follows it."""


class Record:
    """The recorded events, each findable by what it decided."""

    def __init__(self, events: Sequence[RunEvent]) -> None:
        if not events or not isinstance(events[0], RunStarted):
            raise InvalidRequest("the log does not begin with run_started; it is no whole run")
        if not isinstance(events[-1], RunFinished):
            raise InvalidRequest("the run has not ended yet; only finished runs are replayed")
        prompt = next((event for event in events if isinstance(event, PromptBuilt)), None)
        if prompt is None:
            raise InvalidRequest("the run ended before its first step; there is nothing to replay")
        self.started = events[0]
        self.prompt = prompt
        self.finished = events[-1]
        self.by_key: dict[Key, RunEvent] = {}
        for event in events:
            if (key := _key(event)) is not None:
                self.by_key[key] = event  # after a crash an event may stand twice; the last counts

    async def served_window(self) -> Window:
        """What the server said when the run asked for its window."""
        event = self.get(("window_served", None))
        assert isinstance(event, WindowServed)
        return Window(tokens=event.tokens, largest=event.largest)

    def get(self, key: Key) -> RunEvent:
        """
        Raises:
            EndOfRecord: The run was stopped from outside before this.
            ReplayMismatch: The event is missing.
        """
        if key in self.by_key:
            return self.by_key[key]
        if self.finished.reason in NOT_REPLAYED:
            raise EndOfRecord
        raise ReplayMismatch(f"the log has no {key[0]} {key[1]!r}, which the run needs here")


class RecordedProvider:
    def __init__(self, record: Record) -> None:
        self._record = record
        self._ordinal = 0

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSchema], options: StreamOptions
    ) -> AsyncGenerator[Part, None]:
        event = self._record.get(("model_replied", self._ordinal))
        assert isinstance(event, ModelReplied)
        self._ordinal += 1
        yield reply_of(event)

    async def abilities(self, egress: Egress | None = None) -> ModelAbilities:
        return ModelAbilities()


class RecordedTools:
    """A Dispatcher that answers every call from the log."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self.schemas = record.prompt.schemas

    def effect_of(self, name: str) -> Effect:
        for event in self._record.by_key.values():
            if isinstance(event, ToolStarted) and event.call.name == name:
                return event.effect
        return "write"

    def is_volatile(self, name: str) -> bool:
        return plain_name(name) in self._record.prompt.volatile

    async def dispatch(self, call: ToolCall, run: RunContext) -> None:
        finished = self._record.get(("tool_finished", call.id))
        assert isinstance(finished, ToolFinished)
        started: Key = ("tool_started", call.id)
        if not finished.blocked or started in self._record.by_key:  # a blocked call need not begin
            run.sink.emit(self._record.get(started))
        run.sink.emit(finished)


class Settled:
    """Done already; unlike a coroutine it may be left unawaited."""

    def __await__(self) -> Generator[Any, None, None]:
        return
        yield


class ComparingSink:
    """An EventSink that stores nothing and holds each event against the recorded one."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._seen: set[Key] = set()

    def emit(self, event: RunEvent) -> None:
        key = _key(event)
        assert key is not None, "the loop emits only what can be compared"
        recorded = self._record.get(key)
        self._seen.add(key)
        if _comparable(event) != _comparable(recorded):
            raise ReplayMismatch(_difference(f"{key[0]} {key[1]!r}", recorded, event))

    def settle(self, *, sync: bool = False) -> Awaitable[None]:
        return Settled()

    def publish(self, delta: TextDelta) -> None: ...

    def check_all_seen(self) -> None:
        for key in self._record.by_key:
            if key not in self._seen:
                raise ReplayMismatch(f"the log has {key[0]} {key[1]!r}, the replay never got there")


def _key(event: RunEvent) -> Key | None:
    """What the event decided; None for those that a crash, a wait or a person put in the log."""
    match event:
        case StepStarted():
            return (event.type, event.step)
        case ModelRequested() | ModelReplied():
            return (event.type, event.ordinal)
        case ToolStarted() | ToolFinished():
            return (event.type, event.call.id)
        case GuardrailObjected():
            return (event.type, event.text)
        case WindowServed():
            return (event.type, None)
        case ContextCompacted():
            return (event.type, (event.ordinal, event.before, event.kept))
        case _:
            return None


def _comparable(event: RunEvent) -> dict[str, Any]:
    return event.model_dump(exclude=NOT_COMPARED)


def _difference(what: str, recorded: RunEvent, replayed: RunEvent) -> str:
    old, new = recorded.model_dump(), replayed.model_dump()
    for name in old:
        if name not in NOT_COMPARED and old[name] != new.get(name):
            return f"{what}: {name} was {old[name]!r:.200}, replayed {new.get(name)!r:.200}"
    return f"{what} differs"
