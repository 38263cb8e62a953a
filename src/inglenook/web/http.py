"""HttpTransport: one request to the public web, to an address that was judged, and its answer.

A name is looked up once. Each of its addresses is judged, the request is recorded, and the
connection goes to one of the addresses that were judged: nothing is looked up again.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from ipaddress import ip_address

from yarl import URL

from inglenook.egress import Egress, OutgoingRequest
from inglenook.errors import ConfigError, shown_address
from inglenook.web.addresses import AddressPolicy, IpAddress, Origin, as_ip, is_private
from inglenook.web.base import TransportError, WebResponse
from inglenook.web.exchange import Exchange, Route
from inglenook.web.resolver import Resolver, SystemResolver
from inglenook.web.urls import WebUrl, parse_url, shown_url

LOOK_UP_TIMEOUT_S = 5.0
MAX_DIALLED = 8
"""Addresses of a name that are tried; all of them are judged."""


class HttpTransport:
    """No cookies, no redirects, no connection used twice, no proxy but the operator's."""

    def __init__(
        self,
        policy: AddressPolicy,
        *,
        resolver: Resolver | None = None,
        trusted: Collection[str] = (),
        proxy: str | None = None,
    ) -> None:
        """`trusted`: URLs of servers that the operator configured (SearXNG in the LAN). Where they
        lie is not judged; give none to a transport whose URLs come from models or pages.

        `proxy`: an HTTP proxy that the operator configured. Everything goes through it, and names
        are looked up there: here only what is written as an address or a local name is judged.

        Raises:
            ConfigError: `trusted` or `proxy` cannot be read.
        """
        self._policy = policy
        self._resolver = resolver or SystemResolver()
        self._trusted = frozenset(_configured(url) for url in trusted)
        self._proxy = _proxy(proxy) if proxy else None

    async def send(
        self,
        request: OutgoingRequest,
        *,
        headers: Mapping[str, str],
        egress: Egress,
        timeout_s: float,
        max_bytes: int,
    ) -> WebResponse:
        url = parse_url(request.url)
        if url.url != request.url:
            # The ledger and the approval show the URL as it is in the request.
            raise TransportError(
                "refused",
                f"{shown_url(request.url)!r} was not asked: write it as {shown_url(url.url)!r}.",
            )
        route = await self._route(url)
        exchange = Exchange(request, url, route, timeout_s=timeout_s, max_bytes=max_bytes)
        n = await egress.started(request)
        try:
            return await exchange.run(headers)
        finally:
            egress.finished(
                n, status=exchange.status, bytes_in=exchange.bytes_in, sent=exchange.may_have_left
            )

    async def _route(self, url: WebUrl) -> Route:
        """Where the connection goes, once everything about it is judged.

        Raises:
            TransportError: `refused`, or `unreachable` where the name has no address.
        """
        is_trusted = url.origin in self._trusted
        self._policy.check_url(url, is_trusted=is_trusted)
        if self._proxy is not None:
            host, port = self._proxy.host or "", self._proxy.port or 0
            return Route(host=host, addresses=await self._look_up(host, port), proxy=self._proxy)
        addresses = await self._look_up(url.host, url.port)
        for address in addresses:
            self._policy.check_ip(url, address, is_trusted=is_trusted)
        await self._check_own_names(url, addresses)
        return Route(host=url.host, addresses=addresses[:MAX_DIALLED])

    async def _check_own_names(self, url: WebUrl, addresses: Sequence[IpAddress]) -> None:
        """A forbidden server that is known by name (`ollama:11434`) has an address too."""
        if not any(map(is_private, addresses)):
            return
        for name in self._policy.forbidden_names(url.port):
            try:
                own = await self._look_up(name, url.port)
            except TransportError:
                continue  # where nobody listens
            if not set(own).isdisjoint(addresses):
                raise TransportError(
                    "refused", f"{shown_url(url.url)!r} was not asked: it belongs to this runtime."
                )

    async def _look_up(self, host: str, port: int) -> list[IpAddress]:
        if (written := as_ip(host)) is not None:
            return [written]
        try:
            async with asyncio.timeout(LOOK_UP_TIMEOUT_S):
                found = await self._resolver.resolve(host, port)
        except TimeoutError:
            raise TransportError(
                "unreachable",
                f"{host} cannot be reached: its name was not looked up in {LOOK_UP_TIMEOUT_S:g} s.",
            ) from None
        except (OSError, UnicodeError):  # the latter of a label that no DNS message can hold
            found = ()
        if not found:
            raise TransportError(
                "unreachable", f"{host} cannot be reached: there is no address for this name."
            )
        return [ip_address(address) for address in found]


def _configured(url: str) -> Origin:
    try:
        return parse_url(url).origin
    except TransportError as error:
        raise ConfigError(str(error)) from None


def _proxy(address: str) -> URL:
    try:
        url = URL(address)
    except ValueError:
        url = URL()
    if url.scheme != "http" or not url.host or not url.port:
        raise ConfigError(
            f"`web.proxy` is {shown_address(address)!r}; it looks like http://host:3128."
        )
    return url
