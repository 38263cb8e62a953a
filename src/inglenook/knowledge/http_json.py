"""One JSON question to a service over HTTP: bounded, never redirected, no secret in any error."""

import asyncio
import json
from dataclasses import dataclass
from typing import Any

import aiohttp
from yarl import URL

QUESTION_TIMEOUT_S = 30.0
MAX_ANSWER_BYTES = 96 * 1024 * 1024
"""A document of the largest size that is read here, with JSON's escapes."""


class Unreachable(Exception):
    """No answer came; the message says why in a few words and holds neither address nor key."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    status: int
    value: Any
    """The decoded body; None where it was not JSON."""
    is_json: bool


async def ask(
    session: aiohttp.ClientSession,
    method: str,
    url: str,
    *,
    bearer: str | None = None,
    body: object = None,
    timeout_s: float = QUESTION_TIMEOUT_S,
) -> Answer:
    """
    `url` is encoded already. A redirect is an answer like any other: following it would carry
    the key and the question to another host.

    Raises:
        Unreachable: The connection failed, timed out or sent too much.
    """
    headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
    if bearer is not None:
        headers["Authorization"] = f"Bearer {bearer}"
    data = None
    if body is not None:
        headers["Content-Type"] = "application/json"
        data = json.dumps(body).encode()
    try:
        async with (
            asyncio.timeout(timeout_s),
            session.request(
                method,
                URL(url, encoded=True),
                headers=headers,
                data=data,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=10.0),
            ) as response,
        ):
            raw = await _read(response)
            status = response.status
    except TimeoutError:
        raise Unreachable(f"no answer within {timeout_s:g} s") from None
    except (aiohttp.ClientError, OSError, ValueError) as error:
        # aiohttp's own texts hold the request, whose header holds the key
        raise Unreachable(_cause(error)) from None
    try:
        return Answer(status=status, value=json.loads(raw), is_json=True)
    except (ValueError, RecursionError):
        return Answer(status=status, value=None, is_json=False)


async def _read(response: aiohttp.ClientResponse) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for part in response.content.iter_any():
        size += len(part)
        if size > MAX_ANSWER_BYTES:
            raise Unreachable(f"it sent more than {MAX_ANSWER_BYTES:,} bytes")
        parts.append(part)
    return b"".join(parts)


def _cause(error: Exception) -> str:
    reason = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    text = getattr(reason, "strerror", None)
    return text if isinstance(text, str) and text else type(error).__name__
