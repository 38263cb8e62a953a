"""Exceptions raised by the runtime, and what each means for the caller.

RuntimeFault
├── ConfigError          settings are wrong; raised at start only
├── InvalidRequest       the caller's input is wrong; names the field, the value and the limit
│   └── NotFound         no such run, knowledge base, document or model (for this user)
├── Conflict             the thing is in another state than the caller believed
├── StoreError           the home's database cannot be read or written now
│   └── LeaseLost        another process took the run over; this one must stop
├── ToolError            a tool failed in a way the model should read
│   └── Refused          this machine does not let the request leave
│       └── NotApproved  a request is not the one that a person approved; it was not sent
├── ProviderError        the model provider failed
│   ├── ProviderBusy     worth retrying: connection lost, rate limit, timeout, 5xx
│   ├── ModelMissing     the server answers, the model is not there
│   ├── ToolsUnsupported the model's template takes no tools
│   ├── SystemRefused    the model's template does not take a system message where one stands
│   └── ContextTooLong   the request exceeds the model's context window
├── CredentialNeeded     the run needs a key that nobody stored; its owner must send it again
├── ApprovalNeeded       a call waits for a person's decision; the run waits with it
├── ReplayMismatch       a replay differs from what was recorded
└── RunEnded             stops the run on purpose, with its typed reason
"""

import re
from typing import Literal

Reason = Literal[
    "step_limit",
    "time_limit",
    "repetition",
    "empty_model_reply",
    "unverified_artifact",
    "no_evidence",
    "context_too_small",
    "context_truncated",
    "interrupted",
    "approval",
    "needs_credential",
    "cancelled_by_user",
    "provider_error",
    "internal_error",
]
"""Why a run is not `complete` (API section 4). `empty_model_reply`: the model gave neither an
answer nor a call that could be read, also after it was asked again; the explanation says which."""


class RuntimeFault(Exception):
    """Base of everything this package raises on purpose."""


class ConfigError(RuntimeFault): ...


class InvalidRequest(RuntimeFault):
    """`field` is the dotted path of the offending input, where there is one."""

    def __init__(
        self, message: str, *, field: str | None = None, hint: str | None = None, status: int = 400
    ) -> None:
        super().__init__(message)
        self.field = field
        self.hint = hint
        self.status = status


class NotFound(InvalidRequest):
    def __init__(self, message: str, *, field: str | None = None, hint: str | None = None) -> None:
        super().__init__(message, field=field, hint=hint, status=404)


class Conflict(InvalidRequest):
    def __init__(self, message: str, *, field: str | None = None, hint: str | None = None) -> None:
        super().__init__(message, field=field, hint=hint, status=409)


class StoreError(RuntimeFault): ...


class LeaseLost(StoreError): ...


class ToolError(RuntimeFault):
    """Its message is shown to the model as the tool's result."""


class Refused(ToolError):
    """A call that failed so is `blocked`, if nothing of it had left before."""


class NotApproved(Refused): ...


class ProviderError(RuntimeFault):
    """`status` is the HTTP status where the server sent one."""

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class ProviderBusy(ProviderError): ...


class ModelMissing(ProviderError): ...


class ToolsUnsupported(ProviderError): ...


class SystemRefused(ProviderError): ...


class ContextTooLong(ProviderError):
    """`window` is how many tokens the server says it holds, where it says so."""

    def __init__(
        self, message: str, *, status: int | None = None, window: int | None = None
    ) -> None:
        super().__init__(message, status=status)
        self.window = window


class CredentialNeeded(RuntimeFault): ...


class ApprovalNeeded(RuntimeFault): ...


class ReplayMismatch(RuntimeFault): ...


class RunEnded(RuntimeFault):
    """The message is the one sentence for people (`explanation`)."""

    def __init__(self, reason: Reason, explanation: str) -> None:
        super().__init__(explanation)
        self.reason: Reason = reason
        self.explanation = explanation


def shown_address(url: str) -> str:
    """`url` for people and logs, without what may be secret in it: `user:password@`, a query."""
    public = re.sub(r"^([a-zA-Z][\w+.-]*://)?[^/?#]*@", r"\1", url.strip())
    return re.sub(r"[?#].*", "?…", public, flags=re.DOTALL)
