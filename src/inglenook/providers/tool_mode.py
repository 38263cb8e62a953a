"""ToolModeProvider: calls travel as the model can: natively, or in an envelope where that fails.

What works is found out once for each model, from calls that are made anyway, and remembered. Where
nothing is known the native way is tried: absence of knowledge is not absence of support.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from inglenook.egress import Egress
from inglenook.errors import ToolsUnsupported
from inglenook.events import ToolMode
from inglenook.messages import Message, ToolSchema
from inglenook.providers.base import (
    ModelAbilities,
    ModelProvider,
    ModelReply,
    ModelSpec,
    Part,
    StreamOptions,
)
from inglenook.providers.model_memory import Known, ModelMemory

MIN_TOOLS_TOKENS = 400
"""Fewer are too few to tell."""
MIN_REPORT = 256
"""Smaller counts prove nothing: many servers and proxies make them up."""
TOOLS_SHARE = 1 / 3
"""Of the tools' estimate; a prompt with tools holds that much, however its template writes them."""
SURE_SHARE = 0.7
"""Estimates are seldom further off."""


class ToolModeProvider:
    def __init__(
        self,
        native: ModelProvider,
        envelope: ModelProvider,
        spec: ModelSpec,
        memory: ModelMemory,
    ) -> None:
        self._native = native
        self._envelope = envelope
        self._spec = spec
        self._memory = memory

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSchema], options: StreamOptions
    ) -> AsyncGenerator[Part, None]:
        known = self._memory.of(self._spec)
        if tool_mode(self._spec, known) == "native":
            has_begun = has_reply = False
            try:
                async with aclosing(self._native.stream(messages, tools, options)) as parts:
                    async for part in parts:
                        if isinstance(part, ModelReply):
                            if self._dropped_tools(part, tools, options, known):
                                self._memory.found(self._spec, "envelope", "dropped")
                                if part.rejected:
                                    break
                            has_reply = True
                        has_begun = True
                        yield part
            except ToolsUnsupported as error:
                self._take_refusal(error, has_begun=has_begun)
            if has_reply:
                return
        async with aclosing(self._envelope.stream(messages, tools, options)) as parts:
            async for part in parts:
                yield part

    async def abilities(self, egress: Egress | None = None) -> ModelAbilities:
        return await self._native.abilities(egress)

    def _take_refusal(self, error: ToolsUnsupported, *, has_begun: bool) -> None:
        """Remember it; a refused request had no effect, so nothing is lost.

        Raises:
            ToolsUnsupported: The configuration says otherwise, or a part was shown already.
        """
        if self._spec.tool_mode == "native":
            raise ToolsUnsupported(
                f'{error} Or take tool_mode = "native" out of its configuration.',
                status=error.status,
            ) from error
        if has_begun:
            raise error
        self._memory.found(self._spec, "envelope", "refused")

    def _dropped_tools(
        self,
        reply: ModelReply,
        tools: Sequence[ToolSchema],
        options: StreamOptions,
        known: Known,
    ) -> bool:
        """Whether the server's count of the prompt leaves no place for the tools.

        Ollama says when it takes none, and may leave out of its count what was in its cache. A
        model that has made a native call was shown its tools.
        """
        if not tools or self._spec.tool_mode != "auto":
            return False
        if reply.message.tool_calls and reply.recovered_from is None:
            if known.tool_mode is None:
                self._memory.found(self._spec, "native", "called")
            return False
        return (
            known.tool_mode is None
            and self._spec.provider != "ollama"
            and reply.usage is not None
            and has_no_tools(reply.usage.input_tokens, options)
        )


def has_no_tools(read: int, options: StreamOptions) -> bool:
    """Whether a prompt that the server counted as `read` tokens surely did not hold the tools."""
    whole, tools = options.estimated_tokens, options.tools_tokens
    if whole is None or tools is None or tools < MIN_TOOLS_TOKENS or read < MIN_REPORT:
        return False
    rest = whole - tools
    if rest > whole * SURE_SHARE:
        return False  # they would hide in the error of the estimate
    if read < rest * SURE_SHARE:
        return False  # more than the tools is missing: the prompt was cut
    return read < min(rest + tools * TOOLS_SHARE, whole * SURE_SHARE)


def tool_mode(spec: ModelSpec, known: Known) -> ToolMode:
    """How the next call of this model travels."""
    if spec.tool_mode != "auto":
        return spec.tool_mode
    return known.tool_mode or "native"
