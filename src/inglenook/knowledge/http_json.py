"""One JSON question to a service over HTTP: bounded, never redirected, no secret in any error."""

import asyncio
import json
from dataclasses import dataclass
from typing import Any

import aiohttp
from yarl import URL

from inglenook.egress import Departure, Egress, OutgoingRequest, leaves_machine

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
    egress: Egress | None = None,
) -> Answer:
    """
    `url` is encoded already. A redirect is an answer like any other: following it would carry
    the key and the question to another host.

    Args:
        egress: Told of the question where the service is on another machine.

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
    departure = Departure()
    if egress is not None and leaves_machine(url):
        shown = str(URL(url, encoded=True).with_user(None))  # the ledger holds no password
        await departure.begin(egress, OutgoingRequest(method=method, url=shown, body=data or b""))
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
            departure.status = response.status
            raw = await _read(response)
            departure.bytes_in = len(raw)
    except TimeoutError as error:
        departure.end(sent=not isinstance(error, aiohttp.ConnectionTimeoutError))
        raise Unreachable(f"no answer within {timeout_s:g} s") from None
    except (aiohttp.ClientError, OSError, ValueError) as error:
        departure.end(sent=not isinstance(error, aiohttp.ClientConnectorError))
        # aiohttp's own texts hold the request, whose header holds the key
        raise Unreachable(_cause(error)) from None
    finally:
        departure.end()
    try:
        return Answer(status=response.status, value=json.loads(raw), is_json=True)
    except (ValueError, RecursionError):
        return Answer(status=response.status, value=None, is_json=False)


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
