"""Child runs: started, found again and executed within their parent's task."""

import hashlib

from inglenook.agent.delegate import ChildResult, ChildTask
from inglenook.agent.state import RunState
from inglenook.events import decode
from inglenook.messages import Message
from inglenook.run_request import RequestLimits, RunRequest
from inglenook.runs.starting import queued_row, run_started
from inglenook.runs.supervisor import RunSupervisor
from inglenook.runs.views import egress_totals
from inglenook.store.base import RuntimeStore

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

    async def run_child(self, task: ChildTask) -> ChildResult:
        if await self._store.get_run(task.id) is None:
            await self._create(task)
        await self._supervisor.execute_child(task.id, task.parent, task.credential)
        stored = await self._store.read(task.id)
        events = [decode(event.payload) for event in stored if event.payload is not None]
        network = egress_totals([events])["requests"] > 0
        finished = RunState(events).finished
        if finished is None:
            row = await self._store.get_run(task.id)
            return ChildResult(
                status=row.status if row else "failed",
                explanation="It did not end.",
                answer="",
                sources=(),
                network=network,
            )
        return ChildResult(
            status=finished.status,
            explanation=finished.explanation,
            answer=finished.answer,
            sources=finished.sources,
            network=network,
        )

    async def _create(self, task: ChildTask) -> None:
        parent = await self._store.get_run(task.parent)
        assert parent is not None, "a child is started by a run"
        request = RunRequest(
            model=task.agent.model or parent.model,
            messages=(Message(role="user", text=task.task),),
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
            ),
        )
