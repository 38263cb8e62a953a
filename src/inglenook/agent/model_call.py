"""One model call as the log has it: what was asked, what came back."""

from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from inglenook.agent.state import RunState
from inglenook.agent.views import tools_digest
from inglenook.agent.window_state import LOOP
from inglenook.egress import Egress
from inglenook.errors import ProviderError
from inglenook.events import ModelReplied, ModelRequested
from inglenook.messages import Message, ToolSchema
from inglenook.providers.base import ModelProvider, ModelReply, StreamOptions
from inglenook.run_context import RunContext
from inglenook.tools.egress import RecordedEgress

NO_TOOLS_DIGEST = tools_digest(())
Judge = Callable[[ModelReply], ModelReply]
"""What of a reply the run may use."""


@dataclass(frozen=True, kw_only=True)
class ModelRequest:
    view: Sequence[Message]
    view_digest: str
    window: int | None
    """Context tokens to ask for."""
    estimated_tokens: int
    """What `view` and the tools take."""
    tools_tokens: int = 0
    """The tools' share of it."""
    doubt: float = 1.0
    """Under 1: the server has just counted so much less that it may have dropped a part; if it
    does so again with a shorter prompt, it is the estimate that is wrong."""


class ModelCaller:
    def __init__(
        self, provider: ModelProvider, schemas: Sequence[ToolSchema], judge: Judge
    ) -> None:
        self._provider = provider
        self._schemas = schemas
        self._judge = judge
        self._tools_digest = tools_digest(schemas)
        self._egress: Egress | None = None

    async def ask(self, request: ModelRequest, state: RunState, run: RunContext) -> None:
        """The loop's own call: its reply is the run's next message, or a rejected one."""
        schemas = state.offered(self._schemas)
        digest = self._tools_digest if schemas is self._schemas else tools_digest(schemas)
        run.sink.emit(_requested(request, state, LOOP, digest))
        told = run.sink.settle()  # the commit overlaps the model's work
        reply = await self._stream(request, schemas, run, is_live=True)
        await told  # nothing follows from a reply before all it rests on is stored
        run.sink.emit(_replied(self._judge(reply), state, LOOP))

    async def ask_aside(
        self, request: ModelRequest, state: RunState, run: RunContext, *, purpose: str
    ) -> None:
        """A call beside the conversation, without tools; a failed one is recorded as such."""
        run.sink.emit(_requested(request, state, purpose, NO_TOOLS_DIGEST))
        await run.sink.settle()
        try:
            reply = await self._stream(request, (), run, is_live=False)
        except ProviderError as error:
            reply = ModelReply(
                message=Message(role="assistant"), rejected="failed", repairs=(str(error),)
            )
        run.sink.emit(_replied(reply, state, purpose))

    async def _stream(
        self,
        request: ModelRequest,
        schemas: Sequence[ToolSchema],
        run: RunContext,
        *,
        is_live: bool,
    ) -> ModelReply:
        if self._egress is None:  # made once: a run's calls are many
            self._egress = RecordedEgress(run=run, why="model", permission="model")
        options = StreamOptions(
            max_output_tokens=run.limits.max_output_tokens,
            window=request.window,
            estimated_tokens=round(request.estimated_tokens * request.doubt),
            tools_tokens=round(request.tools_tokens * request.doubt),
            egress=self._egress,
        )
        async with aclosing(self._provider.stream(request.view, schemas, options)) as parts:
            async for part in parts:
                if isinstance(part, ModelReply):
                    return part
                if is_live:
                    run.sink.publish(part)
        raise ProviderError("the model's stream ended without a reply")


def _requested(
    request: ModelRequest, state: RunState, purpose: str, tools_digest: str
) -> ModelRequested:
    return ModelRequested(
        step=state.steps,
        purpose=purpose,
        ordinal=state.ordinal,
        view_digest=request.view_digest,
        tools_digest=tools_digest,
        window=request.window,
        estimated_tokens=request.estimated_tokens,
    )


def _replied(reply: ModelReply, state: RunState, purpose: str) -> ModelReplied:
    return ModelReplied(
        step=state.steps,
        purpose=purpose,
        ordinal=state.ordinal,
        message=reply.message.with_reasoning(None),
        reasoning=reply.message.reasoning,
        usage=reply.usage,
        finish_reason=reply.finish_reason,
        recovered_from=reply.recovered_from,
        tool_mode=reply.tool_mode,
        repairs=reply.repairs,
        malformed_call=reply.malformed_call,
        rejected=reply.rejected,
        window=reply.window,
    )


def reply_of(event: ModelReplied) -> ModelReply:
    """The reply as it came, out of the log: the inverse of what `ModelCaller` records."""
    return ModelReply(
        message=event.message.with_reasoning(event.reasoning),
        usage=event.usage,
        finish_reason=event.finish_reason,
        recovered_from=event.recovered_from,
        tool_mode=event.tool_mode,
        repairs=event.repairs,
        malformed_call=event.malformed_call,
        rejected=event.rejected,
        window=event.window,
    )
