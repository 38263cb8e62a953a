"""The `delegate` tool: hand one task to a named child agent and return its answer.

A child is a run of its own with its own limits and log. It sees its task, never the parent's
history; it holds at most the parent's permissions, read-only tools, and no `delegate`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field

from inglenook.agent.sources import renumbered
from inglenook.errors import ToolError
from inglenook.events import ChildFinished, ChildStarted, Status
from inglenook.messages import Source, ToolOutput
from inglenook.run_context import RunContext
from inglenook.run_request import RunPermissions
from inglenook.tools.base import ToolSpec


@dataclass(frozen=True, kw_only=True)
class ChildAgent:
    """An agent that `delegate` may call, as configured under `[agents.<name>]`."""

    description: str
    strategy: str
    model: str | None
    """None: the parent's."""
    steps: int


@dataclass(frozen=True, kw_only=True)
class ChildTask:
    """`id` is a function of parent and call: a resumed parent finds its child again."""

    id: str
    parent: str
    agent: ChildAgent
    task: str
    permissions: RunPermissions
    credential: str | None


@dataclass(frozen=True, kw_only=True)
class ChildResult:
    status: Status
    explanation: str
    answer: str
    sources: tuple[Source, ...]
    network: bool
    """The child sent something to another machine."""


class ChildRunner(Protocol):
    def child_id(self, parent: str, call_id: str) -> str: ...

    async def run_child(self, task: ChildTask) -> ChildResult:
        """Run the child to its end, from wherever it stands; an ended one is not run again.

        Cancelling this cancels the child.
        """
        ...


class DelegateArguments(BaseModel):
    model_config = ConfigDict(extra="forbid")

    agent: str = Field(description="Name of the specialist.")
    task: str = Field(min_length=1, description="The whole task: the specialist sees nothing else.")


class DelegateTool:
    def __init__(self, agents: Mapping[str, ChildAgent], runner: ChildRunner) -> None:
        self._agents = agents
        self._runner = runner
        offered = "; ".join(f"{name}: {agent.description}" for name, agent in agents.items())
        self.spec = ToolSpec(
            name="delegate",
            description=f"Give a self-contained task to a specialist. Specialists: {offered}.",
            arguments=DelegateArguments,
            effect="read",  # every child holds read-only tools, so children may run side by side
        )

    async def run(self, arguments: DelegateArguments, run: RunContext) -> ToolOutput:
        agent = self._agents.get(arguments.agent)
        if agent is None:
            raise ToolError(
                f"there is no specialist {arguments.agent!r}; choose from {', '.join(self._agents)}"
            )
        task = ChildTask(
            id=self._runner.child_id(run.run_id, run.call_id),
            parent=run.run_id,
            agent=agent,
            task=arguments.task,
            permissions=run.permissions.of_child(),
            credential=run.credential,
        )
        run.sink.emit(ChildStarted(call=run.call_id, child_run_id=task.id))
        await run.sink.settle()
        result = await self._runner.run_child(task)
        run.sink.emit(ChildFinished(call=run.call_id, child_run_id=task.id, status=result.status))
        if result.status != "complete":
            raise ToolError(
                f"{arguments.agent} ended {result.status}: {result.explanation} "
                f"What it had: {result.answer or 'nothing'}"
            )
        text, sources = renumbered(result.answer, result.sources, run.sources)
        return ToolOutput(text=text, sources=sources, network=result.network)
