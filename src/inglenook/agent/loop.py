"""AgentLoop: ask the model, run its tools, repeat until an answer passes every guardrail.

Start reading here. The loop is handed its parts and knows no transport, storage or HTTP. What it
does next depends on `RunState` alone, and every change is an event first: a killed run goes on
from its events exactly where it stood.
"""

from collections.abc import Sequence
from contextlib import aclosing

from inglenook.agent.guardrails import OutputGuardrail, repeated_call
from inglenook.agent.scheduler import plan_stages, run_stages
from inglenook.agent.state import RunState
from inglenook.agent.view_digest import ViewDigest, tools_digest
from inglenook.context.base import ContextPolicy
from inglenook.errors import ProviderError
from inglenook.events import (
    GuardrailObjected,
    ModelReplied,
    ModelRequested,
    StepStarted,
    ToolFinished,
)
from inglenook.messages import Message, ToolCall
from inglenook.providers.base import ModelProvider, ModelReply, StreamOptions
from inglenook.run_context import RunContext
from inglenook.tools.registry import Dispatcher

OUTCOME_UNKNOWN = (
    "The process ended while this call ran, so its outcome is unknown: it may have happened, in "
    "part or in whole. Look at the present state before you repeat it."
)
ANSWERED_TOO_EARLY = (
    "This answer was not taken as final: it came together with other calls, before their results "
    "were seen. Look at them, then give your final answer as the only call of a reply."
)


class AgentLoop:
    def __init__(
        self,
        *,
        provider: ModelProvider,
        context: ContextPolicy,
        tools: Dispatcher,
        guardrails: Sequence[OutputGuardrail],
        window: int | None = None,
    ) -> None:
        self._provider = provider
        self._context = context
        self._tools = tools
        self._guardrails = guardrails
        self._window = window
        self._tools_digest = tools_digest(tools.schemas)
        self._view_digest = ViewDigest()

    async def run(self, state: RunState, run: RunContext) -> str:
        """Work on from `state` to an accepted answer (the contract is `Agent.run`'s)."""
        while True:
            if calls := state.unanswered_calls():
                await self._run_tools(calls, state, run)
            elif not state.awaiting_review:
                await self._ask_model(state, run)
            elif objection := self._review(state):
                run.sink.emit(objection)
            else:
                return state.last_text

    async def _ask_model(self, state: RunState, run: RunContext) -> None:
        if not state.step_is_open:
            run.limits.check_step(state.steps)
            remaining = run.limits.max_steps - state.steps - 1
            run.sink.emit(StepStarted(step=state.steps + 1, remaining=remaining))
        view = self._context.view(state.messages)
        run.sink.emit(
            ModelRequested(
                step=state.steps,
                ordinal=state.ordinal,
                view_digest=self._view_digest.of(view),
                tools_digest=self._tools_digest,
                window=self._window,
            )
        )
        told = run.sink.settle()  # the commit overlaps the model's work
        reply = await self._stream(view, run)
        await told  # nothing follows from a reply before all it rests on is stored
        run.sink.emit(
            ModelReplied(
                step=state.steps,
                ordinal=state.ordinal,
                message=reply.message.with_reasoning(None),
                reasoning=reply.message.reasoning,
                usage=reply.usage,
                finish_reason=reply.finish_reason,
                recovered_from=reply.recovered_from,
                tool_mode=reply.tool_mode,
                repairs=reply.repairs,
                malformed_call=reply.malformed_call,
            )
        )

    async def _stream(self, view: Sequence[Message], run: RunContext) -> ModelReply:
        options = StreamOptions(max_output_tokens=run.limits.max_output_tokens)
        async with aclosing(self._provider.stream(view, self._tools.schemas, options)) as parts:
            async for part in parts:
                if isinstance(part, ModelReply):
                    return part
                run.sink.publish(part)
        raise ProviderError("the model's stream ended without a reply")

    async def _run_tools(self, calls: Sequence[ToolCall], state: RunState, run: RunContext) -> None:
        # Judged before any of them runs: what a call may do must not depend on which of its
        # neighbours ended first, or a replay would judge differently.
        known = {call.id: self._known_outcome(call, state) for call in calls}

        async def dispatch(call: ToolCall) -> None:
            if answer := known[call.id]:
                run.sink.emit(answer)
            else:
                await self._tools.dispatch(call, run)

        await run_stages(plan_stages(calls, self._tools.effect_of), dispatch)

    def _known_outcome(self, call: ToolCall, state: RunState) -> ToolFinished | None:
        """The result of a call that must not run: a killed write, an answer given beside other
        calls, or one repeated too often."""
        started = state.was_started(call)
        if started is not None and started.effect == "write":
            return ToolFinished(call=call, result=OUTCOME_UNKNOWN, is_error=True)
        if state.is_early_answer(call):
            return ToolFinished(call=call, result=ANSWERED_TOO_EARLY, is_error=True)
        if self._tools.is_volatile(call.name):
            return None
        return repeated_call(call, state.repeats)

    def _review(self, state: RunState) -> GuardrailObjected | None:
        for guardrail in self._guardrails:
            if text := guardrail.review(state):
                return GuardrailObjected(guardrail=guardrail.name, text=text)
        return None
