"""Assistant: the default agent. Opens what the run may use, fixes the prompt, starts the loop.

The one place where permissions become tools: what a run may not use is never built for it.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from inglenook.agent.guardrails import EmptyReplyGuardrail
from inglenook.agent.loop import AgentLoop
from inglenook.agent.state import RunState
from inglenook.agent.strategies import system_prompt
from inglenook.context.base import ContextPolicy
from inglenook.events import PromptBuilt
from inglenook.knowledge.base import Knowledge, Retriever
from inglenook.messages import Message
from inglenook.providers.catalogue import ModelCatalogue
from inglenook.run_context import RunContext
from inglenook.run_request import RunPermissions, RunRequest
from inglenook.tools.base import Tool
from inglenook.tools.registry import ToolRegistry

WEB_IS_OFF = "web access is off; only the user can turn it on, for one run at a time."
WEB_IS_BLOCKED = "the operator blocks web search."
WEB_AND_CONFIDENTIAL = (
    "a confidential knowledge base is in scope, and nothing of it may leave this machine."
)


class Toolbox(Protocol):
    """Builds tools; the agent decides which of them a run gets."""

    def local_tools(self) -> Sequence[Tool]: ...

    def document_tools(self, retriever: Retriever) -> Sequence[Tool]: ...

    def web_tools(self) -> Sequence[Tool]:
        """Empty where the operator blocks them."""
        ...

    def delegate_tools(self) -> Sequence[Tool]: ...


class Assistant:
    def __init__(
        self,
        *,
        models: ModelCatalogue,
        knowledge: Knowledge,
        toolbox: Toolbox,
        context: ContextPolicy,
    ) -> None:
        self._models = models
        self._knowledge = knowledge
        self._toolbox = toolbox
        self._context = context

    async def run(self, state: RunState, run: RunContext) -> str:
        assert state.started is not None
        offered = await self._models.get(state.started.model)
        retriever = await self._open_scope(run)
        registry, absent = await self._tools(retriever, run)
        if state.prompt is None:
            documents = await retriever.documents() if retriever else None
            instructions = system_prompt(
                today=run.today, tools=registry.schemas, absent=absent, documents=documents
            )
            run.sink.emit(
                PromptBuilt(
                    system="\n\n".join(
                        [instructions, *_posted_instructions(state.started.request)]
                    ),
                    examples=usable_examples(offered.spec.examples, registry),
                    tools=tuple(schema.name for schema in registry.schemas),
                    schemas=registry.schemas,
                    volatile=tuple(
                        schema.name
                        for schema in registry.schemas
                        if registry.is_volatile(schema.name)
                    ),
                    max_steps=run.limits.max_steps,
                )
            )
        loop = AgentLoop(
            provider=offered.provider,
            context=self._context,
            tools=registry,
            guardrails=[EmptyReplyGuardrail()],
            window=offered.spec.context_tokens,
        )
        return await loop.run(state, run)

    async def _open_scope(self, run: RunContext) -> Retriever | None:
        if not run.permissions.knowledge:
            return None
        return await self._knowledge.open(run.permissions.knowledge, run.credential)

    async def _tools(
        self, retriever: Retriever | None, run: RunContext
    ) -> tuple[ToolRegistry, Mapping[str, str]]:
        tools = [*(self._toolbox.document_tools(retriever) if retriever else ())]
        tools += self._toolbox.local_tools()
        absent: dict[str, str] = {}
        if reason := await self._why_no_web(run):
            absent["web_search"] = reason
        else:
            tools += self._toolbox.web_tools()
        if run.permissions.delegate:
            tools += self._toolbox.delegate_tools()
        allowed = [tool for tool in tools if may_hold(tool, run.permissions)]
        return ToolRegistry(allowed, absent), absent

    async def _why_no_web(self, run: RunContext) -> str | None:
        if not run.permissions.web:
            return WEB_IS_OFF
        if not self._toolbox.web_tools():
            return WEB_IS_BLOCKED
        if run.permissions.knowledge:
            bases = await self._knowledge.list(run.credential)
            scope = set(run.permissions.knowledge)
            if any(base.label == "confidential" for base in bases if base.id in scope):
                return WEB_AND_CONFIDENTIAL
        return None


def may_hold(tool: Tool, permissions: RunPermissions) -> bool:
    """The last word on a tool, whoever built it."""
    if tool.spec.open_world and not permissions.web:
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
