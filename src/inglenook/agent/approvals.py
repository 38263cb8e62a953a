"""ApprovalGate: a Dispatcher around the run's tools that lets nothing leave unjudged.

Made for runs alone that hold an open-world tool. What a person must see is stored before anybody
is asked, and the run waits without a worker; once decided, the call goes on from its events.
"""

import hashlib
import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from inglenook.agent.asked import AskedCall
from inglenook.agent.policy import NOTHING_SENT, Allow, Ask, Decision, Deny, decide, sentence
from inglenook.agent.state import RunState
from inglenook.egress import OutgoingRequest
from inglenook.errors import ApprovalNeeded, ToolError
from inglenook.events import (
    ApprovalDecided,
    ApprovalRequested,
    Effect,
    ShownRequest,
    ToolFinished,
)
from inglenook.messages import ToolCall, ToolSchema
from inglenook.run_context import RunContext
from inglenook.run_request import RunPermissions
from inglenook.store.base import ApprovalRow, ApprovalStore
from inglenook.tools.base import OpenWorldTool, Tool
from inglenook.tools.registry import Parsed, ToolRegistry, validated

DEFAULT_TIMEOUT_S = 3600.0
STORED_FIELDS = {"call", "reason", "requests", "preview"}
"""Of `approval_requested`, in the approval's row: what a list of approvals shows."""
SENT_ALREADY = (
    "The process ended while this approved call ran. Its request may have left this machine, and "
    "what came back is not known; an approval holds for one sending, so it was not sent again."
)
REFUSALS = {
    "denied": "denied (USER_STOPPED): the user does not want this to be sent. Do not ask for it "
    "again; go on without it, or say what you could not find out.",
    "timed_out": "timed_out: nobody decided in time whether this may be sent. Do not ask for it "
    "again; go on without it, or say what you could not find out.",
    "expired": "expired: the run ended before anybody decided whether this may be sent.",
}


@dataclass(frozen=True, kw_only=True)
class Approving:
    """What the gates of all runs share."""

    approvals: ApprovalStore
    timeout_s: float = DEFAULT_TIMEOUT_S
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)


class ApprovalGate:
    def __init__(self, registry: ToolRegistry, state: RunState, approving: Approving) -> None:
        self._registry = registry
        self._state = state
        self._approving = approving
        self.schemas: Sequence[ToolSchema] = registry.schemas

    def effect_of(self, name: str) -> Effect:
        return self._registry.effect_of(name)

    def is_volatile(self, name: str) -> bool:
        return self._registry.is_volatile(name)

    def dispatch(self, call: ToolCall, run: RunContext) -> Coroutine[Any, Any, None]:
        tool = self._registry.find(call.name)
        if tool is None or not tool.spec.open_world:
            return self._registry.dispatch(call, run)
        if approval := self._state.asked.get(call):
            return self._dispatch_asked(tool, call, approval, run)
        return self._dispatch_judged(tool, call, run)

    async def _dispatch_judged(self, tool: Tool, call: ToolCall, run: RunContext) -> None:
        try:
            parsed = validated(tool.spec, call)
        except ToolError:
            await self._registry.dispatch(call, run)  # which says what is wrong with it
            return
        try:
            requests = outgoing(tool, parsed)
        except ToolError as refused:
            _block(call, str(refused), run)
            return
        match self._judge(call, parsed, requests):
            case Allow():
                if requests is not None and not requests:
                    run = replace(run, approved=frozenset())
                await self._registry.dispatch(call, run, parsed=parsed)
            case Deny(reason):
                _block(call, f"{sentence(reason)} {NOTHING_SENT}", run)
            case Ask(reason):
                await self._ask(call, reason, requests or (), run)

    def _judge(
        self, call: ToolCall, parsed: Parsed, requests: Sequence[OutgoingRequest] | None
    ) -> Decision:
        if self._state.asked.was_denied(call):
            return Deny("denied (USER_STOPPED): the user has refused just this before.")
        return decide(call, parsed[0], requests, self._state.reading, self._permissions)

    @property
    def _permissions(self) -> RunPermissions:
        assert self._state.started is not None
        return self._state.started.permissions

    async def _ask(
        self, call: ToolCall, reason: str, requests: Sequence[OutgoingRequest], run: RunContext
    ) -> None:
        assert self._state.started is not None
        user = self._state.started.request.user
        expires_at = self._approving.clock() + timedelta(seconds=self._approving.timeout_s)
        shown = tuple(map(as_shown, requests))
        event = ApprovalRequested(
            call=call,
            reason=reason,
            sha256=approval_sha256(run.run_id, user, call, shown, expires_at),
            expires_at=expires_at,
            requests=shown,
            preview=preview(call.arguments, shown),
        )
        run.sink.emit(event)
        await run.sink.settle(sync=True)
        await self._row(event, run)
        raise ApprovalNeeded(f"{call.name} waits for a person: {reason}")

    async def _row(self, asked: ApprovalRequested, run: RunContext) -> ApprovalRow:
        """The stored approval; made here where its process was killed before it could be."""
        row = ApprovalRow(
            run_id=run.run_id,
            call_id=asked.call.id,
            root_id=run.root_id or run.run_id,
            request=asked.model_dump(mode="json", include=STORED_FIELDS),
            sha256=asked.sha256,
            created_at=self._approving.clock(),
            expires_at=asked.expires_at,
        )
        return await self._approving.approvals.ask_approval(row)

    async def _dispatch_asked(
        self, tool: Tool, call: ToolCall, approval: AskedCall, run: RunContext
    ) -> None:
        decided = approval.decided or await self._decision(tool, approval.requested, run)
        if decided.decision in REFUSALS:
            _block(call, REFUSALS[decided.decision], run)
        elif approval.was_sent:
            run.sink.emit(ToolFinished(call=call, result=SENT_ALREADY, is_error=True, network=True))
        elif decided.decision == "edited":
            changed = replace(call, arguments=decided.arguments or {})
            await self._dispatch_approved(tool, changed, decided.requests, run, instead_of=call)
        else:
            await self._dispatch_approved(tool, call, approval.requested.requests, run)

    async def _dispatch_approved(
        self,
        tool: Tool,
        call: ToolCall,
        requests: Sequence[ShownRequest],
        run: RunContext,
        *,
        instead_of: ToolCall | None = None,
    ) -> None:
        arguments, changes = validated(tool.spec, call)
        notice = ""
        if instead_of is not None:
            was, now = in_words(instead_of.arguments), in_words(call.arguments)
            changes = (f"the user changed {was} to {now}", *changes)
            # not what it was: an address in a visit's result is taken for one that the page names
            notice = f"[The user changed this call before it was sent, to {now}.]\n\n"
        approved = frozenset(request.sha256 for request in requests)
        await self._registry.dispatch(
            call, replace(run, approved=approved), parsed=(arguments, changes), notice=notice
        )

    async def _decision(
        self, tool: Tool, asked: ApprovalRequested, run: RunContext
    ) -> ApprovalDecided:
        """What a person, or the lack of one, has decided, as an event that is in the log.

        Raises:
            ApprovalNeeded: Nobody has decided yet.
        """
        row = await self._row(asked, run)
        if row.status == "pending":
            raise ApprovalNeeded(f"{asked.call.name} waits for a person: {asked.reason}")
        decided = ApprovalDecided(call=asked.call.id, decision=row.status, by=row.by)
        if row.sha256 != asked.sha256:  # it is about something else than this call
            decided = decided.model_copy(update={"decision": "denied"})
        elif row.status == "edited":
            decided = self._edited(tool, replace(asked.call, arguments=row.arguments or {}), row.by)
        run.sink.emit(decided)
        await run.sink.settle(sync=True)
        return decided

    def _edited(self, tool: Tool, call: ToolCall, by: str | None) -> ApprovalDecided:
        """A person's own arguments need nobody's approval any more; but what may not leave at all
        does not leave for them either."""
        try:
            parsed = validated(tool.spec, call)
            requests = outgoing(tool, parsed) or ()
            state = self._state
            is_denied = isinstance(
                decide(call, parsed[0], requests, state.reading, self._permissions), Deny
            )
        except ToolError:  # it could be sent when it was decided, and cannot any more
            requests, is_denied = (), True
        shown = tuple(map(as_shown, requests))
        return ApprovalDecided(
            call=call.id,
            decision="denied" if is_denied else "edited",
            arguments=dict(call.arguments),
            by=by,
            requests=shown,
            preview=preview(call.arguments, shown),
        )


def outgoing(tool: Tool, parsed: Parsed) -> Sequence[OutgoingRequest] | None:
    """What a call would send; None where its tool cannot tell.

    Raises:
        ToolError: This machine refuses to send it.
    """
    return tool.outgoing(parsed[0]) if isinstance(tool, OpenWorldTool) else None


def as_shown(request: OutgoingRequest) -> ShownRequest:
    return ShownRequest(
        method=request.method,
        url=request.url,
        body=request.body.decode("utf-8", "backslashreplace"),
        sha256=request.sha256,
    )


def preview(arguments: Mapping[str, object], requests: Sequence[ShownRequest]) -> str:
    """One sentence: who would be asked, and what for."""
    hosts = list(dict.fromkeys(urlsplit(request.url).hostname or "" for request in requests))
    if not hosts:
        return f"Sends nothing for {in_words(arguments)}."
    places = f"{hosts[0]} (or, where that fails, {', '.join(hosts[1:])})" if hosts[1:] else hosts[0]
    return f"Asks {places} for {in_words(arguments)}."


def in_words(arguments: Mapping[str, object]) -> str:
    """`"otters" (recency: week)`"""
    first, *others = [(k, v) for k, v in arguments.items() if v is not None] or [("", "nothing")]
    rest = ", ".join(f"{name}: {value}" for name, value in others)
    return f"{json.dumps(first[1], ensure_ascii=False)}{f' ({rest})' if rest else ''}"


def approval_sha256(
    run_id: str,
    user: str | None,
    call: ToolCall,
    requests: Sequence[ShownRequest],
    expires_at: datetime,
) -> str:
    """What a decision is bound to."""
    bound = {
        "run": run_id,
        "user": user,
        "call": call.id,
        "tool": call.name,
        "arguments": dict(call.arguments),
        "requests": [request.sha256 for request in requests],
        "expires_at": expires_at.astimezone(UTC).isoformat(),
    }
    canonical = json.dumps(bound, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def _block(call: ToolCall, result: str, run: RunContext) -> None:
    run.sink.emit(ToolFinished(call=call, result=result, is_error=True, blocked=True))
