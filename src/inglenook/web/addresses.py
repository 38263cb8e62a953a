"""Which addresses may be asked: those of the public internet, unless the operator says more.

An own table in place of `ipaddress.is_global`, whose answers differ between the versions of Python
that we support. The source of its ranges are the special-purpose registries:
https://www.iana.org/assignments/iana-ipv4-special-registry
https://www.iana.org/assignments/iana-ipv6-special-registry
"""

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from inglenook.web.base import TransportError
from inglenook.web.urls import WebUrl, shown_url

IpAddress = IPv4Address | IPv6Address
Origin = tuple[str, int]
"""Host, in lower case, and port."""

_METADATA = "an address at which clouds give out their machines' keys"
_REFUSED: tuple[tuple[IPv4Network | IPv6Network, str], ...] = tuple(
    (ip_network(network), what)
    for network, what in (
        ("0.0.0.0/8", "an unspecified address"),
        ("100.64.0.0/10", "an address behind a provider's translator"),
        ("168.63.129.16/32", _METADATA),  # Azure, though in public space
        ("169.254.0.0/16", "a link-local address"),
        ("192.0.0.0/24", "a reserved address"),
        ("192.0.2.0/24", "an address for documentation"),
        ("192.88.99.0/24", "a reserved address"),  # relays of 6to4, retired
        ("198.18.0.0/15", "an address for benchmarks"),
        ("198.51.100.0/24", "an address for documentation"),
        ("203.0.113.0/24", "an address for documentation"),
        ("224.0.0.0/4", "a multicast address"),
        ("240.0.0.0/4", "a reserved address"),
        ("::/128", "an unspecified address"),
        ("64:ff9b:1::/48", "an address of a local translator"),
        ("2001::/23", "a reserved address"),  # Teredo, benchmarks, identifiers
        ("2001:db8::/32", "an address for documentation"),
        ("2002::/16", "an address of a tunnel"),  # 6to4: the far end decides where it leads
        ("3fff::/20", "an address for documentation"),
        ("fd00:42::42/128", _METADATA),  # Scaleway
        ("fd00:ec2::/32", _METADATA),  # Amazon
        ("fd20:ce::254/128", _METADATA),  # Google
        ("fe80::/10", "a link-local address"),
        ("fec0::/10", "a reserved address"),  # site-local, retired
        ("ff00::/8", "a multicast address"),
    )
)
_PRIVATE: tuple[tuple[IPv4Network | IPv6Network, str], ...] = tuple(
    (ip_network(network), what)
    for network, what in (
        ("10.0.0.0/8", "a private address"),
        ("127.0.0.0/8", "this machine itself"),
        ("172.16.0.0/12", "a private address"),
        ("192.168.0.0/16", "a private address"),
        ("::1/128", "this machine itself"),
        ("fc00::/7", "a private address"),
    )
)
_WRITTEN_ADDRESS = re.compile(r"(?<![0-9a-z])(\d{1,3}(?:[.-]\d{1,3}){3})(?![0-9a-z])")
"""An address spelled inside of a name: services such as nip.io lead `127.0.0.1.nip.io` and
`app-10-0-0-1.nip.io` there. What such a name resolves to is judged all the same; this refuses it
also where it does not resolve, and before a look-up tells anybody of it."""
_PUBLIC_IPV6 = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")
_ISATAP = 0x00005EFE
_LOCAL_NAMES = ("localhost", "local", "internal", "home.arpa", "lan")
_METADATA_NAMES = frozenset({"metadata", "metadata.google.internal", "instance-data"})


@dataclass(frozen=True, kw_only=True)
class AddressPolicy:
    """What may be asked, by the address itself and by the operator's settings."""

    allow_private: bool = False
    """`web.allow_private_addresses`: loopback, private IPv4 and unique local IPv6 as well. What is
    link-local, multicast, reserved or gives out a cloud's keys stays refused."""
    forbidden: frozenset[Origin] = frozenset()
    """Servers that no page is read from under any setting: this one, the models', Open WebUI. A
    loopback host stands for all of loopback, 0.0.0.0 and :: for every private address."""

    def check_url(self, url: WebUrl, *, is_trusted: bool = False) -> None:
        """All that can be said before a name is looked up.

        `is_trusted`: the operator configured this origin, so that where it lies is their choice.

        Raises:
            TransportError: `refused`.
        """
        if url.origin in self.forbidden:
            raise _refused(url, "it belongs to this runtime")
        if url.ip is not None:
            self.check_ip(url, url.ip, is_trusted=is_trusted)
        elif not is_trusted:
            self._check_name(url)

    def check_ip(self, url: WebUrl, ip: IpAddress, *, is_trusted: bool = False) -> None:
        """Judge the address to which a connection for `url` would go.

        Raises:
            TransportError: `refused`.
        """
        if not is_trusted and (what := self._objection(ip)) is not None:
            raise _refused(url, what)
        if is_private(ip) and any(
            port == url.port and _stands_for(host, ip) for host, port in self.forbidden
        ):
            raise _refused(url, f"port {url.port} at {ip} belongs to this runtime")

    def forbidden_names(self, port: int) -> list[str]:
        """Names in `forbidden` with this port: what they stand for only a look-up can say."""
        return [host for host, its in self.forbidden if its == port and as_ip(host) is None]

    def _check_name(self, url: WebUrl) -> None:
        if url.host in _METADATA_NAMES:
            raise _refused(url, f"{url.host} is a name at which clouds give out keys")
        for spelled in _WRITTEN_ADDRESS.finditer(url.host):
            address = as_ip(spelled[1].replace("-", "."))
            if address is not None and (what := self._objection(address)) is not None:
                raise _refused(url, f"{url.host} names an address: {what}")
        if self.allow_private:
            return
        if "." not in url.host or any(url.host.endswith(f".{suffix}") for suffix in _LOCAL_NAMES):
            raise _refused(url, f"{url.host} is a name inside a local network{_HOW_TO_ALLOW}")

    def _objection(self, ip: IpAddress) -> str | None:
        reached = _reached(ip)
        named = str(ip) if reached == ip else f"{ip}, which leads to {reached},"
        for network, what in _REFUSED:
            if reached in network:
                return f"{named} is {what}"
        for network, what in _PRIVATE:
            if reached in network:
                return None if self.allow_private else f"{named} is {what}{_HOW_TO_ALLOW}"
        if isinstance(reached, IPv6Address) and reached not in _PUBLIC_IPV6:
            return f"{named} is a reserved address"
        return None


_HOW_TO_ALLOW = " (the operator may allow those with `web.allow_private_addresses`)"


def is_private(ip: IpAddress) -> bool:
    """It may be on this machine or in its network, and is one that an operator may allow."""
    return any(_reached(ip) in network for network, _ in _PRIVATE)


def _reached(ip: IpAddress) -> IpAddress:
    """The address that a connection to `ip` reaches in the end: the IPv4 that an IPv6 holds.

    Mapped (::ffff:a.b.c.d), NAT64's well-known prefix (RFC 6052) and ISATAP (RFC 5214). The other
    forms lie in ranges that are refused whole; a translator's own prefix cannot be known here.
    """
    if not isinstance(ip, IPv6Address):
        return ip
    if ip.ipv4_mapped is not None:
        return ip.ipv4_mapped
    is_isatap = (int(ip) >> 32) & 0xFDFFFFFF == _ISATAP
    return IPv4Address(int(ip) & 0xFFFFFFFF) if ip in _NAT64 or is_isatap else ip


def _stands_for(forbidden_host: str, ip: IpAddress) -> bool:
    reached = _reached(ip)
    if forbidden_host == "localhost":
        return reached.is_loopback
    forbidden = as_ip(forbidden_host)
    if forbidden is None:
        return False
    if forbidden.is_unspecified:
        return True
    return reached == forbidden or (forbidden.is_loopback and reached.is_loopback)


def as_ip(host: str) -> IpAddress | None:
    """The address that `host` is written as, where it is no name."""
    try:
        return ip_address(host)
    except ValueError:
        return None


def _refused(url: WebUrl, why: str) -> TransportError:
    return TransportError("refused", f"{shown_url(url.url)!r} was not asked: {why}.")
