"""Child runs: started, found again and executed within their parent's task."""

import hashlib

from inglenook.agent.delegate import ChildResult, ChildTask
from inglenook.agent.state import RunState
from inglenook.errors import ApprovalNeeded, CredentialNeeded
from inglenook.events import RunEvent, decode
from inglenook.messages import Message
from inglenook.run_request import RequestLimits, RunRequest
from inglenook.runs.starting import queued_row, run_started
from inglenook.runs.supervisor import RunSupervisor
from inglenook.runs.views import egress_totals
from inglenook.store.base import RunRow, RuntimeStore

ID_TIME_CHARS = len("run_") + 11


class Children:
    def __init__(
        self, *, store: RuntimeStore, supervisor: RunSupervisor, context_version: str
    ) -> None:
        self._store = store
        self._supervisor = supervisor
        self._context_version = context_version

    def child_id(self, parent: str, call_id: str) -> str:
        """Sorts beside its parent and is the same whenever the same call asks."""
        digest = hashlib.sha256(f"{parent}\n{call_id}".encode()).hexdigest()
        return f"{parent[:ID_TIME_CHARS]}{digest[:16]}"

    async def ensure_child(self, task: ChildTask) -> None:
        if await self._store.get_run(task.id) is None:
            await self._create(task)

    async def run_child(self, task: ChildTask) -> ChildResult:
        await self._supervisor.execute_child(task.id, task.parent, task.credential)
        events = await self._events(task.id)
        finished = RunState(events).finished
        row = await self._store.get_run(task.id)
        assert row is not None, "a run's row stays"
        if finished is None:
            _raise_if_waiting(row)
        return ChildResult(
            status=finished.status if finished else row.status,
            reason=finished.reason if finished else None,
            explanation=finished.explanation if finished else "It did not end.",
            answer=finished.answer if finished else "",
            sources=finished.sources if finished else (),
            labels=row.labels,
            network=egress_totals([events])["requests"] > 0,
        )

    async def _create(self, task: ChildTask) -> None:
        parent = await self._store.get_run(task.parent)
        assert parent is not None, "a child is started by a run"
        seen = RunState(await self._events(task.parent)).messages
        request = RunRequest(
            model=task.agent.model or parent.model,
            messages=(Message(role="user", text=task.text(seen)),),
            strategy=task.agent.strategy,
            knowledge=task.permissions.knowledge,
            web=task.permissions.web,
            limits=RequestLimits(steps=task.agent.steps),
            session=parent.session,
            user=parent.user,
        )
        await self._store.create_run(
            queued_row(request, run_id=task.id, parent=task.parent),
            run_started(
                request,
                task.permissions,
                context_version=self._context_version,
                parent=task.parent,
                labels=task.labels,
            ),
        )

    async def _events(self, run_id: str) -> list[RunEvent]:
        stored = await self._store.read(run_id)
        return [decode(event.payload) for event in stored if event.payload is not None]


def _raise_if_waiting(row: RunRow) -> None:
    """
    Raises:
        CredentialNeeded, ApprovalNeeded: What the run waits for.
    """
    if row.status == "waiting":
        what = f"the child run {row.id} waits: {row.reason}"
        raise CredentialNeeded(what) if row.reason == "needs_credential" else ApprovalNeeded(what)
