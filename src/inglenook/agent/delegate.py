"""Child runs, and the `delegate` tool: one task for a named agent, whose answer comes back.

A child is a run of its own with its own limits and log. It sees its task, never the parent's
history; it holds at most the parent's permissions, read-only tools, and no `delegate`. It begins
with what its parent has read, and what it reads its parent has read too.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field

from inglenook.agent.sources import renumbered
from inglenook.agent.strategies import STRATEGIES
from inglenook.errors import ConfigError, Reason, ToolError
from inglenook.events import ChildFinished, ChildStarted, Status
from inglenook.messages import Label, Message, Source, ToolOutput
from inglenook.run_context import RunContext
from inglenook.run_request import RunPermissions
from inglenook.tools.base import ToolSpec


@dataclass(frozen=True, kw_only=True)
class ChildAgent:
    """An agent that a run may call, such as those configured under `[agents.<name>]`."""

    description: str
    strategy: str
    model: str | None
    """None: the parent's."""
    steps: int | None
    """None: as many as its strategy allows."""


TaskText = Callable[[Sequence[Message]], str]
"""A child's task, made of what its parent has seen."""


@dataclass(frozen=True, kw_only=True)
class ChildTask:
    """`id` is a function of parent and call: a resumed parent finds its child again."""

    id: str
    parent: str
    agent: ChildAgent
    text: TaskText
    permissions: RunPermissions
    labels: tuple[Label, ...]
    credential: str | None


@dataclass(frozen=True, kw_only=True)
class ChildResult:
    status: Status
    reason: Reason | None
    explanation: str
    answer: str
    sources: tuple[Source, ...]
    labels: tuple[Label, ...]
    """All that the child has read, its parent's included."""
    network: bool
    """The child sent something to another machine."""


class ChildRunner(Protocol):
    def child_id(self, parent: str, call_id: str) -> str: ...

    async def ensure_child(self, task: ChildTask) -> None:
        """The child's run exists from here on; one that does already stays as it is."""
        ...

    async def run_child(self, task: ChildTask) -> ChildResult:
        """Run the child to its end, from wherever it stands; an ended one is not run again.

        Cancelling this cancels the child.

        Raises:
            ApprovalNeeded, CredentialNeeded: The child waits for a person, and its parent with it.
        """
        ...


async def run_child_of(
    run: RunContext, runner: ChildRunner, agent: ChildAgent, text: TaskText
) -> ChildResult:
    """Run the child of the call that `run` serves, and record it there.

    Raises:
        ToolError: The child needs what its parent may not do.
        ApprovalNeeded, CredentialNeeded: As `ChildRunner.run_child`.
    """
    if STRATEGIES[agent.strategy].needs_web and not run.permissions.web:
        raise ToolError("it works on the web, which is off in this run; only the user can allow it")
    task = ChildTask(
        id=runner.child_id(run.run_id, run.call_id),
        parent=run.run_id,
        agent=agent,
        text=text,
        permissions=run.permissions.of_child(),
        labels=tuple(sorted(run.labels)),
        credential=run.credential,
    )
    await run.sink.settle()  # the child's task is made of what the log holds
    await runner.ensure_child(task)  # whoever reads that it started can look it up
    run.sink.emit(ChildStarted(call=run.call_id, child_run_id=task.id))
    await run.sink.settle()
    result = await runner.run_child(task)
    run.sink.emit(ChildFinished(call=run.call_id, child_run_id=task.id, status=result.status))
    return result


class DelegateArguments(BaseModel):
    model_config = ConfigDict(extra="forbid")

    agent: str = Field(description="Name of the specialist.")
    task: str = Field(min_length=1, description="The whole task: the specialist sees nothing else.")


class DelegateTool:
    def __init__(self, agents: Mapping[str, ChildAgent], runner: ChildRunner) -> None:
        """
        Raises:
            ConfigError: An agent works by a strategy that there is not.
        """
        for name, agent in agents.items():
            if agent.strategy not in STRATEGIES:
                raise ConfigError(
                    f"agents.{name}.strategy: there is no strategy {agent.strategy!r}; choose from "
                    f"{', '.join(sorted(STRATEGIES))}"
                )
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
        result = await run_child_of(run, self._runner, agent, lambda _: arguments.task)
        text, sources = renumbered(result.answer, result.sources, run.sources)
        if result.status != "complete":
            text = (
                f"{arguments.agent} ended {result.status}: {result.explanation} "
                f"What it had: {text or 'nothing'}"
            )
        return ToolOutput(
            text=text,
            sources=sources,
            network=result.network,
            labels=result.labels,
            is_error=result.status != "complete",
        )
