"""A call's id names it in its whole run: results, approvals and child runs are found by it.

Providers see to ids that differ within what they are shown; after a compaction that is not all of
the run, and some servers begin to count again.
"""

from collections.abc import Set
from dataclasses import replace

from inglenook.messages import ToolCall
from inglenook.providers.base import ModelReply
from inglenook.providers.calls import fresh_id


def with_own_ids(reply: ModelReply, used: Set[str]) -> ModelReply:
    """`reply`, its calls renamed whose id an earlier call of the run has."""
    calls = reply.message.tool_calls
    if used.isdisjoint([call.id for call in calls]):
        return reply
    taken = {*used, *(call.id for call in calls)}
    renamed: list[ToolCall] = []
    for call in calls:
        if call.id in used:
            call = replace(call, id=fresh_id(f"{call.id} {len(taken)}", taken))
            taken.add(call.id)
        renamed.append(call)
    return replace(reply, message=replace(reply.message, tool_calls=tuple(renamed)))
