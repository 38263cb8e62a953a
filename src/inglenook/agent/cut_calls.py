"""CutCallProvider: a call in which the model's output limit fell does not run on a guess.

A wrapper around the model of one run, since what a call may do depends on the run's tools. What it
takes out of a reply is kept in `repairs`; `UnreadableCallGuardrail` tells the model.
"""

import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace

from inglenook.messages import Message, ToolSchema
from inglenook.providers.base import (
    ModelAbilities,
    ModelProvider,
    ModelReply,
    Part,
    StreamOptions,
)
from inglenook.providers.calls import MALFORMED_ARGUMENTS
from inglenook.providers.finish_reasons import is_cut_off


class CutCallProvider:
    def __init__(self, inner: ModelProvider, has_effect: Callable[[str], bool]) -> None:
        """`has_effect` says of a tool whether its calls change something or leave the machine."""
        self._inner = inner
        self._has_effect = has_effect

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSchema], options: StreamOptions
    ) -> AsyncGenerator[Part, None]:
        async with aclosing(self._inner.stream(messages, tools, options)) as parts:
            async for part in parts:
                yield self._without_cut_call(part) if isinstance(part, ModelReply) else part

    async def abilities(self) -> ModelAbilities:
        return await self._inner.abilities()

    def _without_cut_call(self, reply: ModelReply) -> ModelReply:
        """`reply`, or what is left of it where the output limit fell into its last call.

        Some servers close the brackets of such a call themselves, so that its arguments look
        whole. A tool that only reads here runs with them: its result is the quickest way on. A
        call that was found in text was read whole.
        """
        calls = reply.message.tool_calls
        if not calls or reply.recovered_from or not is_cut_off(reply.finish_reason):
            return reply
        last = calls[-1]
        if MALFORMED_ARGUMENTS not in last.arguments and not self._has_effect(last.name):
            return reply
        kept = [{"name": call.name, "arguments": dict(call.arguments)} for call in calls]
        note = f"calls that were cut off and not run: {json.dumps(kept, ensure_ascii=False)}"
        return replace(
            reply,
            message=replace(reply.message, tool_calls=()),
            repairs=(*reply.repairs, note),
            malformed_call=f"the call of {last.name!r} was cut off at the model's output limit",
        )
