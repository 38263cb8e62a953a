"""The conversation as the runtime sees it; providers translate to and from these shapes.

Values only: nothing here knows a vendor, a wire format or a store.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

_in_order = json.JSONEncoder(sort_keys=True).encode
Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    id: str
    """Unique within its run; made here where the model's server sends none."""
    name: str
    arguments: Mapping[str, object]

    @cached_property
    def key(self) -> str:
        """The same for calls of one tool with equal arguments, whatever their id."""
        return self.name + _in_order(self.arguments)


@dataclass(frozen=True, kw_only=True)
class Reasoning:
    """Hidden thinking, kept only because some providers want it back with the tool results."""

    text: str = ""
    field: str = ""
    """Wire field it came in (`thinking`, `reasoning_content`, …); it goes back under that name."""
    details: tuple[Mapping[str, object], ...] = ()
    """Opaque items (`reasoning_details`) that go back unchanged."""


@dataclass(frozen=True, kw_only=True)
class Message:
    role: Role
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    """Only on `assistant`."""
    call_id: str | None = None
    """Only on `tool`: the call that this is the result of."""
    tool_name: str | None = None
    """Only on `tool`."""
    reasoning: Reasoning | None = None
    """Only on `assistant`."""

    @cached_property
    def wire(self) -> dict[str, bytes]:
        """Encodings of this message by name, each made once: a history is sent at every step."""
        return {}

    @cached_property
    def forms(self) -> dict[str, "Message"]:
        """What is sent in place of this message by name, each made once for the same reason."""
        return {}

    def with_reasoning(self, reasoning: Reasoning | None) -> "Message":
        """This message with that reasoning; itself where it has it already."""
        return self if self.reasoning == reasoning else replace(self, reasoning=reasoning)


@dataclass(frozen=True, kw_only=True)
class ToolSchema:
    """A tool as the model sees it."""

    name: str
    description: str
    parameters: Mapping[str, object]
    """JSON Schema of the arguments object."""

    @cached_property
    def wire(self) -> dict[str, bytes]:
        """Encodings by name, each made once."""
        return {}


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Token counts as the server reported them, for one model call."""

    input_tokens: int = 0
    output_tokens: int = 0


SourceKind = Literal["web", "document"]
Label = Literal["private", "untrusted"]
"""What a run has read. `private`: of a confidential knowledge base, or of what is configured to be
one. `untrusted`: what neither its user nor their documents wrote. A run's labels only grow."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """Something a tool showed to the model, numbered as it may be cited: `[n]`."""

    n: int
    kind: SourceKind
    title: str
    url: str | None = None
    file_id: str | None = None
    quote: str | None = None
    cited: bool = False
    """The answer names it; set when the run ends."""
    supported: bool | None = None
    """None: not checked."""


@dataclass(frozen=True, kw_only=True)
class ToolOutput:
    """What a tool gives back: `text` for the model, `sources` for the answer's list."""

    text: str
    sources: tuple[Source, ...] = field(default=())
    network: bool = False
    """The call left this machine, though its tool does not do so by itself (a child that did)."""
    labels: tuple[Label, ...] = ()
    """What whoever reads `text` has read."""
    is_error: bool = False
    """The call failed, and what it says of that is labelled too; else a tool raises ToolError."""
