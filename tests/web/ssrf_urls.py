"""Addresses that must not be asked, each a different way to get at what is not public.

    ATTACKS            every attack; `url` is distinct
    attack.answers     what a name server says of the names in it: name -> addresses

Everything here is refused under default settings. With `web.allow_private_addresses` only what
`attack.is_private` says may be asked.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address

PUBLIC = "93.184.216.34"
PRIVATE = (
    "127.0.0.1",
    "127.0.0.53",
    "127.255.255.254",
    "10.0.0.1",
    "10.255.255.255",
    "172.16.0.1",
    "172.31.255.254",
    "192.168.0.1",
    "192.168.255.254",
)
"""What `web.allow_private_addresses` opens."""
NEVER = (
    "169.254.169.254",
    "169.254.0.1",
    "169.254.170.2",
    "100.64.0.1",
    "100.100.100.200",
    "100.127.255.254",
    "0.0.0.0",
    "0.1.2.3",
    "192.0.0.192",
    "192.0.2.1",
    "198.18.0.1",
    "198.19.255.254",
    "198.51.100.7",
    "203.0.113.9",
    "192.88.99.1",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "168.63.129.16",
)
IPV6_PRIVATE = ("::1", "fc00::1", "fd12:3456:789a::1", "fdff:ffff::1")
IPV6_NEVER = (
    "::",
    "::2",
    "fe80::1",
    "febf::1",
    "fe80::a9fe:a9fe",
    "fec0::1",
    "ff02::1",
    "ff05::1:3",
    "100::1",
    "2001:db8::1",
    "2001::1",
    "2001:2::1",
    "2001:10::1",
    "2001:20::1",
    "3fff::1",
    "4000::1",
    "5f00::1",
    "64:ff9b:1::1",
    "fd00:ec2::254",
    "fd20:ce::254",
    "fd00:42::42",
    "::ffff:0:0",
)


@dataclass(frozen=True, kw_only=True)
class Attack:
    family: str
    url: str
    answers: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    is_private: bool = False


def _ipv4_forms(address: str) -> Iterator[tuple[str, str]]:
    """The ways to write an IPv4 address in a URL: family and host."""
    a, b, c, d = (int(part) for part in address.split("."))
    whole = int(IPv4Address(address))
    yield "plain", address
    yield "plain", f"{address}."
    yield "decimal", str(whole)
    yield "hex", hex(whole)
    yield "hex", f"0X{whole:08X}"
    yield "octal", f"0{whole:o}"
    yield "hex", ".".join(hex(part) for part in (a, b, c, d))
    yield "octal", ".".join(f"0{part:o}" for part in (a, b, c, d))
    yield "octal", ".".join(f"0000{part:o}" for part in (a, b, c, d))
    yield "mixed", f"{hex(a)}.{b}.0{c:o}.{d}"
    yield "short", f"{a}.{b}.{c * 256 + d}"
    yield "short", f"{a}.{b * 65536 + c * 256 + d}"
    yield "long", f"{address}.0"
    yield "wide digits", "".join(chr(0xFF10 + int(x)) if x.isdigit() else x for x in address)
    yield "wide dots", address.replace(".", "\u3002")
    yield "wide dots", address.replace(".", "\uff0e")
    yield "wide dots", address.replace(".", "\uff61")
    yield "escaped", address.replace(".", "%2e")
    yield "escaped", "".join(f"%{ord(x):02x}" for x in address)
    yield "invisible", address.replace(".", "\u200b.", 1)
    yield "invisible", f"\u00ad{address}"


def _ipv6_forms(address: str) -> Iterator[tuple[str, str]]:
    """The ways in which an IPv6 address holds an IPv4 one."""
    whole = int(IPv4Address(address))
    high, low = whole >> 16, whole & 0xFFFF
    yield "mapped", f"[::ffff:{address}]"
    yield "mapped", f"[0:0:0:0:0:ffff:{high:x}:{low:x}]"
    yield "compatible", f"[::{address}]"
    yield "translated", f"[::ffff:0:{address}]"
    yield "nat64", f"[64:ff9b::{address}]"
    yield "nat64", f"[64:ff9b:0:0:0:0:{high:x}:{low:x}]"
    yield "nat64 local", f"[64:ff9b:1::{address}]"
    yield "6to4", f"[2002:{high:x}:{low:x}::1]"
    yield "teredo", f"[2001:0:4136:e378:8000:63bf:{high ^ 0xFFFF:x}:{low ^ 0xFFFF:x}]"
    yield "isatap", f"[2606:4700::5efe:{address}]"
    yield "isatap", f"[2606:4700::200:5efe:{high:x}:{low:x}]"


_STAYS_REFUSED = frozenset(
    ("compatible", "translated", "nat64 local", "6to4", "teredo")
    + ("decimal", "hex", "octal", "mixed", "short", "long", "escaped", "invisible")
)
"""Forms that are refused whatever they hold."""


def _literals() -> Iterator[Attack]:
    for address in PRIVATE + NEVER:
        for family, host in (*_ipv4_forms(address), *_ipv6_forms(address)):
            opens = address in PRIVATE and family not in _STAYS_REFUSED
            yield Attack(family=family, url=f"http://{host}/", is_private=opens)
        yield Attack(family="plain", url=f"https://{address}:8443/x", is_private=address in PRIVATE)
    for address in IPV6_PRIVATE + IPV6_NEVER:
        for host in dict.fromkeys((address, IPv6Address(address).exploded, address.upper())):
            yield Attack(family="ipv6", url=f"http://[{host}]/", is_private=address in IPV6_PRIVATE)
    for zone in ("%25eth0", "%25lo", "%eth0", "%251", "%25"):
        yield Attack(family="zone", url=f"http://[fe80::1{zone}]/")
        yield Attack(family="zone", url=f"http://[2606:4700::1{zone}]/")
    # Public, but not written as every reader reads it.
    for family, host in _ipv4_forms("8.8.4.4"):
        if family in _STAYS_REFUSED:
            yield Attack(family=family, url=f"http://{host}/public")


def _names() -> Iterator[Attack]:
    local = {"localhost": ["127.0.0.1", "::1"]}
    for host in (
        "localhost",
        "LOCALHOST",
        "localhost.",
        "\uff4c\uff4f\uff43alhost",
        "LocalHost:8080",
    ):
        yield Attack(family="name", url=f"http://{host}/", answers=local, is_private=True)
    for host in ("x.localhost", "router", "nas.local", "git.internal", "fritz.home.arpa", "pc.lan"):
        answers = {host: ["192.168.1.1"]}
        yield Attack(family="name", url=f"http://{host}/", answers=answers, is_private=True)
    for host in (
        "metadata.google.internal",
        "metadata",
        "instance-data",
        "METADATA.google.internal.",
    ):
        answers = {host.lower().rstrip("."): ["169.254.169.254"]}
        yield Attack(family="name", url=f"http://{host}/", answers=answers)


def _looked_up() -> Iterator[Attack]:
    """Names that look public and lead elsewhere, alone or beside a public address."""
    for address in PRIVATE + NEVER:
        opens = address in PRIVATE
        for suffix in ("nip.io", "sslip.io"):
            host = f"{address}.{suffix}"
            answers = {host: [address]}
            yield Attack(family="nip", url=f"http://{host}/", answers=answers, is_private=opens)
    for n, address in enumerate(PRIVATE + NEVER + IPV6_PRIVATE + IPV6_NEVER):
        opens = address in PRIVATE + IPV6_PRIVATE
        for kind, found in (
            ("alone", [address]),
            ("last", [PUBLIC, address]),
            ("first", [address, PUBLIC]),
        ):
            host = f"{kind}-{n}.attack.test"
            yield Attack(
                family="looked up",
                url=f"http://{host}/",
                answers={host: found},
                is_private=opens,
            )
    many = [PUBLIC] * 20 + ["169.254.169.254"]
    yield Attack(
        family="looked up", url="http://many.attack.test/", answers={"many.attack.test": many}
    )


def _spellings() -> Iterator[Attack]:
    for url in (
        "http://user@ok.test/",
        "http://user:password@ok.test/",
        "http://ok.test@127.0.0.1/",
        "http://127.0.0.1@ok.test/",
        "http://ok.test:80@169.254.169.254/",
        "http://@ok.test/",
        "http://:@ok.test/",
        "http://ok.test%40127.0.0.1/",
        "http://a@b@ok.test/",
        "http://ok.test\uff20127.0.0.1/",
    ):
        yield Attack(family="userinfo", url=url)
    for port in (*range(0, 80, 9), 21, 22, 23, 25, 53, 110, 143, 389, 445, 465, 587, 631, 993):
        yield Attack(family="port", url=f"http://ok.test:{port}/")
    for port in (
        1433,
        1521,
        2049,
        2375,
        2379,
        3306,
        3389,
        5432,
        5900,
        6000,
        6379,
        6667,
        10250,
        11211,
    ):
        yield Attack(family="port", url=f"http://ok.test:{port}/")
    for port in (
        "65536",
        "99999",
        "-1",
        "+80",
        "8o",
        "80:80",
        "",
        " 80",
        "80 ",
        "\uff18\uff10",
        "0x50",
    ):
        yield Attack(family="port", url=f"http://ok.test:{port}/")
    for scheme in (
        *("file", "FILE", "ftp", "gopher", "dict", "ldap", "sftp", "tftp", "ssh", "telnet", "smb"),
        *(
            "jar",
            "netdoc",
            "ws",
            "wss",
            "data",
            "javascript",
            "view-source",
            "about",
            "blob",
            "chrome",
        ),
        *("unix", "h2c", "httpx", "xhttp", "http+unix", "phar", "php", "expect", "mailto", "s3"),
    ):
        yield Attack(family="scheme", url=f"{scheme}://ok.test/")
    for url in (
        *(
            "file:///etc/hostname",
            "file:/etc/hostname",
            "FiLe:///etc/hostname",
            "file:etc/hostname",
        ),
        *(
            "data:text/html,<b>x</b>",
            "javascript:alert(1)",
            "//ok.test/",
            "/etc/hostname",
            "ok.test",
        ),
        *("http:ok.test", "http:/ok.test", "http:///ok.test", "http:////ok.test", "http//ok.test"),
        *("://ok.test", "http://", "http:", "http:///", "https://?x", "http://#x", ""),
        *("\\\\ok.test\\share", "C:\\Windows\\win.ini", "~/.ssh/id_rsa", "../../etc/hostname"),
    ):
        yield Attack(family="scheme", url=url)


def _characters() -> Iterator[Attack]:
    for char in (
        "\0",
        "\t",
        "\n",
        "\r",
        "\r\n",
        "\x0b",
        "\x1b",
        "\x7f",
        "\x85",
        "\\",
        "\u2028",
        "\ud800",
    ):
        yield Attack(family="character", url=f"http://ok.test{char}.evil.test/")
        yield Attack(family="character", url=f"http://ok.test/{char}x")
        yield Attack(family="character", url=f"http://ok.test/?q={char}x")
        yield Attack(family="character", url=f"ht{char}tp://ok.test/")
        yield Attack(family="character", url=f"http:/{char}/ok.test/")
        yield Attack(family="character", url=f"http://127.0.0.1{char}@ok.test/")
    for char in (
        " ",
        "\u00a0",
        "\u3000",
        "<",
        ">",
        '"',
        "^",
        "`",
        "{",
        "|",
        "}",
        "%",
        "[",
        "]",
        ";",
        "!",
        "$",
        "*",
        "(",
        ",",
    ):
        yield Attack(family="character", url=f"http://ok{char}evil.test/")
    for host in (
        *(
            "ok..test",
            ".ok.test",
            "ok.test..",
            ".",
            "..",
            "-ok.test",
            "ok-.test",
            "a" * 64 + ".test",
        ),
        *(
            ".".join(["abcdefgh"] * 30),
            "[::1",
            "::1]",
            "[::1]x",
            "[]",
            "[::g]",
            "[v1.x]",
            "[127.0.0.1]",
        ),
        *(
            "[1:2:3:4:5:6:7:8:9]",
            "1:2:3:4:5:6:7:8",
            "[[::1]]",
            "ok.test:1:2",
            "1.2.3",
            "1.2.3.4.5",
        ),
        *("256.0.0.1", "1.2.3.-4", "0x", "ok.0x7f", "ok.127", "1..2", "999999999999"),
    ):
        yield Attack(family="host", url=f"http://{host}/")
    for host in (
        *("ok\uff0f.test", "ok\uff1a80.test", "ok\uff03.test", "ok\uff1f.test", "\u2100.test"),
        *(
            "ok\u2488test.1",
            "ok\u202etest",
            "xn--\u00e4.test",
            "\U000e0041.test",
        ),
    ):
        yield Attack(family="idn", url=f"http://{host}/")
    yield Attack(family="idn", url="http://\u2460\u2461\u2466.0.0.1/", is_private=True)
    yield Attack(family="long", url="http://ok.test/" + "a" * 9_000)
    yield Attack(family="long", url="http://ok.test/" + "\u00e4" * 3_000)


ATTACKS = (*_literals(), *_names(), *_looked_up(), *_spellings(), *_characters())
