"""Assistant: the agent of every strategy. Opens what the run may use, fixes the prompt, starts the
loop. Strategies differ in values, in their instructions and in the toolbox that they are given.

The one place where permissions become tools: what a run may not use is never built for it.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Protocol

from inglenook.agent.approvals import ApprovalGate, Approving
from inglenook.agent.call_ids import with_own_ids
from inglenook.agent.cut_calls import without_cut_call
from inglenook.agent.guardrails import standard_guardrails
from inglenook.agent.loop import AgentLoop
from inglenook.agent.named_documents import about_unnamed, nameable
from inglenook.agent.state import RunState
from inglenook.agent.strategies import ASSISTANT, PromptParts, Strategy, system_prompt
from inglenook.context.base import ContextPolicy
from inglenook.context.tokens import chars_for
from inglenook.context.window import Window, believed_ratio, window_of
from inglenook.egress import Egress
from inglenook.errors import CredentialNeeded, InvalidRequest, ProviderBusy, RunEnded
from inglenook.events import PromptBuilt
from inglenook.knowledge.base import Knowledge, Retriever
from inglenook.messages import Message
from inglenook.providers.base import ModelAbilities, ModelReply, ModelSpec, StreamOptions
from inglenook.providers.catalogue import ModelCatalogue
from inglenook.providers.tool_mode import tool_mode
from inglenook.run_context import RunContext
from inglenook.run_request import RunPermissions, RunRequest
from inglenook.tools.base import Tool
from inglenook.tools.egress import RecordedEgress
from inglenook.tools.registry import Dispatcher, ToolRegistry
from inglenook.tools.results import ReadResultTool

RESULT_SHARE = 4
"""A tool result may take this part of the window, so that several fit beside the question."""
MIN_RESULT_CHARS, MAX_RESULT_CHARS = 1_000, 60_000
WEB_IS_OFF = "web access is off; only the user can turn it on, for one run at a time."
WEB_IS_BLOCKED = "the operator blocks web search."
NO_ENGINE = "no search engine is configured ([web] engines)."


class Toolbox(Protocol):
    """Builds tools; the agent decides which of them a run gets."""

    def local_tools(self) -> Sequence[Tool]: ...

    def document_tools(self, retriever: Retriever) -> Sequence[Tool]: ...

    def web_tools(self) -> Sequence[Tool]:
        """Empty where the operator blocks them, or no search engine can be asked."""
        ...

    def delegate_tools(self) -> Sequence[Tool]: ...


@dataclass(frozen=True, kw_only=True)
class Scope:
    """What one run may use, opened."""

    registry: ToolRegistry
    absent: Mapping[str, str]
    retriever: Retriever | None
    permissions: RunPermissions

    @property
    def has_web(self) -> bool:
        """One of its tools may send something to another machine, by itself or through a child."""
        return any(spec.open_world or spec.needs_web for spec in self.registry.specs)

    def tools(self, state: RunState, approving: Approving) -> Dispatcher:
        """What the loop calls: where something may leave, every such call is judged first."""
        if any(spec.open_world for spec in self.registry.specs):
            return ApprovalGate(self.registry, state, approving)
        return self.registry


class Assistant:
    def __init__(
        self,
        *,
        models: ModelCatalogue,
        knowledge: Knowledge,
        toolbox: Toolbox,
        context: ContextPolicy,
        approving: Approving,
        tool_result_tokens: int | None = None,
        strategy: Strategy = ASSISTANT,
        instructions: Callable[[PromptParts], str] = system_prompt,
    ) -> None:
        """`tool_result_tokens`: of a result that is shown at once; None: a part of the window."""
        self._models = models
        self._knowledge = knowledge
        self._toolbox = toolbox
        self._context = context
        self._approving = approving
        self._tool_result_tokens = tool_result_tokens
        self._strategy = strategy
        self._instructions = instructions

    async def run(self, state: RunState, run: RunContext) -> str:
        assert state.started is not None
        offered = await self._models.get(state.started.model)
        egress = RecordedEgress(run=run, why="knowledge", permission="knowledge")
        scope = await self._open(run.permissions, run.credential, egress)
        if self._strategy.needs_web and (reason := scope.absent.get("web_search")):
            raise RunEnded("no_evidence", f"Nothing could be researched: {reason}")
        if state.prompt is None:
            posted = _posted_instructions(state.started.request)
            run.sink.emit(
                await self._prompt(scope, offered.spec, run.today, posted, run.limits.max_steps)
            )

        async def served_window() -> Window:
            egress = RecordedEgress(run=run, why="model", permission="model")
            return window_of(offered.spec, await self._models.abilities(offered, egress))

        def judge(reply: ModelReply) -> ModelReply:
            own = with_own_ids(reply, state.used_call_ids)
            return without_cut_call(own, scope.registry.has_effect)

        loop = AgentLoop(
            provider=offered.provider,
            context=self._context,
            tools=scope.tools(state, self._approving),
            guardrails=standard_guardrails(),
            served_window=served_window,
            judge=judge,
        )
        limits = replace(run.limits, max_result_chars=self._result_chars(state))
        ratio = state.window.ratio
        try:
            return await loop.run(state, replace(run, limits=limits, results=state.results))
        finally:
            if state.window.ratio != ratio:
                self._models.memory.learned(offered.spec, token_ratio=state.window.ratio)

    def _result_chars(self, state: RunState) -> int:
        """How much of a tool result is shown at once: by configuration, else by the window."""
        tokens = self._tool_result_tokens or (state.window.tokens or 0) // RESULT_SHARE
        if not tokens:
            return MAX_RESULT_CHARS
        return min(MAX_RESULT_CHARS, max(MIN_RESULT_CHARS, chars_for(tokens, state.window.ratio)))

    async def warm(self, model: str, permissions: RunPermissions, today: str) -> None:
        """Have the model's server read the fixed part of such a run, so that its cache holds it.

        Raises:
            ProviderError: The model cannot be reached.
        """
        offered = await self._models.get(model)
        scope = await self._open(permissions, None, None)
        prompt = await self._prompt(scope, offered.spec, today, [], 1)
        fixed = [
            Message(role="system", text=prompt.system),
            *prompt.examples,
            Message(role="user", text="Hello"),
        ]
        options = StreamOptions(max_output_tokens=1)
        async with aclosing(
            offered.provider.stream(fixed, scope.registry.schemas, options)
        ) as parts:
            async for _ in parts:
                pass

    async def _open(
        self, permissions: RunPermissions, credential: str | None, egress: Egress | None
    ) -> Scope:
        retriever = await self._retriever(permissions, credential, egress)
        tools = [*(self._toolbox.document_tools(retriever) if retriever else ())]
        tools += self._toolbox.local_tools()
        absent: dict[str, str] = {}
        if reason := self._why_no_web(permissions):
            absent["web_search"] = reason
        else:
            tools += self._toolbox.web_tools()
        if permissions.delegate:
            delegates = self._toolbox.delegate_tools()
            tools += [tool for tool in delegates if not (absent and tool.spec.needs_web)]
        allowed = [tool for tool in tools if may_hold(tool, permissions)]
        reader = ReadResultTool()
        if any(tool.spec.may_be_long for tool in allowed) and may_hold(reader, permissions):
            allowed.append(reader)
        return Scope(
            registry=ToolRegistry(allowed, absent),
            absent=absent,
            retriever=retriever,
            permissions=permissions,
        )

    async def _retriever(
        self, permissions: RunPermissions, credential: str | None, egress: Egress | None
    ) -> Retriever | None:
        """
        Raises:
            CredentialNeeded: The user's key is missing or did not open the scope. The run was
                allowed to start, so it waits for its owner to send one (again).
        """
        if not permissions.knowledge:
            return None
        try:
            return await self._knowledge.open(permissions.knowledge, credential, egress)
        except (InvalidRequest, ProviderBusy) as error:
            if credential is None:
                raise
            raise CredentialNeeded(str(error)) from error

    async def _prompt(
        self, scope: Scope, spec: ModelSpec, today: str, posted: Sequence[str], max_steps: int
    ) -> PromptBuilt:
        schemas = scope.registry.schemas
        documents, unnamed = await nameable(scope.retriever, has_web=scope.has_web)
        known = self._models.memory.of(spec)
        # an envelope's instructions hold an example; with these the demo model did 9 tasks of 10 in
        # place of 10, and read 170 tokens more
        is_native = tool_mode(spec, known) == "native"
        instructions = self._instructions(
            PromptParts(
                today=today,
                tools=schemas,
                absent=scope.absent,
                documents=documents,
                max_steps=max_steps,
            )
        )
        if unnamed and scope.registry.find("search_knowledge_base"):
            instructions += "\n\n" + about_unnamed(unnamed, scope.permissions.confidential)
        return PromptBuilt(
            system="\n\n".join([instructions, *posted]),
            examples=usable_examples(spec.examples, scope.registry) if is_native else (),
            tools=tuple(schema.name for schema in schemas),
            schemas=schemas,
            volatile=tuple(s.name for s in schemas if scope.registry.is_volatile(s.name)),
            ends_run=tuple(s.name for s in schemas if scope.registry.ends_run(s.name)),
            max_steps=max_steps,
            tells_budget=self._strategy.tells_budget,
            last_step_tools=self._strategy.last_step_tools,
            needs_sources=self._strategy.needs_sources,
            window=window_of(spec, ModelAbilities()).tokens,
            token_ratio=believed_ratio(known.token_ratio),
        )

    def _why_no_web(self, permissions: RunPermissions) -> str | None:
        has_tools = bool(self._toolbox.web_tools())
        if permissions.web:
            return None if has_tools else NO_ENGINE
        is_blocked = permissions.web_search == "block" and not has_tools
        return WEB_IS_BLOCKED if is_blocked else WEB_IS_OFF


def may_hold(tool: Tool, permissions: RunPermissions) -> bool:
    """The last word on a tool, whoever built it."""
    if (tool.spec.open_world or tool.spec.needs_web) and not permissions.web:
        return False
    if permissions.tools is not None and tool.spec.name not in permissions.tools:
        return False
    return tool.spec.effect == "read" or permissions.writes


def _posted_instructions(request: RunRequest) -> list[str]:
    """The caller's own system messages: models take one system message, so they join ours."""
    return [message.text for message in request.messages if message.role == "system"]


def usable_examples(examples: Sequence[Message], registry: ToolRegistry) -> tuple[Message, ...]:
    """The worked conversations that call nothing but tools of this run.

    A conversation starts at each user message.
    """
    tools = {schema.name for schema in registry.schemas}
    conversations: list[list[Message]] = []
    for message in examples:
        if message.role == "user":
            conversations.append([])
        conversations[-1].append(message)
    return tuple(
        message
        for conversation in conversations
        if all(call.name in tools for each in conversation for call in each.tool_calls)
        for message in conversation
    )
