"""Wires what carries runs to their ends; the tests and the benchmarks wire with it, too."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from inglenook.agent.approvals import DEFAULT_TIMEOUT_S, Approving
from inglenook.agent.assistant import Assistant, Toolbox
from inglenook.agent.base import Agent
from inglenook.agent.delegate import ChildAgent, DelegateTool
from inglenook.agent.guardrails import standard_guardrails
from inglenook.agent.replay import replay
from inglenook.agent.strategies import ASSISTANT, RESEARCH
from inglenook.context.compaction import Compacting
from inglenook.events import RunEvent
from inglenook.knowledge.base import Knowledge
from inglenook.providers.catalogue import ModelCatalogue
from inglenook.research.cached_research import CachedResearch
from inglenook.research.report_cache import ReportCache
from inglenook.research.sub_agent import research_agent
from inglenook.research.web_research import WebResearchTool
from inglenook.run_request import ApprovalRules, RequestLimits
from inglenook.runs.approval_inbox import ApprovalInbox
from inglenook.runs.broadcast import Broadcast
from inglenook.runs.children import Children
from inglenook.runs.in_process import InProcessEngine
from inglenook.runs.service import RunService
from inglenook.runs.supervisor import RunSupervisor
from inglenook.store.base import RuntimeStore
from inglenook.store.locks import Owners
from inglenook.tools.base import Tool


class OpenToolbox(Toolbox, Protocol):
    """One that takes the tools in that start children: they need the supervisor, whose agents need
    the box."""

    delegates: Sequence[Tool]


@dataclass(frozen=True, kw_only=True)
class RunParts:
    service: RunService
    engine: InProcessEngine
    """To be entered before a run is started."""
    supervisor: RunSupervisor
    assistant: Assistant
    credentials: Mapping[str, str]
    """Users' keys by run id, as the service and the supervisor hold them."""


def wire_runs(
    *,
    store: RuntimeStore,
    owners: Owners,
    models: ModelCatalogue,
    knowledge: Knowledge,
    toolbox: OpenToolbox,
    child_agents: Mapping[str, ChildAgent],
    default_limits: RequestLimits,
    rules: ApprovalRules,
    strategy_limits: Mapping[str, RequestLimits] | None = None,
    tool_result_tokens: int | None = None,
    reports: ReportCache | None = None,
    approval_timeout_s: float = DEFAULT_TIMEOUT_S,
    approval_clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> RunParts:
    context = Compacting()
    approving = Approving(approvals=store, timeout_s=approval_timeout_s, clock=approval_clock)
    broadcast = Broadcast()
    credentials: dict[str, str] = {}
    assistant = Assistant(
        models=models,
        knowledge=knowledge,
        toolbox=toolbox,
        context=context,
        approving=approving,
        tool_result_tokens=tool_result_tokens,
    )
    research: Agent = research_agent(
        models=models,
        knowledge=knowledge,
        toolbox=toolbox,
        context=context,
        approving=approving,
        tool_result_tokens=tool_result_tokens,
    )
    if reports is not None and toolbox.web_tools():
        research = CachedResearch(research, reports, RESEARCH)
    supervisor = RunSupervisor(
        store=store,
        broadcast=broadcast,
        agents={ASSISTANT.name: assistant, RESEARCH.name: research},
        owner=owners.id,
        default_limits=default_limits,
        strategy_limits=strategy_limits or {},
        credentials=credentials,
    )
    children = Children(store=store, supervisor=supervisor, context_version=context.version)
    toolbox.delegates = [
        *([DelegateTool(child_agents, children)] if child_agents else ()),
        *([WebResearchTool(children)] if toolbox.web_tools() else ()),
    ]
    engine = InProcessEngine(
        store=store, supervisor=supervisor, owners=owners, approval_clock=approval_clock
    )
    service = RunService(
        store=store,
        engine=engine,
        supervisor=supervisor,
        broadcast=broadcast,
        models=models,
        knowledge=knowledge,
        owners=owners,
        context_version=context.version,
        credentials=credentials,
        approvals=ApprovalInbox(
            store=store, engine=engine, tools=toolbox.web_tools, clock=approval_clock
        ),
        rules=rules,
    )
    return RunParts(
        service=service,
        engine=engine,
        supervisor=supervisor,
        assistant=assistant,
        credentials=credentials,
    )


async def replay_events(events: Sequence[RunEvent]) -> str:
    """Replay a recorded run with this version's loop (see `agent/replay.py`)."""
    return await replay(events, context=Compacting(), guardrails=standard_guardrails())
