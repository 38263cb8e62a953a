"""What may be asked: how a URL is read and which addresses are judged to be public."""

from ipaddress import ip_address
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from inglenook.egress import OutgoingRequest
from inglenook.web.addresses import AddressPolicy, Origin
from inglenook.web.base import TransportError
from inglenook.web.urls import MAX_URL_CHARS, parse_url
from tests.web.ssrf_urls import IPV6_NEVER, IPV6_PRIVATE, NEVER, PRIVATE


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("http://ok.test", "http://ok.test/"),
        ("HTTPS://OK.Test:443/A", "https://ok.test/A"),
        ("http://ok.test:80/", "http://ok.test/"),
        ("https://ok.test:80/", "https://ok.test:80/"),
        ("http://ok.test./x#part", "http://ok.test/x"),
        ("http://ok.test?q=1", "http://ok.test/?q=1"),
        ("http://ok.test/?", "http://ok.test/"),
        ("http://ok.test/a b/\u00e4?q=\u00fc&x[]=1", "http://ok.test/a%20b/%C3%A4?q=%C3%BC&x[]=1"),
        ("http://ok.test/a%2Fb%zz/..;p=1", "http://ok.test/a%2Fb%zz/..;p=1"),
        ("http://b\u00fccher.example/", "http://xn--bcher-kva.example/"),
        ("http://stra\u00dfe.example/", "http://xn--strae-oqa.example/"),
        ("http://\u043f\u0440\u0438\u043c\u0435\u0440.example/", "http://xn--e1afmkfd.example/"),
        ("http://r3---sn-x.under_score.test/", "http://r3---sn-x.under_score.test/"),
        ("http://[2606:4700:0:0::1111]:8080/", "http://[2606:4700::1111]:8080/"),
    ],
)
def test_a_url_is_read_into_the_one_form_that_is_sent(text: str, sent: str) -> None:
    assert parse_url(text).url == sent


@given(st.text(st.characters(exclude_characters="#"), max_size=40))
def test_the_form_that_is_sent_is_read_as_itself(rest: str) -> None:
    for text in (f"http://ok.test/{rest}", f"https://ok.test{rest}"):
        try:
            url = parse_url(text)
        except TransportError:
            continue
        assert url.url.isascii()
        assert parse_url(url.url) == url


@given(st.text(max_size=20), st.text(max_size=20))
def test_every_reader_of_that_form_sees_one_host_and_port(host: str, rest: str) -> None:
    for text in (f"http://{host}.test/{rest}", f"https://{host}", f"http://{host}:8080{rest}"):
        try:
            url = parse_url(text)
        except TransportError:
            continue
        connected, recorded = URL(url.url, encoded=True), urlsplit(url.url)
        assert (connected.raw_host, connected.port) == url.origin
        assert recorded.hostname == url.host
        assert (recorded.port or connected.port) == url.port
        assert connected.raw_path_qs == url.target
        assert OutgoingRequest(method="GET", url=url.url).path == url.target


@pytest.mark.parametrize("text", ["file:///etc/hostname", "http://a.test:22/", "http://0x7f.1/"])
def test_what_cannot_be_asked_says_why(text: str) -> None:
    with pytest.raises(TransportError, match=r"was not asked: \w+") as refusal:
        parse_url(text)
    assert refusal.value.fault == "refused"


def test_refusals_repeat_no_password_and_no_query() -> None:
    with pytest.raises(TransportError) as refusal:
        parse_url("http://anna:geheim@ok.test/x?token=hush")
    assert "geheim" not in str(refusal.value)
    assert "hush" not in str(refusal.value)


def test_a_url_that_is_too_long_is_refused_with_both_numbers() -> None:
    with pytest.raises(TransportError, match=f"{MAX_URL_CHARS + 1} .* {MAX_URL_CHARS}"):
        parse_url("http://ok.test/".ljust(MAX_URL_CHARS + 1, "a"))


def _is_allowed(host: str, policy: AddressPolicy, port: int = 80) -> bool:
    written = f"[{host}]" if ":" in host else host
    try:
        policy.check_url(parse_url(f"http://{written}:{port}/"))
    except TransportError:
        return False
    return True


PUBLIC = (
    *("1.1.1.1", "8.8.8.8", "93.184.216.34", "9.255.255.255", "11.0.0.0", "100.63.255.255"),
    *("100.128.0.0", "126.255.255.255", "128.0.0.0", "169.253.255.255", "169.255.0.0"),
    *("172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0", "198.17.255.255"),
    *("198.20.0.0", "223.255.255.1", "2606:4700::1111", "2a00:1450::1", "64:ff9b::808:808"),
    *("::ffff:8.8.8.8", "2001:4860::8888"),
)
"""Among them the neighbours of each range that is not."""


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_may_be_asked(address: str) -> None:
    assert _is_allowed(address, AddressPolicy())


@pytest.mark.parametrize("address", PRIVATE + IPV6_PRIVATE)
def test_private_addresses_take_the_operators_word(address: str) -> None:
    assert not _is_allowed(address, AddressPolicy())
    assert _is_allowed(address, AddressPolicy(allow_private=True))


@pytest.mark.parametrize("address", NEVER + IPV6_NEVER)
def test_link_local_metadata_multicast_and_reserved_addresses_stay_refused(address: str) -> None:
    assert not _is_allowed(address, AddressPolicy(allow_private=True))


@given(st.ip_addresses())
def test_our_table_lets_nothing_through_that_python_knows_as_special(address: object) -> None:
    ip = ip_address(str(address))
    if _is_allowed(str(ip), AddressPolicy()) and ip.version == 4:
        assert ip.is_global
        assert not ip.is_multicast


@pytest.mark.parametrize(
    ("forbidden", "asked", "is_allowed"),
    [
        (("127.0.0.1", 8420), "127.0.0.1", False),
        (("127.0.0.1", 8420), "127.0.0.9", False),
        (("127.0.0.1", 8420), "::1", False),
        (("127.0.0.1", 8420), "::ffff:127.0.0.1", False),
        (("127.0.0.1", 8420), "192.168.0.5", True),
        (("localhost", 8420), "127.0.0.1", False),
        (("0.0.0.0", 8420), "192.168.0.5", False),
        (("::", 8420), "10.0.0.1", False),
        (("192.168.0.5", 8420), "192.168.0.5", False),
        (("192.168.0.5", 8420), "192.168.0.6", True),
        (("127.0.0.1", 8421), "127.0.0.1", True),
        (("models.example", 8420), "models.example", False),
        (("models.example", 8420), "MODELS.example.", False),
    ],
)
def test_our_own_servers_are_never_read_from(
    forbidden: Origin, asked: str, is_allowed: bool
) -> None:
    policy = AddressPolicy(allow_private=True, forbidden=frozenset({forbidden}))
    assert _is_allowed(asked, policy, 8420) is is_allowed


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1.nip.io",
        "app-10-0-0-1.sslip.io",
        "169.254.169.254.nip.io",
        "www.192.168.1.1.xip.test",
        "a-192-168-0-7.b.test",
    ],
)
def test_a_name_that_spells_a_private_address_is_refused_before_it_is_looked_up(host: str) -> None:
    with pytest.raises(TransportError, match="names an address") as raised:
        AddressPolicy().check_url(parse_url(f"http://{host}/"))
    assert raised.value.fault == "refused"


@pytest.mark.parametrize(
    "host", ["8.8.8.8.nip.io", "v10-0-0-1x.test", "release-2-10.test", "ip-8-8-4-4.isp.test"]
)
def test_a_name_that_spells_a_public_address_or_none_is_a_name(host: str) -> None:
    AddressPolicy().check_url(parse_url(f"http://{host}/"))
