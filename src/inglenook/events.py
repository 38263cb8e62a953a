"""What happened in a run, in order: the log, the SSE stream, exports and replay all carry these.

One frozen model an event; `RunEvent` is their discriminated union. An event's own fields are its
payload (API section 4); the header (`seq`, `run_id`, `at`) is given to it by the store.
"""

import json
from collections.abc import Awaitable
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal, Protocol, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from inglenook.errors import Reason
from inglenook.messages import Label, Message, Reasoning, Source, ToolCall, ToolSchema, Usage
from inglenook.run_request import RunPermissions, RunRequest

Status = Literal["queued", "running", "waiting", "complete", "incomplete", "cancelled", "failed"]
ENDED: frozenset[Status] = frozenset({"complete", "incomplete", "cancelled", "failed"})
Effect = Literal["read", "write"]
ToolMode = Literal["native", "envelope"]
"""How calls travelled: the server's own tool format, or JSON held to a schema."""
Rejected = Literal["context_truncated", "context_too_long", "failed"]


class Event(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Versions(BaseModel):
    model_config = ConfigDict(frozen=True)

    strategy: str
    scheduler: str
    context: str


class RunStarted(Event):
    type: Literal["run_started"] = "run_started"
    request: RunRequest
    model: str
    versions: Versions
    permissions: RunPermissions
    parent: str | None = None
    today: str
    """ISO date at the start, in the server's zone: the only date in the prompt."""
    labels: tuple[Label, ...] = ()
    """What its conversation so far, or its parent, has read already."""


class PromptBuilt(Event):
    """The fixed part of every request of the run, fixed once so that its bytes never change."""

    type: Literal["prompt_built"] = "prompt_built"
    system: str
    examples: tuple[Message, ...] = ()
    tools: tuple[str, ...]
    """Names of the tools that exist in this run."""
    schemas: tuple[ToolSchema, ...] = ()
    """The tools as the model sees them: a replay needs no other version's tools."""
    volatile: tuple[str, ...] = ()
    """Tools that may be called again and again with the same arguments."""
    ends_run: tuple[str, ...] = ()
    """Tools whose result is the run's answer."""
    max_steps: int
    tells_budget: bool = False
    """The results of every step end with how many steps are used and how many are left."""
    last_step_tools: tuple[str, ...] | None = None
    """All that the last step offers; a run that ends without an answer then is asked for one once
    more, without tools. None: the last step is like the others."""
    needs_sources: bool = False
    """An answer for which no tool has shown anything is labelled so, and is no success."""
    window: int | None = None
    """The model's window in tokens, as far as it is known without asking its server."""
    token_ratio: float = 1.0
    """Tokens of this model for one of our estimate's, as far as it was known at the start."""


class StepStarted(Event):
    type: Literal["step_started"] = "step_started"
    step: int
    remaining: int


class ModelRequested(Event):
    type: Literal["model_requested"] = "model_requested"
    step: int
    purpose: str = "loop"
    ordinal: int
    """Number of the model call within the run, from 0."""
    view_digest: str
    """SHA-256 over the messages that were sent."""
    tools_digest: str
    window: int | None = None
    """Context tokens asked for; None: the server's own."""
    estimated_tokens: int | None = None
    """What the request takes by our estimate, tools included."""


class ModelReplied(Event):
    type: Literal["model_replied"] = "model_replied"
    step: int
    purpose: str = "loop"
    ordinal: int
    message: Message
    """Without its reasoning, which has a field of its own so that it can be withheld."""
    reasoning: Reasoning | None = None
    usage: Usage | None = None
    finish_reason: str | None = None
    recovered_from: str | None = None
    tool_mode: ToolMode = "native"
    repairs: tuple[str, ...] = ()
    malformed_call: str | None = None
    """Why what the model meant as a call could not be read, in one clause; it holds none then."""
    rejected: Rejected | None = None
    """The reply is not taken: the server cut the prompt or refused its length, or a call beside the
    conversation failed (`repairs` says how)."""
    window: int | None = None
    """The tokens that the server says it holds, where it refused the prompt's length."""


class ShownRequest(BaseModel):
    """A request as a person sees it before it leaves."""

    model_config = ConfigDict(frozen=True)

    method: str
    url: str
    body: str = ""
    """As text; bytes that are none are escaped."""
    sha256: str
    """Of the bytes themselves (`OutgoingRequest.sha256`): what an approval holds for."""


class ApprovalRequested(Event):
    type: Literal["approval_requested"] = "approval_requested"
    call: ToolCall
    reason: str
    sha256: str
    """Over run, user, call, requests and expiry: what the decision is about."""
    expires_at: datetime
    requests: tuple[ShownRequest, ...] = ()
    """All that the call may send once it is approved, in the order in which it would."""
    preview: str = ""
    """The same in one sentence."""


class ApprovalDecided(Event):
    type: Literal["approval_decided"] = "approval_decided"
    call: str
    decision: Literal["approved", "edited", "denied", "timed_out", "expired"]
    arguments: dict[str, Any] | None = None
    """Of `edited`: those that the call has now."""
    by: str | None = None
    requests: tuple[ShownRequest, ...] = ()
    """Of `edited`: what it may send now."""
    preview: str = ""


class ToolStarted(Event):
    type: Literal["tool_started"] = "tool_started"
    call: ToolCall
    effect: Effect
    network: bool
    """The call may leave this machine."""


class ToolFinished(Event):
    type: Literal["tool_finished"] = "tool_finished"
    call: ToolCall
    result: str
    is_error: bool = False
    blocked: bool = False
    network: bool = False
    """The call left this machine; False too where no request of it found a connection."""
    duration_ms: int = 0
    truncated_to: int | None = None
    coerced: tuple[str, ...] = ()
    """What was changed in the arguments before the tool saw them, one sentence each."""
    sources: tuple[Source, ...] = ()
    from_memory: bool = False
    """An identical call was answered without running it again."""
    labels: tuple[Label, ...] = ()
    """What the run has read by this."""


class EgressStarted(Event):
    type: Literal["egress_started"] = "egress_started"
    n: int
    method: str
    host: str
    path: str
    bytes_out: int
    why: str
    permission: str
    call: str = ""
    """The tool call that it belongs to, where there is one."""


class EgressFinished(Event):
    type: Literal["egress_finished"] = "egress_finished"
    n: int
    status: int | None
    bytes_in: int
    sent: bool = True
    """False: no connection came about, so that nothing of the request left this machine."""


class ChildStarted(Event):
    type: Literal["child_started"] = "child_started"
    call: str
    child_run_id: str


class ChildFinished(Event):
    type: Literal["child_finished"] = "child_finished"
    call: str
    child_run_id: str
    status: Status


class WindowServed(Event):
    """What the model's server said of its window when a request might have been too long for it."""

    type: Literal["window_served"] = "window_served"
    tokens: int | None
    largest: int | None = None
    """What a request may ask for."""


class ContextCompacted(Event):
    """The oldest part of what the model saw was summed up; the events before it stay."""

    type: Literal["context_compacted"] = "context_compacted"
    ordinal: int = 0
    """Number of the model call that it makes room for."""
    before: int
    """Estimated tokens of the request as it was."""
    after: int
    kept: int
    """Messages at the end of the history that stay; the user's last one does in any case."""
    summary: str = ""
    """Stands for the messages that went."""
    by: Literal["model", "runtime"] = "model"
    """Who wrote the summary; the runtime where the model could not."""
    shortened_to: int | None = None
    """Kept tool results are shown with at most so many characters."""
    was_enough: bool = True


class GuardrailObjected(Event):
    type: Literal["guardrail_objected"] = "guardrail_objected"
    guardrail: str
    text: str


class ReportReused(Event):
    """The run is answered by an earlier report, without a model or a request."""

    type: Literal["report_reused"] = "report_reused"
    match: Literal["exact", "embedding", "words"]
    percent: int
    key: str
    """The words that the report is kept under."""
    fetched_at: datetime
    explanation: str
    answer: str
    """The report, behind a line that says where it comes from."""
    sources: tuple[Source, ...] = ()
    labels: tuple[Label, ...] = ()
    """What the run had read that made it."""


class RunWaiting(Event):
    type: Literal["run_waiting"] = "run_waiting"
    reason: Reason


class RunResumed(Event):
    type: Literal["run_resumed"] = "run_resumed"
    by: str
    epoch: int


class RunFinished(Event):
    type: Literal["run_finished"] = "run_finished"
    status: Status
    reason: Reason | None = None
    explanation: str
    answer: str = ""
    sources: tuple[Source, ...] = ()
    unsupported: tuple[str, ...] = ()


RunEvent: TypeAlias = Annotated[
    RunStarted
    | PromptBuilt
    | StepStarted
    | ModelRequested
    | ModelReplied
    | ApprovalRequested
    | ApprovalDecided
    | ToolStarted
    | ToolFinished
    | EgressStarted
    | EgressFinished
    | ChildStarted
    | ChildFinished
    | WindowServed
    | ContextCompacted
    | GuardrailObjected
    | ReportReused
    | RunWaiting
    | RunResumed
    | RunFinished,
    Field(discriminator="type"),
]

_union: TypeAdapter[RunEvent] = TypeAdapter(RunEvent)


def encode(event: Event) -> bytes:
    """The event's payload as JSON with its `type`; any text round-trips, lone surrogates too."""
    try:
        return event.__pydantic_serializer__.to_json(event)
    except (PydanticSerializationError, UnicodeEncodeError):
        return json.dumps(event.model_dump(mode="python"), default=_plain).encode("ascii")


def decode(payload: bytes) -> RunEvent:
    """The inverse of `encode`.

    Raises:
        ValidationError: The bytes are no event of this version.
    """
    try:
        return _union.validate_json(payload)
    except ValidationError:
        return _union.validate_python(json.loads(payload))


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} is not JSON")


class TextDelta:
    """A piece of the answer as it comes; live only, never stored."""

    kind: ClassVar[str] = "text_delta"
    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class ReasoningDelta(TextDelta):
    """A piece of hidden thinking; live only."""

    kind: ClassVar[str] = "reasoning_delta"


class EventSink(Protocol):
    """Where a run reports. Order of calls is order in the log."""

    def emit(self, event: RunEvent) -> None:
        """Put the event in line for the log; readers see it once it is durable.

        Raises:
            LeaseLost: Another process holds the run now.
            StoreError: An earlier event could not be stored.
        """
        ...

    def settle(self, *, sync: bool = False) -> Awaitable[None]:
        """Have everything emitted so far committed now; with `sync`, also on the disk itself.

        The work begins without being awaited; what is returned ends when it is done.

        Raises:
            LeaseLost, StoreError: As `emit`, from the awaitable.
        """
        ...

    def publish(self, delta: TextDelta) -> None:
        """Show a live-only piece to whoever follows the run now."""
        ...
