"""HTTP to one model server: JSON out, bytes or JSON back, failures as our own errors.

Owns the connection and its time limits; what the bytes mean is the providers' affair. Nothing
here logs, and no error text holds the key.
"""

import asyncio
import base64
import io
from collections.abc import Generator
from contextlib import closing, contextmanager
from typing import Any, cast

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from inglenook.egress import Departure, Egress, OutgoingRequest, leaves_machine
from inglenook.errors import ConfigError, ProviderBusy, ProviderError
from inglenook.providers import wire_json
from inglenook.providers.connection_errors import connection_error
from inglenook.providers.server_errors import detail_of, error_for, message_of, one_line
from inglenook.providers.streamed_reply import TAIL_TIMEOUT_S, StreamedReply

CONNECT_TIMEOUT_S = 10.0
IDLE_TIMEOUT_S = 600.0
"""Longest silence. A CPU reads some 40 prompt tokens a second: 8,000 tokens take 200 s in which
the server sends nothing, and loading the model comes before that."""
QUERY_TIMEOUT_S = 30.0
"""For questions about models, which no server thinks about."""
MIN_SECRET_CHARS = 8
"""Of a value in a base_url's query, to be taken for a key; a shorter one is a version or a flag."""
MAX_ERROR_BYTES = 64 * 1024
MAX_ANSWER_BYTES = 32 * 1024 * 1024
"""OpenRouter lists its models in 1 MB."""
NOT_SENT = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)
"""No connection came about, so that nothing left."""
_WARNED_BODY_BYTES = 2**20
"""aiohttp warns of `bytes` bodies above this and wants a file object, which it sends in parts."""


def open_session() -> aiohttp.ClientSession:
    """The session that all providers share; the caller closes it. Needs a running loop.

    No environment proxies or netrc, no cookies, no limit on connections: the runtime limits runs.
    """
    return aiohttp.ClientSession(
        trust_env=False,
        cookie_jar=aiohttp.DummyCookieJar(),
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=30),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT_S),
    )


class ModelServer:
    """Where one model is served."""

    def __init__(
        self,
        session: aiohttp.ClientSession,
        *,
        base_url: str,
        model: str,
        api_key: str | None = None,
        model_hint: str = "",
        connect_timeout_s: float = CONNECT_TIMEOUT_S,
        idle_timeout_s: float = IDLE_TIMEOUT_S,
    ) -> None:
        """`base_url` may hold `user:password@`, which is sent as basic authentication, and a
        query, which goes with every request (gateways take a version or a key there).

        Raises:
            ConfigError: `base_url` cannot be read as an address, or no header can hold the key.
        """
        self._session = session
        if api_key and not (api_key.isascii() and api_key.isprintable()):
            raise ConfigError(
                f"the key of model {model!r} cannot be sent: it holds a line break or letters that "
                "no key has; set its variable again."
            )
        try:
            url = URL(base_url.strip().rstrip("/"))
        except ValueError as error:
            raise ConfigError(
                f"base_url of model {model!r} is no address ({error}); it looks like "
                "http://127.0.0.1:11434 or https://host/v1."
            ) from None
        headers = CIMultiDict(
            {
                "Content-Type": "application/json",
                "Accept-Encoding": "identity",  # a compressed stream is held back for its block
                "User-Agent": "inglenook",
            }
        )
        asked_with = [value for value in url.query.values() if len(value) >= MIN_SECRET_CHARS]
        self._secrets = [secret for secret in (api_key, url.password, *asked_with) if secret]
        if api_key:
            headers["Authorization"] = f"Bearer {api_key}"
        elif url.user:
            pair = f"{url.user}:{url.password or ''}".encode()
            headers["Authorization"] = "Basic " + base64.b64encode(pair).decode()
        self._base = url.with_user(None) if url.user else url
        self._is_elsewhere = leaves_machine(str(self._base))
        self._headers = headers
        self._model = model
        self._model_hint = model_hint
        self._idle_timeout_s = idle_timeout_s
        self._stream_timeout = aiohttp.ClientTimeout(
            total=None, sock_connect=connect_timeout_s, sock_read=idle_timeout_s
        )
        self._query_timeout = aiohttp.ClientTimeout(
            total=QUERY_TIMEOUT_S, sock_connect=connect_timeout_s
        )
        self._urls: dict[str, URL] = {}

    @property
    def address(self) -> str:
        return str(self._base.with_query(None).with_fragment(None))

    async def open_stream(
        self, path: str, body: bytes, egress: Egress | None = None
    ) -> StreamedReply:
        """Send `body` and return the reply once its head is there and good.

        Args:
            egress: Told of the request where the server is on another machine.

        Raises:
            ProviderError: As `ModelProvider.stream`.
        """
        departure = Departure()
        response = await self._request("POST", path, body, self._stream_timeout, egress, departure)
        if response.status == 200:
            return StreamedReply(
                response, address=self.address, lost=self.lost, departure=departure
            )
        with closing(response), ended(departure):
            raise await self._refusal(response)

    async def ask(
        self, path: str, question: dict[str, Any] | None = None, egress: Egress | None = None
    ) -> dict[str, Any]:
        """The JSON object that answers a POST of `question`, or to a GET.

        Args:
            egress: As for `open_stream`.

        Raises:
            ProviderError: As `ModelProvider.abilities`.
        """
        body = None if question is None else wire_json.encode(question)
        method = "GET" if body is None else "POST"
        departure = Departure()
        response = await self._request(method, path, body, self._query_timeout, egress, departure)
        with closing(response), ended(departure):
            if response.status != 200:
                raise await self._refusal(response)
            try:
                answer = await _read_up_to(response, MAX_ANSWER_BYTES)
            except (aiohttp.ClientError, TimeoutError) as error:
                raise self.lost(error) from error
            departure.bytes_in = len(answer)
        return self.decode(answer)

    def decode(self, line: bytes) -> dict[str, Any]:
        """One JSON object of this server's.

        Raises:
            ProviderError: It is something else.
        """
        try:
            value = wire_json.decode(line)
        except ValueError:
            value = None
        if isinstance(value, dict):
            return cast("dict[str, Any]", value)
        raise ProviderError(
            f"The model server at {self.address} sent what is no JSON object "
            f"({self._safe(detail_of(line[:200]))!r}). Check that `base_url` names a model server."
        )

    def stream_error(self, error: Any) -> ProviderError:
        """What an `error` value inside a stream means; a numeric `code` in it is an HTTP status.

        Shape: str | {"message": str, "code": int | str}
        """
        fields = cast("dict[str, Any]", error) if isinstance(error, dict) else {}
        code = fields.get("code")
        status = code if isinstance(code, int) and 400 <= code < 600 else None
        return self._error(status, one_line(message_of(fields or error)))

    def broken_off(self) -> ProviderBusy:
        return ProviderBusy(
            f"The model server at {self.address} ended its reply before it was complete. "
            "Try again; if it goes on, the server's own log says more."
        )

    def lost(self, error: Exception) -> ProviderError:
        """A failed connection as our error, without what the exception's own text may hold."""
        return connection_error(
            error,
            address=self.address,
            words=self._safe(str(error)),
            idle_timeout_s=self._idle_timeout_s,
        )

    async def _request(
        self,
        method: str,
        path: str,
        body: bytes | None,
        limits: aiohttp.ClientTimeout,
        egress: Egress | None,
        departure: Departure,
    ) -> aiohttp.ClientResponse:
        url = self._urls.get(path)
        if url is None:
            url = self._urls[path] = (self._base / path).with_query(self._base.query)
        if egress is not None and self._is_elsewhere:
            shown = self._safe(str(url))  # the ledger holds no key
            request = OutgoingRequest(method=method, url=shown, body=body or b"")
            await departure.begin(egress, request)
        data = io.BytesIO(body) if body and len(body) > _WARNED_BODY_BYTES else body
        try:
            response = await self._session.request(
                method,
                url,
                data=data,
                headers=self._headers,
                timeout=limits,
                allow_redirects=False,  # a redirect would carry the key and the prompt elsewhere
            )
        except (aiohttp.ClientError, TimeoutError) as error:
            departure.end(sent=not isinstance(error, NOT_SENT))
            raise self.lost(error) from error
        except asyncio.CancelledError:
            departure.end()
            raise
        departure.status = response.status
        if response.headers.get("Server") == "llama.cpp":
            # It promises to keep the connection and closes it behind each stream: the next
            # request, if it came at once, would find it dead.
            self._headers["Connection"] = "close"
        return response

    async def _refusal(self, response: aiohttp.ClientResponse) -> ProviderError:
        try:
            async with asyncio.timeout(TAIL_TIMEOUT_S):
                body = await _read_up_to(response, MAX_ERROR_BYTES)
        except (aiohttp.ClientError, TimeoutError):
            body = b""
        return self._error(response.status, detail_of(body))

    def _error(self, status: int | None, detail: str) -> ProviderError:
        return error_for(
            address=self.address,
            model=self._model,
            status=status,
            detail=self._safe(detail),
            model_hint=self._model_hint,
        )

    def _safe(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "…")
        return text


@contextmanager
def ended(departure: Departure) -> Generator[None, None, None]:
    """Within it the request ends, however that goes."""
    try:
        yield
    finally:
        departure.end()


async def _read_up_to(response: aiohttp.ClientResponse, limit_bytes: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    while size < limit_bytes and (part := await response.content.readany()):
        parts.append(part)
        size += len(part)
    return b"".join(parts)[:limit_bytes]
