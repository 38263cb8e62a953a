"""AgentLoop: ask the model, run its tools, repeat until an answer passes every guardrail.

Start reading here. The loop is handed its parts and knows no transport, storage or HTTP. What it
does next depends on `RunState` alone, and every change is an event first: a killed run goes on
from its events exactly where it stood.
"""

from collections.abc import Sequence

from inglenook.agent.context_window import ContextWindow, ServedWindow
from inglenook.agent.guardrails import OutputGuardrail, repeated_call
from inglenook.agent.model_call import Judge, ModelCaller
from inglenook.agent.scheduler import plan_stages, run_stages
from inglenook.agent.state import RunState
from inglenook.context.base import ContextPolicy
from inglenook.errors import ApprovalNeeded, Reason, RunEnded
from inglenook.events import GuardrailObjected, StepStarted, ToolFinished
from inglenook.messages import ToolCall
from inglenook.providers.base import ModelProvider
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
TOO_LATE = (
    "This call was not run: it came in the run's last step, which takes the final answer alone."
)
ENDED_WITHOUT_ANSWER: frozenset[Reason] = frozenset(
    {"step_limit", "repetition", "empty_model_reply"}
)
"""The model went on until it was stopped; there is time and room to ask it for its answer."""


class AgentLoop:
    def __init__(
        self,
        *,
        provider: ModelProvider,
        context: ContextPolicy,
        tools: Dispatcher,
        guardrails: Sequence[OutputGuardrail],
        served_window: ServedWindow,
        judge: Judge = lambda reply: reply,
    ) -> None:
        self._tools = tools
        self._guardrails = guardrails
        self._caller = ModelCaller(provider, tools.schemas, judge)
        self._window = ContextWindow(
            context=context,
            caller=self._caller,
            schemas=tools.schemas,
            served_window=served_window,
        )

    async def run(self, state: RunState, run: RunContext) -> str:
        """Work on from `state` to an accepted answer (the contract is `Agent.run`'s)."""
        while True:
            try:
                return await self._work(state, run)
            except RunEnded as ended:
                if ended.reason not in ENDED_WITHOUT_ANSWER or not state.owes_answer:
                    raise
                await self._window.conclude(state, run)
                if not state.awaiting_review:
                    raise

    async def _work(self, state: RunState, run: RunContext) -> str:
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
        request = await self._window.fitted(state, run)
        await self._caller.ask(request, state, run)

    async def _run_tools(self, calls: Sequence[ToolCall], state: RunState, run: RunContext) -> None:
        # Judged before any of them runs: what a call may do must not depend on which of its
        # neighbours ended first, or a replay would judge differently.
        known = {call.id: self._known_outcome(call, state) for call in calls}

        async def dispatch(call: ToolCall) -> ApprovalNeeded | None:
            if answer := known[call.id]:
                run.sink.emit(answer)
                return None
            try:
                await self._tools.dispatch(call, run)
            except ApprovalNeeded as needed:  # its neighbours go on to their ends
                return needed
            return None

        await run_stages(plan_stages(calls, self._tools.effect_of), dispatch)

    def _known_outcome(self, call: ToolCall, state: RunState) -> ToolFinished | None:
        """The result of a call that must not run: a killed write, an answer given beside other
        calls, or one repeated too often."""
        started = state.was_started(call)
        if started is not None and started.effect == "write":
            return ToolFinished(call=call, result=OUTCOME_UNKNOWN, is_error=True)
        if state.is_too_late(call):
            return ToolFinished(call=call, result=TOO_LATE, is_error=True, blocked=True)
        if state.is_early_answer(call):
            return ToolFinished(call=call, result=ANSWERED_TOO_EARLY, is_error=True)
        is_volatile = self._tools.is_volatile(call.name)
        return repeated_call(call, state.repeats, is_volatile=is_volatile)

    def _review(self, state: RunState) -> GuardrailObjected | None:
        for guardrail in self._guardrails:
            if text := guardrail.review(state):
                return GuardrailObjected(guardrail=guardrail.name, text=text)
        return None
