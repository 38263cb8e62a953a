"""Request bodies of our own faces. Unknown fields are errors; the OpenAI face has its own."""

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    ValidationInfo,
    field_validator,
)
from pydantic_core import PydanticCustomError

from inglenook.api.errors import OWN_WORDS
from inglenook.knowledge.base import Label
from inglenook.messages import Message
from inglenook.run_request import ApprovalMode, ApprovalTopic, RequestLimits, RunRequest
from inglenook.runs.approval_inbox import Verdict

AGENT_RUN_STEPS = 6
AGENT_RUN_TOOLS = (
    "search_knowledge_base",
    "read_document",
    "get_current_datetime",
    "calculate",
    "web_search",
)


def json_boolean(value: object, info: ValidationInfo) -> object:
    """Permissions are never guessed from something that looks like yes."""
    if not isinstance(value, bool):
        name = _ALIASES.get(info.field_name or "", info.field_name)
        raise PydanticCustomError(OWN_WORDS, "{name} must be a JSON boolean", {"name": name})
    return value


_ALIASES = {"allow_web": "allowWeb"}
Permission = Annotated[bool, BeforeValidator(json_boolean)]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ChatMessage(Body):
    role: Literal["system", "user", "assistant"]
    content: str

    def message(self) -> Message:
        return Message(role=self.role, text=self.content)


class Conversation(Body):
    messages: tuple[ChatMessage, ...] = Field(min_length=1)

    @field_validator("messages")
    @classmethod
    def _has_a_question(cls, messages: tuple[ChatMessage, ...]) -> tuple[ChatMessage, ...]:
        if not any(message.role == "user" for message in messages):
            raise PydanticCustomError(OWN_WORDS, "messages holds no message of role 'user'")
        return messages

    def history(self) -> tuple[Message, ...]:
        return tuple(message.message() for message in self.messages)


class RunBody(Conversation):
    """`POST /api/runs`"""

    model: str = Field(min_length=1, max_length=200)
    strategy: str = "assistant"
    knowledge: tuple[str, ...] = ()
    """Ids of knowledge bases."""
    web: Permission = False
    workspace: Permission = False
    artifact: StrictBool | None = None
    approvals: dict[ApprovalTopic, ApprovalMode] = {}
    limits: RequestLimits = RequestLimits()
    session: str | None = Field(default=None, max_length=200)
    metadata: dict[str, Any] = {}

    def request(self) -> RunRequest:
        return RunRequest(
            model=self.model,
            messages=self.history(),
            strategy=self.strategy,
            knowledge=self.knowledge,
            web=self.web,
            workspace=self.workspace,
            artifact=self.artifact,
            approvals=self.approvals,
            limits=self.limits,
            session=self.session,
            metadata=self.metadata,
        )


class AgentRunBody(Conversation):
    """`POST /agent/run`: at most 6 steps, five tools and no others."""

    model: str = Field(min_length=1, max_length=200)
    knowledge: tuple[str, ...] = Field(default=(), alias="kbIds")
    allow_web: Permission = Field(default=False, alias="allowWeb")

    def request(self) -> RunRequest:
        return RunRequest(
            model=self.model,
            messages=self.history(),
            knowledge=self.knowledge,
            web=self.allow_web,
            limits=RequestLimits(steps=AGENT_RUN_STEPS),
            tools=AGENT_RUN_TOOLS,
        )


class CredentialBody(Body):
    credential: str = Field(min_length=1, max_length=10_000, repr=False)


class DecisionBody(Body):
    """`POST /api/runs/{id}/approvals/{call_id}`"""

    decision: Verdict
    arguments: dict[str, Any] | None = None
    """Of `edit`: all of them, as the call then has them."""


class PreviewBody(Body):
    arguments: dict[str, Any]


class KnowledgeBody(Body):
    name: str = Field(min_length=1, max_length=200)
    label: Label = "normal"
