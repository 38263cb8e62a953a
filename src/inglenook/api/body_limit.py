"""How large a request's body may be: counted as it comes, whatever its headers say."""

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from inglenook.api.errors import problem_of
from inglenook.api.strict_json import RefusedBody
from inglenook.errors import InvalidRequest

JSON_LIMIT_BYTES = 10 << 20
UPLOAD_LIMIT_BYTES = 100 << 20
"""A request's files stay in memory until they are indexed: nothing touches the system's /tmp."""


class BodyLimit:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = limit_of(scope["path"])
        announced = Headers(scope=scope).get("content-length", "")
        if announced.isdecimal() and int(announced) > limit:
            refusal = problem_of(too_large(limit)).response(scope["path"])
            await refusal(scope, receive, send)
            return
        received = 0

        async def receive_counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > limit:
                raise RefusedBody(too_large(limit))
            return message

        await self._app(scope, receive_counted, send)


def limit_of(path: str) -> int:
    is_upload = path.startswith("/api/knowledge/") and path.endswith("/files")
    return UPLOAD_LIMIT_BYTES if is_upload else JSON_LIMIT_BYTES


def too_large(limit: int) -> InvalidRequest:
    hint = (
        "Send the files in several requests."
        if limit == UPLOAD_LIMIT_BYTES
        else "Put large texts into a knowledge base."
    )
    return InvalidRequest(
        f"the body is larger than {limit >> 20} MiB ({limit:,} bytes), the most this address takes",
        hint=hint,
        status=413,
    )
