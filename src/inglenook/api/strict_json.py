"""JSON in and out, strictly: one meaning a body, and any text survives the round trip.

Python's parser takes NaN and keeps the last of two equal keys; both would let a body mean one
thing to a proxy that checks it and another thing here.
"""

import json
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, NoReturn

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from inglenook.errors import InvalidRequest


def strict_json(body: bytes) -> Any:
    """The value of a JSON text (RFC 8259); lone surrogates are kept as they are.

    Raises:
        InvalidRequest: Not UTF-8, not JSON, a key twice in one object, NaN or Infinity, or too
            deep; names the position or the key.
    """
    try:
        return json.loads(
            body.decode("utf-8"), object_pairs_hook=_object, parse_constant=_no_constant
        )
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"the body is not UTF-8: byte {error.start}") from error
    except json.JSONDecodeError as error:
        raise InvalidRequest(
            f"the body is not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        ) from error
    except RecursionError as error:
        raise InvalidRequest("the body is nested too deeply") from error
    except ValueError as error:
        raise InvalidRequest(f"the body holds a number that cannot be read: {error}") from error


def encoded(value: object) -> bytes:
    """Compact JSON; in ASCII where a lone surrogate makes UTF-8 impossible."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


class JsonResponse(Response):
    media_type = "application/json"

    def render(self, content: object) -> bytes:
        return encoded(content)


class RefusedBody(HTTPException):
    """Carries `reason` through FastAPI, which hides any other error met while reading a body."""

    def __init__(self, reason: InvalidRequest) -> None:
        super().__init__(reason.status, str(reason))
        self.reason = reason


class StrictRequest(Request):
    async def json(self) -> Any:
        body = await self.body()
        try:
            return strict_json(body)
        except InvalidRequest as error:
            raise RefusedBody(error) from error


class StrictRoute(APIRoute):
    """A route whose body parameters come out of `strict_json`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def strict(request: Request) -> Response:
            return await handler(StrictRequest(request.scope, request.receive))

        return strict


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))
        raise InvalidRequest(f"the key {twice!r} stands twice in one object", field=twice)
    return value


def _no_constant(name: str) -> NoReturn:
    raise InvalidRequest(f"the body holds {name}, which is not JSON")
