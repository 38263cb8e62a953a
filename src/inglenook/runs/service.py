"""RunService: start, follow, cancel, continue and export runs. The one way in for HTTP and CLI."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from inglenook.errors import Conflict, LeaseLost
from inglenook.events import ENDED, ChildStarted, RunEvent, Status, decode
from inglenook.knowledge.base import Knowledge
from inglenook.providers.catalogue import ModelCatalogue
from inglenook.run_request import ApprovalRules, RunRequest, permissions_of
from inglenook.runs.approval_inbox import ApprovalInbox, Verdict, approval_view
from inglenook.runs.broadcast import Broadcast, Frame
from inglenook.runs.endings import CANCELLED
from inglenook.runs.engine import Engine
from inglenook.runs.export import export_lines
from inglenook.runs.follow import ended_or_waiting, follow, row_of
from inglenook.runs.starting import check_request, new_run_id, queued_row, run_started
from inglenook.runs.supervisor import RunSupervisor
from inglenook.runs.views import egress_ledger, run_item, run_view
from inglenook.store.base import ApprovalStatus, ChainReport, RunRow, RuntimeStore, StoredEvent
from inglenook.store.locks import Owners

LEFT_ALONE = "Its process ended; it goes on when `inglenook serve` runs."
WAITS = {
    "approval": "It waits for a person to approve what would leave this machine.",
    "needs_credential": "It waits for its user's key, which is kept in memory only.",
}
CLAIM_TIME = timedelta(seconds=5)
"""Far more than passes between storing a run and taking it up."""


class RunService:
    def __init__(
        self,
        *,
        store: RuntimeStore,
        engine: Engine,
        supervisor: RunSupervisor,
        broadcast: Broadcast,
        models: ModelCatalogue,
        knowledge: Knowledge,
        owners: Owners,
        context_version: str,
        credentials: dict[str, str],
        approvals: ApprovalInbox,
        rules: ApprovalRules,
    ) -> None:
        """`rules`: the operator's, which no request loosens."""
        self._approvals = approvals
        self._rules = rules
        self._store = store
        self._engine = engine
        self._supervisor = supervisor
        self._broadcast = broadcast
        self._models = models
        self._knowledge = knowledge
        self._owners = owners
        self._context_version = context_version
        self._credentials = credentials

    async def start(
        self,
        request: RunRequest,
        *,
        credential: str | None = None,
        idempotency_key: str | None = None,
    ) -> RunRow:
        """Check, store and submit a run; a killed process loses nothing of it from here on.

        Args:
            credential: The user's own key for their knowledge service; kept in memory only.

        Raises:
            NotFound: Unknown model or knowledge base.
            InvalidRequest: Names the field and what is allowed.
            CredentialNeeded: The knowledge service wants a key.
        """
        check_request(request)
        await self._models.get(request.model)
        if request.knowledge:
            await self._knowledge.open(request.knowledge, credential)
        row = queued_row(request, run_id=new_run_id())
        session = request.session
        labels = await self._store.session_labels(session, user=request.user) if session else ()
        started = run_started(
            request,
            permissions_of(request, self._rules),
            context_version=self._context_version,
            labels=labels,
        )
        stored = await self._store.create_run(row, started, idempotency_key=idempotency_key)
        if stored.id == row.id:
            if credential is not None:
                self._credentials[row.id] = credential
            await self._engine.submit(row.id, epoch=row.epoch)
        return stored

    async def row(self, run_id: str) -> RunRow:
        """
        Raises:
            NotFound: There is no such run.
        """
        return await row_of(self._store, run_id)

    async def get(self, run_id: str) -> dict[str, Any]:
        """The run as API section 4 shows it."""
        row = self._explained(await self.row(run_id))
        events = await self.events(run_id)
        return run_view(row, events, await self._of_children(events))

    async def list_runs(
        self,
        *,
        status: Status | None = None,
        session: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> dict[str, Any]:
        rows, following = await self._store.list_runs(
            status=status, session=session, limit=limit, cursor=cursor
        )
        return {"items": [run_item(self._explained(row)) for row in rows], "next": following}

    async def stored_events(self, run_id: str, *, after: int = -1) -> Sequence[StoredEvent]:
        await self.row(run_id)
        return await self._store.read(run_id, after=after)

    async def events(self, run_id: str) -> list[RunEvent]:
        """The run's events, without those whose payload was erased."""
        stored = await self.stored_events(run_id)
        return [decode(event.payload) for event in stored if event.payload is not None]

    def follow(self, run_id: str, *, after: int = -1) -> AsyncGenerator[Frame | None, None]:
        """The run's frames from `after` on, live ones included (see `runs/follow.py`).

        Raises:
            NotFound: There is no such run.
            Conflict: Nobody works on the run, and nobody will before a server is started.
        """
        return follow(self._store, self._broadcast, run_id, after, self._check_not_left_alone)

    async def _of_children(self, events: Sequence[RunEvent]) -> dict[str, list[RunEvent]]:
        """The events of each child run by its id; a child has no children of its own."""
        ids = dict.fromkeys(e.child_run_id for e in events if isinstance(e, ChildStarted))
        stored = {id: await self._store.read(id) for id in ids}
        return {
            id: [decode(event.payload) for event in events if event.payload is not None]
            for id, events in stored.items()
        }

    async def wait(self, run_id: str) -> RunRow:
        """The run's row once it has ended or waits for a person.

        Raises:
            NotFound, Conflict: As `follow`.
        """
        await self._engine.join(run_id)  # so that the row is looked up once
        return await ended_or_waiting(
            self._store, self._broadcast, run_id, self._check_not_left_alone
        )

    async def cancel(self, run_id: str) -> RunRow:
        """Stop a run, whoever executes it; one that has ended stays as it is."""
        row = await self.row(run_id)
        if row.status in ENDED or await self._engine.cancel(run_id):
            return row
        # What this process holds and the engine does not run (a child, a run that stands still)
        # is taken over; only another process is asked.
        held = row.owner not in (None, self._owners.id) and self._owners.is_alive(row.owner or "")
        if row.status == "running" and held:
            await self._store.post(run_id, "cancel", {})
            return row
        try:
            await self._supervisor.finish_unheld(row, CANCELLED)
        except LeaseLost:
            await self._store.post(run_id, "cancel", {})
        return await self.row(run_id)

    async def give_credential(self, run_id: str, credential: str) -> RunRow:
        """Hand a waiting run the key it needs; it goes on at once.

        Raises:
            Conflict: The run does not wait for a key.
        """
        row = await self.row(run_id)
        if row.status != "waiting" or row.reason != "needs_credential":
            raise Conflict(f"run {run_id!r} is {row.status}; it does not wait for a credential")
        self._credentials[run_id] = credential
        await self._engine.submit(run_id, epoch=row.epoch)
        return row

    async def approvals(self, status: ApprovalStatus | None = None) -> list[dict[str, Any]]:
        """What waits for a person, or was decided; oldest first (`approval_view`)."""
        return await self._approvals.listed(status=status)

    async def decide(
        self,
        run_id: str,
        call_id: str,
        verdict: Verdict,
        *,
        arguments: Mapping[str, Any] | None = None,
        by: str | None = None,
    ) -> dict[str, Any]:
        """Take a person's word on a call that waits for it; its run goes on at once.

        Raises:
            NotFound, InvalidRequest, Conflict: As `ApprovalInbox.decide`.
        """
        decided = await self._approvals.decide(run_id, call_id, verdict, arguments=arguments, by=by)
        return approval_view(decided)

    async def preview_edit(
        self, run_id: str, call_id: str, arguments: Mapping[str, Any]
    ) -> dict[str, Any]:
        """What a waiting call would send with other arguments.

        Raises:
            NotFound, InvalidRequest: As `decide`.
        """
        return await self._approvals.preview(run_id, call_id, arguments)

    async def egress(self, run_id: str) -> list[dict[str, Any]]:
        """What left this machine in the run and in its children, each entry with its run.

        Raises:
            Conflict: The run was erased, and its ledger with it.
        """
        stored = await self.stored_events(run_id)
        if any(event.payload is None for event in stored):
            raise Conflict(f"run {run_id!r} was erased; what left the machine in it is not known")
        events = [decode(event.payload) for event in stored if event.payload is not None]
        return egress_ledger({run_id: events} | await self._of_children(events))

    async def export(self, run_id: str) -> bytes:
        """The run as JSON Lines, one event a line; enough to replay it anywhere."""
        stored = await self.stored_events(run_id)
        return export_lines(event.json() for event in stored)

    async def erase(self, run_id: str) -> int:
        """Remove what an ended run said and saw; its chain of digests stays checkable.

        Raises:
            Conflict: The run has not ended.
        """
        row = await self.row(run_id)
        if row.status not in ENDED:
            raise Conflict(f"run {run_id!r} is {row.status}; cancel it first")
        return await self._store.erase(run_id)

    async def verify(self, run_id: str | None = None) -> ChainReport:
        if run_id is not None:
            await self.row(run_id)
        return await self._store.verify(run_id)

    def _explained(self, row: RunRow) -> RunRow:
        """As it is shown: an unfinished run that nobody works on says why."""
        if row.status == "waiting":
            return replace(row, explanation=WAITS.get(row.reason or ""))
        return replace(row, explanation=LEFT_ALONE) if self._is_left_alone(row) else row

    def _check_not_left_alone(self, row: RunRow) -> None:
        if self._is_left_alone(row):
            raise Conflict(f"run {row.id} has not ended. {LEFT_ALONE}")

    def _is_left_alone(self, row: RunRow) -> bool:
        """Nobody works on it, and there is no server that would take it up."""
        if row.status not in ("queued", "running") or self._engine.executes(row.id):
            return False
        if row.owner is None:
            # whoever stored it may be just about to take it up
            is_held = datetime.now(UTC) - row.created_at < CLAIM_TIME
        elif row.owner == self._owners.id:
            is_held = row.parent is not None  # a child has no task of its own
        else:
            is_held = self._owners.is_alive(row.owner)
        return not is_held and not self._owners.has_server()
