"""ApprovalInbox: what waits for a person, their decisions, and the time that each has.

A decision is one statement in the store, for whoever comes first; the run is told by being
submitted again. The run's own log gets it from there (`agent/approvals.py`).
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal, cast
from urllib.parse import urlsplit

from inglenook.agent.approvals import as_shown, outgoing, preview
from inglenook.errors import Conflict, InvalidRequest, NotFound, ToolError
from inglenook.events import ApprovalDecided, ShownRequest, decode
from inglenook.messages import ToolCall
from inglenook.runs.engine import Engine
from inglenook.runs.views import shown_time
from inglenook.store.base import AlreadyDecided, ApprovalRow, ApprovalStatus, RuntimeStore
from inglenook.tools.base import Tool
from inglenook.tools.registry import plain_name, validated

Verdict = Literal["approve", "edit", "deny"]
STATUS_OF: Mapping[Verdict, ApprovalStatus] = {
    "approve": "approved",
    "edit": "edited",
    "deny": "denied",
}


class ApprovalInbox:
    def __init__(
        self,
        *,
        store: RuntimeStore,
        engine: Engine,
        tools: Callable[[], Sequence[Tool]],
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """`tools`: the open-world ones, which know what arguments they take."""
        self._store = store
        self._engine = engine
        self._tools = tools
        self._clock = clock

    async def listed(
        self, *, status: ApprovalStatus | None = None, root_id: str | None = None
    ) -> list[dict[str, Any]]:
        """Oldest first, as `approval_view` shows them."""
        rows = await self._store.list_approvals(status=status, root_id=root_id)
        return [approval_view(row) for row in rows]

    async def decide(
        self,
        run_id: str,
        call_id: str,
        verdict: Verdict,
        *,
        arguments: Mapping[str, Any] | None,
        by: str | None,
    ) -> ApprovalRow:
        """Take a person's word on a call, and have its run go on.

        Raises:
            NotFound: Nobody was asked about such a call.
            InvalidRequest: The arguments do not fit the tool or would not be sent; names the field.
                The call still waits.
            Conflict: It was decided before, or its time ran out; says which.
        """
        row = await self._row(run_id, call_id)
        if (verdict == "edit") != (arguments is not None):
            raise InvalidRequest(
                "arguments belong to the decision 'edit', which needs them", field="arguments"
            )
        if arguments is not None:
            self._requests(row, arguments)
        now = self._clock()
        try:
            decided = await self._store.decide_approval(
                run_id,
                call_id,
                status=STATUS_OF[verdict],
                arguments=dict(arguments) if arguments is not None else None,
                by=by,
                now=now,
            )
        except AlreadyDecided as error:
            present = error.row
            if present.status == "pending":  # its time is over, and nobody has noted it yet
                present = await _timed_out(self._store, self._engine, present, now)
            raise Conflict(
                f"call {call_id!r} of run {run_id!r} is not pending any more: it is "
                f"{present.status}; a call is decided once.",
                field="decision",
            ) from error
        await _wake(self._store, self._engine, decided)
        return decided

    async def preview(
        self, run_id: str, call_id: str, arguments: Mapping[str, Any]
    ) -> dict[str, Any]:
        """What a call would send with other arguments: `{"preview", "requests"}`.

        Raises:
            NotFound, InvalidRequest: As `decide`.
        """
        requests = self._requests(await self._row(run_id, call_id), arguments)
        return {
            "preview": preview(arguments, requests),
            "requests": [request_view(each.model_dump()) for each in requests],
        }

    async def _row(self, run_id: str, call_id: str) -> ApprovalRow:
        """
        Raises:
            NotFound: Nobody was asked about such a call.
        """
        row = await self._store.get_approval(run_id, call_id)
        if row is None:
            raise NotFound(
                f"run {run_id!r} has no call {call_id!r} that was to be approved",
                hint="GET /api/approvals lists those that wait.",
            )
        return row

    def _requests(self, row: ApprovalRow, arguments: Mapping[str, Any]) -> list[ShownRequest]:
        """
        Raises:
            InvalidRequest: The call's tool does not take these arguments, or would not send them.
        """
        name: str = approval_view(row)["call"]["name"]
        tool = next((t for t in self._tools() if t.spec.name == plain_name(name)), None)
        if tool is None:
            raise InvalidRequest(
                f"{name!r} takes no other arguments now; approve or deny it", field="arguments"
            )
        try:
            parsed = validated(tool.spec, ToolCall(id=row.call_id, name=name, arguments=arguments))
            if changes := parsed[1]:  # a person's words are taken as they are, or not at all
                raise ToolError(f"{name} does not take these arguments: {'; '.join(changes)}")
            return [as_shown(each) for each in outgoing(tool, parsed) or ()]
        except ToolError as error:
            raise InvalidRequest(str(error), field="arguments", status=422) from error


async def time_out_approvals(store: RuntimeStore, engine: Engine, now: datetime) -> None:
    """Decide all whose time has run out. For the holder of the home's lock."""
    for row in await store.due_approvals(now):
        await _timed_out(store, engine, row, now)


async def wake_decided(store: RuntimeStore, engine: Engine) -> None:
    """Submit the waiting runs whose decision was stored by a process that died before it could. For
    the holder of the home's lock, once."""
    cursor = None
    while True:
        rows, cursor = await store.list_runs(status="waiting", limit=200, cursor=cursor)
        for row in rows:
            if row.reason == "approval" and await has_news(store, row.id):
                await engine.submit(row.id, epoch=row.epoch)
        if cursor is None:
            return


async def _timed_out(
    store: RuntimeStore, engine: Engine, row: ApprovalRow, now: datetime
) -> ApprovalRow:
    """The approval as it is then: somebody may have been faster."""
    try:
        row = await store.decide_approval(
            row.run_id, row.call_id, status="timed_out", arguments=None, by=None, now=now
        )
    except AlreadyDecided as error:
        return error.row
    await _wake(store, engine, row)
    return row


async def _wake(store: RuntimeStore, engine: Engine, row: ApprovalRow) -> None:
    """A run that does not wait yet finds the decision itself when it is about to."""
    root = await store.get_run(row.root_id)
    if root is not None and root.status == "waiting" and root.reason == "approval":
        await engine.submit(root.id, epoch=root.epoch)


async def has_news(store: RuntimeStore, root_id: str) -> bool:
    """A decision on a call of this family of runs is not in its run's log yet, and that run can
    still hear it."""
    for row in await store.list_approvals(root_id=root_id):
        if row.status not in ("pending", "expired") and not await _is_settled(store, row):
            return True
    return False


async def _is_settled(store: RuntimeStore, row: ApprovalRow) -> bool:
    run = await store.get_run(row.run_id)
    if run is None or run.finished_at is not None:
        return True
    return any(
        isinstance(event, ApprovalDecided) and event.call == row.call_id
        for stored in await store.read(row.run_id)
        if stored.type == "approval_decided" and stored.payload is not None
        for event in [decode(stored.payload)]
    )


def approval_view(row: ApprovalRow) -> dict[str, Any]:
    """One item of `GET /api/approvals`."""
    request = cast("Mapping[str, Any]", row.request)  # empty once erased
    return {
        "run_id": row.run_id,
        "root_id": row.root_id,
        "call": request.get("call") or {"id": row.call_id, "name": "", "arguments": {}},
        "reason": request.get("reason", ""),
        "preview": request.get("preview", ""),
        "requests": [request_view(each) for each in request.get("requests", [])],
        "sha256": row.sha256,
        "status": row.status,
        "arguments": row.arguments,
        "created_at": shown_time(row.created_at),
        "expires_at": shown_time(row.expires_at),
        "decided_at": row.decided_at and shown_time(row.decided_at),
        "by": row.by,
    }


def request_view(request: Mapping[str, Any]) -> dict[str, str]:
    url: str = request["url"]
    return {
        "method": request["method"],
        "url": url,
        "host": urlsplit(url).hostname or "",
        "body": request["body"],
    }
