"""The body of `/v1/chat/completions`, as clients of OpenAI and as Open WebUI send it.

Unknown parameters are ignored, as those clients expect; what grants a permission is strict.
Source: https://platform.openai.com/docs/api-reference/chat/create
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field

from inglenook.api.bodies import Permission
from inglenook.errors import InvalidRequest
from inglenook.messages import Message, Role, ToolCall
from inglenook.run_request import RequestLimits, RunRequest

ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}


class Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class CalledFunction(Lenient):
    name: str
    arguments: str = "{}"
    """A JSON object as text."""


class CalledTool(Lenient):
    id: str
    function: CalledFunction


class ContentPart(Lenient):
    type: str
    text: str = ""


class OpenAIMessage(Lenient):
    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | tuple[ContentPart, ...] | None = None
    tool_calls: tuple[CalledTool, ...] | None = None
    tool_call_id: str | None = None


class StreamSettings(Lenient):
    include_usage: bool = False


class RuntimeSettings(Lenient):
    """What OpenAI's format has no word for: the run's scope and permissions."""

    knowledge: tuple[str, ...] = ()
    web: Permission = False
    workspace: Permission = False
    strategy: str = "assistant"
    chat_id: str | None = Field(default=None, max_length=200)


class ChatBody(Lenient):
    model: str = Field(min_length=1, max_length=200)
    messages: tuple[OpenAIMessage, ...] = Field(min_length=1)
    stream: bool | None = False
    stream_options: StreamSettings | None = None
    max_tokens: int | None = Field(default=None, ge=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)
    runtime: RuntimeSettings = RuntimeSettings()

    def request(self) -> RunRequest:
        """
        Raises:
            InvalidRequest: A message holds something else than text.
        """
        return RunRequest(
            model=self.model,
            messages=_history(self.messages),
            strategy=self.runtime.strategy,
            knowledge=self.runtime.knowledge,
            web=self.runtime.web,
            workspace=self.runtime.workspace,
            limits=RequestLimits(output_tokens=self.max_completion_tokens or self.max_tokens),
            session=self.runtime.chat_id,
        )


def _history(messages: Sequence[OpenAIMessage]) -> tuple[Message, ...]:
    names: dict[str, str] = {}
    history: list[Message] = []
    for n, message in enumerate(messages):
        calls = tuple(_call(call) for call in message.tool_calls or ())
        names |= {call.id: call.name for call in calls}
        call_id = message.tool_call_id if message.role == "tool" else None
        history.append(
            Message(
                role=ROLES[message.role],
                text=_text(message.content, n),
                tool_calls=calls if message.role == "assistant" else (),
                call_id=call_id,
                tool_name=names.get(call_id) if call_id else None,
            )
        )
    return tuple(history)


def _text(content: str | tuple[ContentPart, ...] | None, n: int) -> str:
    if not isinstance(content, tuple):
        return content or ""
    for part in content:
        if part.type != "text":
            raise InvalidRequest(
                f"messages.{n}.content holds {part.type!r:.40}; this version reads text only",
                field=f"messages.{n}.content",
                status=422,
            )
    return "".join(part.text for part in content)


def _call(call: CalledTool) -> ToolCall:
    try:
        arguments: Any = json.loads(call.function.arguments or "{}")
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        arguments = {"unreadable": call.function.arguments}
    return ToolCall(
        id=call.id, name=call.function.name, arguments=cast(dict[str, object], arguments)
    )
