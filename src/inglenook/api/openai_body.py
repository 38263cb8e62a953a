"""The body of `/v1/chat/completions`, as clients of OpenAI and as Open WebUI send it.

Unknown parameters are ignored, as those clients expect; what grants a permission is strict. A
history is taken as it comes, also with ids and names missing: `context/cleanup.py` mends it.
Source: https://platform.openai.com/docs/api-reference/chat/create
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from inglenook.agent.strategies import RESEARCH
from inglenook.api.bodies import Permission
from inglenook.errors import InvalidRequest
from inglenook.messages import Message, Role, ToolCall
from inglenook.providers.calls import kept_arguments
from inglenook.run_request import RequestLimits, RunRequest

ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
RESEARCH_SUFFIX = ":research"
"""Behind a model's id: the model, as a research agent. Choosing it allows the web for the run."""
TEXT_PARTS = ("text", "input_text", "output_text")


class Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class CalledFunction(Lenient):
    name: str | None = None
    arguments: Any = None
    """A JSON object as text; some clients send the object."""


class CalledTool(Lenient):
    id: str | None = None
    function: CalledFunction = CalledFunction()


class ContentPart(Lenient):
    type: str = "text"
    text: str | None = None
    refusal: str | None = None


class OpenAIMessage(Lenient):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | tuple[ContentPart | str, ...] | None = None
    tool_calls: tuple[CalledTool, ...] | None = None
    tool_call_id: str | None = None
    name: str | None = None
    function_call: CalledFunction | None = None
    """What `tool_calls` was called first; its result has the role `function` and no id."""


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
            InvalidRequest: A message of the user holds something else than text, or `runtime`
                forbids what the model's id asks for.
        """
        is_research = self.model.endswith(RESEARCH_SUFFIX) and not self._is_housekeeping()
        if is_research:
            self._check_research()
        return RunRequest(
            model=self.model.removesuffix(RESEARCH_SUFFIX),
            messages=_history(self.messages),
            strategy=RESEARCH.name if is_research else self.runtime.strategy,
            knowledge=self.runtime.knowledge,
            web=is_research or self.runtime.web,
            workspace=self.runtime.workspace,
            limits=RequestLimits(output_tokens=self.max_completion_tokens or self.max_tokens),
            session=self.runtime.chat_id,
        )

    def _is_housekeeping(self) -> bool:
        """A chat client asks for a title or for tags, which its user did not ask to be researched.

        Shape: one message of the user that begins with `### Task:`, as Open WebUI 0.12 sends it.
        """
        asked = [message for message in self.messages if ROLES[message.role] != "system"]
        return len(asked) == 1 and _text(asked[0], 0).lstrip().startswith("### Task:")

    def _check_research(self) -> None:
        """
        Raises:
            InvalidRequest: The body says otherwise in so many words, which counts for more.
        """
        said = self.runtime.model_fields_set
        plain = self.model.removesuffix(RESEARCH_SUFFIX)
        if "web" in said and not self.runtime.web:
            raise InvalidRequest(
                f"model {self.model!r} researches the web, and runtime.web is false",
                field="runtime.web",
                hint=f"leave runtime.web out to allow the web, or choose model {plain!r}",
                status=422,
            )
        if "strategy" in said and self.runtime.strategy != RESEARCH.name:
            raise InvalidRequest(
                f"model {self.model!r} works by the strategy 'research', and runtime.strategy is "
                f"{self.runtime.strategy!r}",
                field="runtime.strategy",
                hint=f"leave runtime.strategy out, or choose model {plain!r}",
                status=422,
            )


def _history(messages: Sequence[OpenAIMessage]) -> tuple[Message, ...]:
    names: dict[str, str] = {}
    history: list[Message] = []
    for n, message in enumerate(messages):
        role = ROLES[message.role]
        calls = _calls(message) if role == "assistant" else ()
        names |= {call.id: call.name for call in calls if call.id}
        call_id = message.tool_call_id if role == "tool" else None
        history.append(
            Message(
                role=role,
                text=_text(message, n),
                tool_calls=calls,
                call_id=call_id,
                tool_name=names.get(call_id or "", message.name) if role == "tool" else None,
            )
        )
    return tuple(history)


def _text(message: OpenAIMessage, n: int) -> str:
    if not isinstance(message.content, tuple):
        return message.content or ""
    texts: list[str] = []
    for part in message.content:
        if isinstance(part, str):
            texts.append(part)
        elif part.type in TEXT_PARTS or part.refusal is not None:
            texts.append(part.text or part.refusal or "")
        elif message.role not in ("assistant", "tool", "function"):  # theirs may be left out
            raise InvalidRequest(
                f"messages.{n}.content holds {part.type!r:.40}; this version reads text only",
                field=f"messages.{n}.content",
                status=422,
            )
    return "".join(texts)


def _calls(message: OpenAIMessage) -> tuple[ToolCall, ...]:
    posted = [(call.id, call.function) for call in message.tool_calls or ()]
    if message.function_call is not None:
        posted.append((None, message.function_call))
    return tuple(
        ToolCall(
            id=id or "",
            name=function.name or "",
            arguments=kept_arguments(function.arguments),
        )
        for id, function in posted
    )
