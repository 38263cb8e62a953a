"""One request and its answer over a connection of its own, bounded in time, size and headers."""

import asyncio
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from inglenook.egress import OutgoingRequest
from inglenook.web.addresses import IpAddress
from inglenook.web.base import PageFault, TransportError, WebResponse
from inglenook.web.content_encoding import ACCEPTED, Decoder, EncodingError, TooLarge
from inglenook.web.urls import WebUrl

CONNECT_TIMEOUT_S = 10.0
SILENCE_TIMEOUT_S = 10.0
"""Longest wait for the next byte."""
MAX_HEADER_BYTES = 16 * 1024
"""Of one header and of the status line; sites put long policies and many cookies there."""
MAX_HEADERS = 128

_Dialled = tuple[int, int, int, str, tuple[Any, ...]]
"""As `getaddrinfo` gives it; the last part begins with the address."""


@dataclass(frozen=True, kw_only=True)
class Route:
    """Where a connection goes."""

    host: str
    addresses: Sequence[IpAddress]
    """Of `host`; all judged."""
    proxy: URL | None = None
    """What listens at `host`, where that is not the server itself."""


class Exchange:
    """Made for one request; its fields tell the ledger what became of it."""

    def __init__(
        self,
        request: OutgoingRequest,
        url: WebUrl,
        route: Route,
        *,
        timeout_s: float,
        max_bytes: int,
    ) -> None:
        self.status: int | None = None
        self.bytes_in = 0
        """Of the body, as they came."""
        self._request = request
        self._url = url
        self._route = route
        self._timeout_s = timeout_s
        self._max_bytes = max_bytes
        self._has_begun = False
        self._found_nobody = False

    @property
    def may_have_left(self) -> bool:
        """The request was handed to a connection, or at least its host: a TLS handshake names it,
        and so does the way through a proxy."""
        names_host_before = self._url.scheme == "https" or self._route.proxy is not None
        return self._has_begun or (names_host_before and not self._found_nobody)

    async def run(self, headers: Mapping[str, str]) -> WebResponse:
        """Raises:
        TransportError: `unreachable`, `too_large` or `not_readable`.
        """
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._ask(headers)
        except TimeoutError:
            raise self._failed(f"gave no whole answer within {self._timeout_s:g} s") from None
        except TooLarge:
            raise self._failed(
                f"sent more than {self._max_bytes:,} bytes and was stopped", "too_large"
            ) from None
        except EncodingError as error:
            raise self._failed(f"sent an answer that {error}", "not_readable") from None
        except aiohttp.ClientError as error:
            raise self._failed(self._told(error)) from error

    async def _ask(self, headers: Mapping[str, str]) -> WebResponse:
        async with (
            self._session() as session,
            session.request(
                self._request.method,
                URL(self._request.url, encoded=True),
                data=self._request.body or None,
                headers={**headers, "Accept-Encoding": ACCEPTED},
                allow_redirects=False,
                proxy=self._route.proxy,
            ) as response,
        ):
            self.status = response.status
            is_redirect = 300 <= response.status < 400  # nobody reads what stands in one
            return WebResponse(
                status=response.status,
                headers=_first_of_each(response),
                body=b"" if is_redirect else await self._body(response),
            )

    async def _body(self, response: aiohttp.ClientResponse) -> bytes:
        if (response.content_length or 0) > self._max_bytes:
            raise TooLarge
        decoder = Decoder(_encodings(response), self._max_bytes)
        async for data in response.content.iter_any():
            self.bytes_in += len(data)
            if self.bytes_in > self._max_bytes:
                raise TooLarge
            decoder.feed(data)
        return decoder.finish()

    def _session(self) -> aiohttp.ClientSession:
        async def begun(*_: object) -> None:
            self._has_begun = True

        trace = aiohttp.TraceConfig()
        trace.on_request_headers_sent.append(begun)
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                resolver=_Judged(self._route),
                use_dns_cache=False,
                force_close=True,
                socket_factory=self._socket,
            ),
            trust_env=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trace_configs=[trace],
            timeout=aiohttp.ClientTimeout(
                total=None, sock_connect=CONNECT_TIMEOUT_S, sock_read=SILENCE_TIMEOUT_S
            ),
            max_line_size=MAX_HEADER_BYTES,
            max_field_size=MAX_HEADER_BYTES,
            max_headers=MAX_HEADERS,
        )

    def _socket(self, info: _Dialled) -> socket.socket:
        """The last step before a connection, which sees every address, literal or looked up."""
        family, kind, protocol, _, (host, *_) = info
        if ip_address(host) not in self._route.addresses:
            raise PermissionError(f"{host} was not judged")
        return socket.socket(family, kind, protocol)

    def _told(self, error: aiohttp.ClientError) -> str:
        """What happened, without the exception's own text, which may quote the answer."""
        if isinstance(error, aiohttp.ClientConnectorCertificateError):
            return "showed a certificate that is not valid for it"
        if isinstance(error, aiohttp.ClientSSLError):
            return "and this machine agree on no encryption (TLS)"
        if isinstance(error, aiohttp.ClientHttpProxyError):
            return f"cannot be reached: the proxy answered with status {error.status}"
        if isinstance(error, aiohttp.ClientConnectorError):
            self._found_nobody = True
            where = "the proxy takes" if self._route.proxy else "it takes"
            return f"cannot be reached: {where} no connection"
        if isinstance(error, aiohttp.ClientPayloadError | aiohttp.ServerDisconnectedError):
            return "broke off before its answer was whole"
        if isinstance(error, aiohttp.ClientResponseError):
            return "sent what is no HTTP answer, or headers beyond every measure"
        return f"cannot be reached ({type(error).__name__})"

    def _failed(self, what: str, fault: PageFault = "unreachable") -> TransportError:
        return TransportError(fault, f"{self._url.host} {what}.")


class _Judged(AbstractResolver):
    """Gives aiohttp what was looked up and judged before; knows no other name."""

    def __init__(self, route: Route) -> None:
        self._route = route

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        if host != self._route.host:
            raise PermissionError(f"{host!r} was not looked up before")
        return [
            ResolveResult(
                hostname=host,
                host=str(address),
                port=port,
                family=socket.AF_INET if address.version == 4 else socket.AF_INET6,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in self._route.addresses
        ]

    async def close(self) -> None:
        pass


def _first_of_each(response: aiohttp.ClientResponse) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, value in response.headers.items():
        headers.setdefault(name.lower(), value)
    return headers


def _encodings(response: aiohttp.ClientResponse) -> list[str]:
    """In the order in which they were applied; `x-gzip` is an old name of gzip (RFC 9110)."""
    named = ",".join(response.headers.getall("Content-Encoding", []))
    names = [name.strip().lower().removeprefix("x-") for name in named.split(",")]
    return [name for name in names if name not in ("", "identity")]
