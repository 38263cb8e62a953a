"""ModelProvider: one model call over the wire, and the values it deals in."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, Protocol, TypeAlias

from inglenook.egress import Egress
from inglenook.errors import shown_address
from inglenook.events import ReasoningDelta, Rejected, TextDelta, ToolMode
from inglenook.messages import Message, ToolSchema, Usage

DEFAULT_CONTEXT_TOKENS = 8_192
"""Asked of Ollama where nothing is configured. Its own default depends on the machine and is cut
off in silence; tools and passages need about this much."""


@dataclass(frozen=True, kw_only=True)
class ModelSpec:
    """One model as it is offered to users; the key is looked up by the server, never shown."""

    id: str
    """What requests name."""
    provider: Literal["ollama", "openai"]
    model: str
    """What the model's server calls it."""
    base_url: str
    """Ollama: its root, `http://127.0.0.1:11434`. OpenAI-compatible: with `/v1`."""
    api_key: str | None = field(default=None, repr=False)
    context_tokens: int | None = None
    """The window. Ollama: sent as `num_ctx` on every call; None: `DEFAULT_CONTEXT_TOKENS`, and more
    where a run needs it and the model can."""
    thinking: bool | None = None
    """None: the field is not sent."""
    reasoning_effort: str | None = None
    tool_mode: Literal["auto", "native", "envelope"] = "auto"
    """How calls travel (`ToolMode`); auto: natively, unless that is known not to work."""
    place: str | None = None
    """Stands for `base_url` where something is remembered of a model whose address changes."""
    examples: tuple[Message, ...] = ()
    """Worked conversations put before the user's, for models too small to do without."""
    note: str = ""
    """One sentence for people, such as that this is a small demo model."""

    @cached_property
    def remembered_place(self) -> str:
        """Where what is learned of the model is filed; without the password that a URL may hold."""
        return self.place or shown_address(self.base_url).partition("?")[0].rstrip("/")


@dataclass(frozen=True, kw_only=True)
class ModelAbilities:
    """What the server says of a model; None: it does not say."""

    tools: bool | None = None
    thinking: bool | None = None
    context_tokens: int | None = None
    """The largest window that it can be asked for; of servers that are started with one, that."""
    served_tokens: int | None = None
    """The window that it runs with now."""


@dataclass(frozen=True, kw_only=True)
class StreamOptions:
    max_output_tokens: int | None = None
    window: int | None = None
    """Context tokens to serve the call with, where the server takes that; None: its default."""
    estimated_tokens: int | None = None
    """What the request takes, by our estimate."""
    tools_tokens: int | None = None
    """The tools' share of it."""
    reply_schema: Mapping[str, object] | None = None
    """JSON Schema that the server must hold the reply's text to. A server that cannot refuses
    the call as one that is wrong, or takes no notice."""
    egress: Egress | None = None
    """Told of each request to a server on another machine, before it leaves."""


@dataclass(frozen=True, kw_only=True)
class ModelReply:
    """The end of a model call: the whole reply and what was learned on the way."""

    message: Message
    usage: Usage | None = None
    finish_reason: str | None = None
    """The server's word: `stop`, `length`, `tool_calls`, …"""
    recovered_from: str | None = None
    """Where a call was found that the server did not report as one: `content`, `thinking`."""
    tool_mode: ToolMode = "native"
    repairs: tuple[str, ...] = ()
    malformed_call: str | None = None
    """The reply is an attempt at a tool call that nobody can read; why, in one clause. It holds
    no calls then, and its text is what the model said before the attempt."""
    rejected: Rejected | None = None
    """The reply must not be used: the server did not read the whole prompt."""
    window: int | None = None
    """The tokens that the server says it holds, where it refused the prompt's length."""


Part: TypeAlias = TextDelta | ReasoningDelta | ModelReply


class ModelProvider(Protocol):
    def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSchema], options: StreamOptions
    ) -> AsyncGenerator[Part, None]:
        """Yield deltas as they come, then exactly one `ModelReply`, then stop.

        Closing the generator (or cancelling its consumer) closes the connection at once, so that
        the model stops working. Call ids in the reply are unique and never empty.

        Raises:
            ProviderBusy: The call may succeed later; nothing was accepted of this one.
            ModelMissing: The server does not have the model.
            ToolsUnsupported: The server refuses tools for this model.
            ContextTooLong: `messages` do not fit the model's window.
            ProviderError: Anything else the provider reports, in its words.
        """
        ...

    async def abilities(self, egress: Egress | None = None) -> ModelAbilities:
        """What the server says this model can do; `egress` as in `StreamOptions`.

        Raises:
            ProviderError: As `stream`.
        """
        ...
