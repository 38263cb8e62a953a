"""What a caller asks for, and what a run may therefore do.

`RunRequest` is the body of `POST /api/runs` (API section 4) and is stored in `run_started`.
`RunPermissions` is the frozen result that every tool, child and resumed run is held to.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt

from inglenook.messages import Message

ApprovalMode = Literal["allow", "ask", "block"]
ApprovalTopic = Literal["web_search", "write", "confidential"]
STRICTNESS: tuple[ApprovalMode, ...] = ("allow", "ask", "block")


def strictest(*modes: ApprovalMode) -> ApprovalMode:
    return max(modes, key=STRICTNESS.index)


class RequestLimits(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    steps: StrictInt | None = Field(default=None, ge=1, le=1000)
    seconds: StrictFloat | None = Field(default=None, gt=0, le=86_400)
    output_tokens: StrictInt | None = Field(default=None, ge=1, le=1_000_000)


class RunRequest(BaseModel):
    """Frozen and complete: a run can be resumed from its stored request alone."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = Field(min_length=1, max_length=200)
    messages: tuple[Message, ...] = Field(min_length=1)
    strategy: str = "assistant"
    knowledge: tuple[str, ...] = ()
    """Knowledge-base ids: the whole scope of the run's document tools."""
    web: StrictBool = False
    workspace: StrictBool = False
    artifact: StrictBool | None = None
    approvals: dict[ApprovalTopic, ApprovalMode] = {}
    limits: RequestLimits = RequestLimits()
    session: str | None = Field(default=None, max_length=200)
    user: str | None = None
    metadata: dict[str, Any] = {}
    tools: tuple[str, ...] | None = None
    """Names of the tools that may exist in the run; None: all that its permissions allow."""


@dataclass(frozen=True, kw_only=True)
class RunPermissions:
    """The ceiling of one run; it never grows.

    `web` is on only for exactly `True`: a truthy string or number leaves it off.
    """

    knowledge: tuple[str, ...] = ()
    web: bool = False
    workspace: bool = False
    delegate: bool = True
    writes: bool = True
    """Tools with effect `write` may exist in this run."""
    tools: tuple[str, ...] | None = None
    """The only tools that may exist in this run; None: no such bound."""
    web_search: ApprovalMode = "allow"
    """`ask`: a person sees each search query before it leaves."""
    confidential: ApprovalMode = "ask"
    """What becomes of whatever would leave this machine once the run is private."""

    def __post_init__(self) -> None:
        for name in ("web", "workspace", "delegate", "writes"):
            object.__setattr__(self, name, getattr(self, name) is True)

    def of_child(self) -> "RunPermissions":
        """What a child run holds: the same, without tools that write and without delegation."""
        return replace(self, writes=False, delegate=False)


@dataclass(frozen=True, kw_only=True)
class ApprovalRules:
    """What the operator wants a person to see before it leaves, and what may not leave at all."""

    web_search: ApprovalMode = "allow"
    confidential: ApprovalMode = "ask"


def permissions_of(request: RunRequest, rules: ApprovalRules) -> RunPermissions:
    """The stricter of what the operator and the request say: a request cannot loosen anything."""
    asked = request.approvals
    web_search = strictest(rules.web_search, asked.get("web_search", "allow"))
    return RunPermissions(
        knowledge=request.knowledge,
        web=request.web is True and web_search != "block",
        workspace=request.workspace,
        writes=asked.get("write") != "block",
        tools=request.tools,
        web_search=web_search,
        confidential=strictest(rules.confidential, asked.get("confidential", "allow")),
    )
