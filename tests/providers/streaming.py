"""What the provider tests share: tools, a conversation, and a stream read to its end."""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass

from inglenook.events import ReasoningDelta, TextDelta
from inglenook.messages import Message, ToolCall, ToolSchema
from inglenook.providers.base import ModelProvider, ModelReply, ModelSpec, StreamOptions

CALCULATE = ToolSchema(
    name="calculate",
    description="Work out an arithmetic expression.",
    parameters={
        "type": "object",
        "properties": {"expression": {"type": "string"}},
        "required": ["expression"],
    },
)
CLOCK = ToolSchema(
    name="get_current_datetime",
    description="The local date and time.",
    parameters={"type": "object", "properties": {}},
)
SEARCH = ToolSchema(
    name="search_knowledge_base",
    description="Search the documents.",
    parameters={
        "type": "object",
        "properties": {"query": {"type": "string"}, "k": {"type": "integer"}},
        "required": ["query"],
    },
)
TOOLS = (CALCULATE, CLOCK, SEARCH)
QUESTION = (Message(role="system", text="Be brief."), Message(role="user", text="2+2?"))


@dataclass(frozen=True, kw_only=True)
class Streamed:
    deltas: list[TextDelta]
    reply: ModelReply

    @property
    def text(self) -> str:
        return "".join(d.text for d in self.deltas if not isinstance(d, ReasoningDelta))

    @property
    def reasoning(self) -> str:
        return "".join(d.text for d in self.deltas if isinstance(d, ReasoningDelta))

    @property
    def calls(self) -> list[tuple[str, dict[str, object]]]:
        return [(call.name, dict(call.arguments)) for call in self.reply.message.tool_calls]


async def streamed(
    provider: ModelProvider,
    messages: Sequence[Message] = QUESTION,
    tools: Sequence[ToolSchema] = TOOLS,
    options: StreamOptions | None = None,
) -> Streamed:
    deltas: list[TextDelta] = []
    replies: list[ModelReply] = []
    async with aclosing(provider.stream(messages, tools, options or StreamOptions())) as parts:
        async for part in parts:
            if isinstance(part, ModelReply):
                replies.append(part)
            else:
                assert not replies, "a delta came after the reply"
                deltas.append(part)
    assert len(replies) == 1
    return Streamed(deltas=deltas, reply=replies[0])


def ollama_spec(url: str, **changes: object) -> ModelSpec:
    return ModelSpec(**{"id": "m", "provider": "ollama", "model": "m", "base_url": url} | changes)  # pyright: ignore[reportArgumentType]


def openai_spec(url: str, **changes: object) -> ModelSpec:
    return ModelSpec(**{"id": "m", "provider": "openai", "model": "m", "base_url": url} | changes)  # pyright: ignore[reportArgumentType]


def call_history(**assistant: object) -> tuple[Message, ...]:
    """A conversation in which one `calculate` call was made and answered."""
    call = ToolCall(id="call_1", name="calculate", arguments={"expression": "2+2"})
    asked = Message(**{"role": "assistant", "tool_calls": (call,)} | assistant)  # pyright: ignore[reportArgumentType]
    result = Message(role="tool", text="4", call_id="call_1", tool_name="calculate")
    return (*QUESTION, asked, result)
