"""One table: what went wrong -> HTTP status and body, in the form of the face that was asked.

/agent/run   {"error": str}
/v1/…        {"error": {"message", "type", "param", "code"}}
all others   {"error": {"type", "message", "field"?, "hint"?}}
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from inglenook.api.strict_json import JsonResponse, RefusedBody
from inglenook.errors import (
    CredentialNeeded,
    InvalidRequest,
    ProviderBusy,
    ProviderError,
    StoreError,
    ToolError,
)
from inglenook.store.base import RunRow

TYPES = {
    400: "invalid_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    409: "conflict",
    413: "too_large",
    415: "unsupported_media_type",
    422: "unprocessable",
    429: "rate_limited",
    500: "internal_error",
    502: "provider_error",
    503: "unavailable",
}
OPENAI_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}
"""Other statuses: `invalid_request_error` below 500, `server_error` from there."""
OPEN_WEBUI_KEY = "X-Open-WebUI-Key"
_KEY_ON_AGENT_RUN = "Send your own Open WebUI key as Authorization: Bearer <key>."
OWN_WORDS = "own_words"
"""Type of a validation error whose message is ours and whole."""


@dataclass(frozen=True, kw_only=True)
class Problem:
    status: int
    message: str
    type: str = ""
    """Default: `TYPES` of the status."""
    field: str | None = None
    hint: str | None = None
    headers: Mapping[str, str] | None = None

    @property
    def code(self) -> str:
        return self.type or TYPES.get(self.status, "error")

    @property
    def in_words(self) -> str:
        """Message and hint, for faces that have one string."""
        return f"{self.message.rstrip('.')}. {self.hint}" if self.hint else self.message

    def body(self, path: str) -> dict[str, Any]:
        if path.startswith("/v1/"):
            return {"error": self.openai()}
        if path.startswith("/agent/"):
            return {"error": self.in_words}
        error: dict[str, Any] = {"type": self.code, "message": self.message}
        if self.field is not None:
            error["field"] = self.field
        if self.hint is not None:
            error["hint"] = self.hint
        return {"error": error}

    def openai(self) -> dict[str, Any]:
        """Source: https://platform.openai.com/docs/guides/error-codes"""
        kind = "server_error" if self.status >= 500 else "invalid_request_error"
        return {
            "message": self.in_words,
            "type": OPENAI_TYPES.get(self.status, kind),
            "param": self.field,
            "code": self.code,
        }

    def response(self, path: str) -> JsonResponse:
        return JsonResponse(self.body(path), self.status, self.headers)


def problem_of_run(row: RunRow) -> Problem:
    """A run that ended or waits without an answer, for a face that promised one."""
    if (row.status, row.reason) == ("waiting", "approval"):
        return Problem(
            status=409,
            type="approval",
            message=f"Run {row.id} waits for a person to approve what would leave this machine.",
            hint=f"Decide in the page, with `inglenook runs list`, or over GET /api/approvals; "
            f"GET /api/runs/{row.id} has the answer then.",
        )
    status = {"provider_error": 502, "internal_error": 500, "empty_model_reply": 502}
    return Problem(
        status=status.get(row.reason or "", 409),
        type=row.reason or row.status,
        message=row.explanation or f"The run is {row.status} ({row.reason}).",
        hint=f"GET /api/runs/{row.id} shows it.",
    )


def problem_of(error: Exception) -> Problem:
    """The table."""
    match error:
        case RefusedBody():
            return problem_of(error.reason)
        case InvalidRequest():
            return Problem(
                status=error.status, message=str(error), field=error.field, hint=error.hint
            )
        case CredentialNeeded():
            return Problem(
                status=422,
                type="credential_needed",
                message=str(error),
                field=OPEN_WEBUI_KEY,
                hint=f"Send your own Open WebUI key in the header {OPEN_WEBUI_KEY}.",
            )
        case ProviderBusy():
            return Problem(status=503, message=str(error), headers={"Retry-After": "5"})
        case ProviderError():
            return Problem(status=502, message=str(error))
        case StoreError():
            return Problem(status=503, type="store_unavailable", message=str(error))
        case ToolError():
            return Problem(status=503, type="knowledge_unavailable", message=str(error))
        case RequestValidationError():
            return _of_validation(error)
        case HTTPException():
            return Problem(
                status=error.status_code, message=error.detail, headers=dict(error.headers or {})
            )
        case _:
            return Problem(
                status=500,
                message="The server failed by a fault of its own; its log has the details.",
            )


def install(app: FastAPI, headers: Mapping[str, str]) -> None:
    """Have `app` answer every error by the table; `headers` go on those no middleware sees."""

    async def answer(request: Request, error: Exception) -> JsonResponse:
        path: str = request.scope["path"]
        problem = problem_of(error)
        if isinstance(error, CredentialNeeded) and path.startswith("/agent/"):
            problem = replace(problem, field="Authorization", hint=_KEY_ON_AGENT_RUN)
        return problem.response(path)

    async def answer_fault(request: Request, error: Exception) -> JsonResponse:
        response = problem_of(error).response(request.scope["path"])
        response.headers.update(headers)
        return response

    for kind in (
        InvalidRequest,
        CredentialNeeded,
        ProviderError,
        StoreError,
        ToolError,
        RequestValidationError,
        HTTPException,
    ):
        app.add_exception_handler(kind, answer)
    app.add_exception_handler(Exception, answer_fault)


def _of_validation(error: RequestValidationError) -> Problem:
    """The first thing that is wrong with a request, named by its dotted path."""
    first: dict[str, Any] = error.errors()[0]
    place, *path = (str(part) for part in first["loc"])
    name = ".".join(path)
    if place == "body" and not path:
        return Problem(
            status=400,
            message="the body must be a JSON object, sent as Content-Type: application/json",
        )
    hint = None if first["type"] == OWN_WORDS else "See /docs."
    return Problem(status=400, message=_explain(first, name), field=name, hint=hint)


def _explain(problem: Mapping[str, Any], name: str) -> str:
    kind: str = problem["type"]
    if kind == "extra_forbidden":
        return f"unknown field {name!r}"
    if kind == "missing":
        return f"{name} is missing"
    if kind == OWN_WORDS:
        return problem["msg"]
    given = problem["input"]
    # Only closed lists of words are quoted back: any other text may be a secret or a document.
    shown = f"{given!r:.80}" if kind == "literal_error" else _json_type(given)
    wanted = problem["msg"].lower().replace("tuple", "array").replace("dictionary", "object")
    return f"{name}: {wanted}, got {shown}"


def _json_type(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return f"{value!r:.40}"
        case str():
            return f"a string of {len(value)} characters"
        case list():
            return "an array"
        case _:
            return "an object"
