"""A web address: read once into a value that has one form, which is the form that is sent.

Stricter than a browser, which mends what it reads: where two readers of one text could see two
hosts, it is refused. Whether the host may be asked is the affair of `addresses.py`.
"""

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import quote

from yarl import URL

from inglenook.errors import shown_address
from inglenook.web.base import TransportError

MAX_URL_CHARS = 8_000
"""Most servers take request lines up to 8 kB."""
MAX_SHOWN_CHARS = 200
DEFAULT_PORTS = {"http": 80, "https": 443}
OTHER_SERVICES: dict[int, str] = {
    # On the Fetch standard's list of ports that a browser refuses (those from 1024 on):
    # https://fetch.spec.whatwg.org/#port-blocking
    1719: "H.323",
    1720: "H.323",
    1723: "PPTP",
    2049: "NFS",
    3659: "Apple SASL",
    4045: "NFS locks",
    4190: "ManageSieve",
    5060: "SIP",
    5061: "SIP",
    6000: "X11",
    6566: "SANE",
    6665: "IRC",
    6666: "IRC",
    6667: "IRC",
    6668: "IRC",
    6669: "IRC",
    6679: "IRC",
    6697: "IRC",
    10080: "Amanda",
    # No web servers either, and whoever may ask them needs no more to take them over.
    1433: "SQL Server",
    1521: "Oracle",
    2375: "Docker",
    2376: "Docker",
    2379: "etcd",
    2380: "etcd",
    3306: "MySQL",
    3389: "remote desktop",
    5432: "PostgreSQL",
    5900: "VNC",
    6379: "Redis",
    10250: "Kubernetes",
    10255: "Kubernetes",
    11211: "memcached",
    27017: "MongoDB",
}
"""Ports from 1024 on at which something listens that takes a web request for a command. Below 1024
only 80 and 443 are the web's."""

_URL = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.-]*):(?P<slashes>(?://)?)(?P<authority>[^/?#]*)(?P<path>[^?#]*)"
    r"(?:\?(?P<query>[^#]*))?(?:#.*)?",
    re.IGNORECASE | re.DOTALL,
)
_UNREADABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\\\u2028\u2029\ud800-\udfff]")
_AUTHORITY = re.compile(
    r"(?:\[(?P<ipv6>[0-9a-fA-F:.]+)\]|(?P<name>[^\[\]:]+))(?::(?P<port>[0-9]{1,5}))?"
)
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"(?!.{{254}}){_LABEL}(?:\.{_LABEL})*")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_KEPT = "/%!$&'()*+,;=:@[]~"
"""Stands in a path as it is; what is escaped already stays so."""


@dataclass(frozen=True, kw_only=True)
class WebUrl:
    """Make it with `parse_url`."""

    scheme: str
    host: str
    """ASCII, lower case, without a last dot; an IPv6 address without its brackets."""
    port: int
    target: str
    """Path and query, ASCII, as they stand in the request line."""
    ip: IPv4Address | IPv6Address | None
    """The host, where it is written as an address."""

    @property
    def origin(self) -> tuple[str, int]:
        return self.host, self.port

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == DEFAULT_PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.target}"


def parse_url(text: str) -> WebUrl:
    """`text` as a web address, without its fragment.

    Spaces and letters beyond ASCII in path and query are escaped, names beyond ASCII become their
    `xn--` form; anything else that would have to be mended is refused.

    Raises:
        TransportError: `refused`: it is no http or https address, or not readable in one way only.
    """
    check_readable(text)
    parts = _URL.fullmatch(text)
    scheme = parts["scheme"].lower() if parts else ""
    if parts is None or scheme not in DEFAULT_PORTS:
        raise _refused(text, "only addresses that begin with http:// or https:// can be read")
    if not parts["slashes"] or not parts["authority"]:
        raise _refused(text, f"no host follows {scheme}://")
    if "@" in parts["authority"]:
        raise _refused(text, "it holds a user name before an @; leave that out")
    authority = _AUTHORITY.fullmatch(parts["authority"])
    if authority is None:
        raise _refused(text, "its host and port cannot be read")
    port = int(authority["port"] or DEFAULT_PORTS[scheme])
    _check_port(text, port)
    host, ip = _host(text, authority["name"], authority["ipv6"])
    query = f"?{quote(parts['query'], safe=_KEPT + '?')}" if parts["query"] else ""
    target = (quote(parts["path"], safe=_KEPT) or "/") + query
    if len(target) > MAX_URL_CHARS:
        raise _refused(text, f"its path has over {MAX_URL_CHARS} characters when it is escaped")
    return WebUrl(scheme=scheme, host=host, port=port, target=target, ip=ip)


def check_readable(text: str) -> None:
    """Refuse what readers drop or mend before they read an address, each in its own way.

    Raises:
        TransportError: `refused`.
    """
    if len(text) > MAX_URL_CHARS:
        raise _refused(text, f"it has {len(text)} characters, the limit is {MAX_URL_CHARS}")
    if found := _UNREADABLE.search(text):
        raise _refused(text, f"it holds {found.group()!r}; write that as a percent escape")


def _check_port(text: str, port: int) -> None:
    if port in OTHER_SERVICES:
        raise _refused(text, f"port {port} belongs to {OTHER_SERVICES[port]}, not to the web")
    if port not in (80, 443) and not 1024 <= port <= 65535:
        raise _refused(text, f"port {port} is not one of 80, 443 and 1024 to 65535")


def _host(
    text: str, name: str | None, ipv6: str | None
) -> tuple[str, IPv4Address | IPv6Address | None]:
    if name is None:
        try:
            address = IPv6Address(ipv6 or "")
        except ValueError:
            raise _refused(text, "what stands in brackets is no IPv6 address") from None
        return address.compressed, address
    host = _ascii(text, name).removesuffix(".")
    if not _NAME.fullmatch(host):
        raise _refused(text, "its host is no name that the web's directory can hold")
    if not _NUMBER.fullmatch(host.rpartition(".")[2]):
        return host, None
    # Octal, hexadecimal, short and single-number forms: readers differ in what they mean.
    try:
        return host, IPv4Address(host)
    except ValueError:
        raise _refused(
            text, "its host ends in a number and is no IPv4 address of four decimal numbers"
        ) from None


def _ascii(text: str, name: str) -> str:
    """The name as DNS knows it, mapped by the same code that the connection is made with."""
    if name.isascii():
        return name.lower()
    try:
        return URL.build(scheme="http", host=name).raw_host or ""
    except ValueError:
        raise _refused(text, "its host holds letters that no name has") from None


def _refused(text: str, why: str) -> TransportError:
    return TransportError("refused", f"{shown_url(text)!r} was not asked: {why}.")


def shown_url(text: str) -> str:
    """An address for messages: short, and without what may be secret in it."""
    shown = shown_address(text)
    return shown if len(shown) <= MAX_SHOWN_CHARS else shown[:MAX_SHOWN_CHARS] + "…"
