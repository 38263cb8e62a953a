"""A call in which the model's output limit fell does not run on a guess.

Judged here and not in `providers/`, since what a call may do depends on the run's tools. What is
taken out of a reply is kept in `repairs`; `UnreadableCallGuardrail` tells the model.
"""

import json
from collections.abc import Callable
from dataclasses import replace

from inglenook.providers.base import ModelReply
from inglenook.providers.calls import MALFORMED_ARGUMENTS
from inglenook.providers.finish_reasons import is_cut_off


def without_cut_call(reply: ModelReply, has_effect: Callable[[str], bool]) -> ModelReply:
    """`reply`, or what is left of it where the output limit fell into its last call.

    Some servers close the brackets of such a call themselves, so that its arguments look
    whole. A tool that only reads here runs with them: its result is the quickest way on. A
    call that was found in text was read whole.

    Args:
        has_effect: Whether a tool's calls change something or leave the machine.
    """
    calls = reply.message.tool_calls
    if not calls or reply.recovered_from or not is_cut_off(reply.finish_reason):
        return reply
    last = calls[-1]
    if MALFORMED_ARGUMENTS not in last.arguments and not has_effect(last.name):
        return reply
    kept = [{"name": call.name, "arguments": dict(call.arguments)} for call in calls]
    note = f"calls that were cut off and not run: {json.dumps(kept, ensure_ascii=False)}"
    return replace(
        reply,
        message=replace(reply.message, tool_calls=()),
        repairs=(*reply.repairs, note),
        malformed_call=f"the call of {last.name!r} was cut off at the model's output limit",
    )
