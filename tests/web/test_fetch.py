"""Pages over their redirects: each hop judged, recorded and bounded; failures typed."""

import re
from asyncio import StreamWriter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import pytest

from inglenook.errors import NotApproved
from inglenook.web.addresses import AddressPolicy
from inglenook.web.base import PageError, PageFault, PageText, WebResponse
from inglenook.web.fetch import MAX_PAGE_BYTES, MAX_REDIRECTS, WebFetcher
from inglenook.web.http import HttpTransport
from tests.web.ssrf_urls import ATTACKS, Attack
from tests.web.wire import Ledger, Names, RawServer, answer, recorded_dials

LOCAL = AddressPolicy(allow_private=True)
NAMES = {"ok.test": ["127.0.0.1"], "other.test": ["127.0.0.1"], "en.wikipedia.org": ["127.0.0.1"]}


class WholeBody:
    """A reader that shows what it was given."""

    async def read(self, response: WebResponse, url: str) -> PageText:
        return PageText(title=url, text=response.body.decode())


def fetcher(policy: AddressPolicy = LOCAL, *, trusted: Sequence[str] = ()) -> WebFetcher:
    transport = HttpTransport(policy, resolver=Names(NAMES), trusted=trusted)
    return WebFetcher(transport, WholeBody(), policy)


class Site(RawServer):
    """Answers by the request's target; `url` is its address under a name."""

    def __init__(self, pages: Callable[[str], bytes] | dict[str, bytes]) -> None:
        async def serve(head: bytes, writer: StreamWriter) -> None:
            target = head.split(b" ", 2)[1].decode()
            page = pages(target) if callable(pages) else pages.get(target, answer("404 Not Found"))
            writer.write(page)

        super().__init__(serve)

    def url(self, path: str = "/", host: str = "ok.test") -> str:
        return f"http://{host}:{self.port}{path}"


def to(location: str, status: int = 302) -> bytes:
    head = f"HTTP/1.1 {status} Found\r\nContent-Length: 0\r\nLocation: "
    return head.encode() + location.encode("utf-8", "surrogatepass") + b"\r\n\r\n"


async def fault(
    url: str, *, of: WebFetcher | None = None, egress: Ledger | None = None
) -> PageError:
    with pytest.raises(PageError) as raised:
        await (of or fetcher()).fetch(url, egress=egress or Ledger())
    return raised.value


async def test_a_page_is_read_with_the_time_of_its_request() -> None:
    before = datetime.now(UTC)
    async with Site({"/a": answer("200 OK", b"text")}) as site:
        page = await fetcher().fetch(f" {site.url('/a')}#part\n", egress=Ledger())
        assert (page.url, page.title, page.text) == (site.url("/a"), site.url("/a"), "text")
    assert before <= page.fetched_at <= datetime.now(UTC)
    assert not page.is_cached


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    "location", ["/b?x=1", "b?x=1", "//other.test:{port}/b?x=1", "./a/../b?x=1#y"]
)
async def test_redirects_are_followed_and_each_is_a_request_of_its_own(
    status: int, location: str
) -> None:
    ledger = Ledger()
    pages: dict[str, bytes] = {"/b?x=1": answer("200 OK", b"there")}
    async with Site(pages) as site:
        pages["/a"] = to(location.format(port=site.port), status)
        page = await fetcher().fetch(site.url("/a"), egress=ledger)
        host = "other.test" if "other" in location else "ok.test"
        assert page.url == site.url("/b?x=1", host)
    assert page.text == "there"
    assert ledger.started_urls == [site.url("/a"), page.url]
    assert [entry.status for entry in ledger.entries] == [status, 200]
    assert {head.split(b" ")[0] for head in site.heads} == {b"GET"}


async def test_letters_and_spaces_in_a_redirect_are_escaped() -> None:
    pages = {"/a": to("/\u00fc b"), "/%C3%BC%20b": answer("200 OK", b"there")}
    async with Site(pages) as site:
        assert (await fetcher().fetch(site.url("/a"), egress=Ledger())).text == "there"


async def test_ten_redirects_are_followed_and_the_eleventh_is_refused() -> None:
    def chain(target: str) -> bytes:
        n = int(target.strip("/"))
        return to(f"/{n + 1}") if n < limit else answer("200 OK", b"end")

    limit = MAX_REDIRECTS
    async with Site(chain) as site:
        assert (await fetcher().fetch(site.url("/0"), egress=Ledger())).text == "end"
        limit += 1
        error = await fault(site.url("/0"))
    assert error.fault == "refused"
    assert "more than 10 times" in str(error)
    assert len(site.heads) == 2 * (MAX_REDIRECTS + 1)


async def test_a_circle_of_redirects_ends_where_it_closes() -> None:
    async with Site({"/a": to("/b"), "/b": to("/a#x")}) as site:
        error = await fault(site.url("/a"))
    assert error.fault == "refused"
    assert "in a circle" in str(error)
    assert len(site.heads) == 2


@pytest.mark.parametrize(
    "location", ["http://[", "http://ok.test:0/", "file:///etc/hostname", "ok.test:80", "\ud800"]
)
async def test_a_redirect_to_what_is_no_web_address_is_refused(location: str) -> None:
    async with Site({"/a": to(location)}) as site:
        error = await fault(site.url("/a"))
    assert error.fault == "refused"
    assert "redirects to" in str(error)


async def test_a_redirect_without_a_target_is_an_error_of_the_server() -> None:
    async with Site({"/a": answer("302 Found")}) as site:
        assert (await fault(site.url("/a"))).fault == "http_error"


async def test_a_redirect_that_was_not_approved_is_not_asked() -> None:
    async with Site({"/a": to("/b"), "/b": answer("200 OK", b"there")}) as site:
        each = fetcher()
        ledger = Ledger(frozenset({each.request(site.url("/a")).sha256}))
        with pytest.raises(NotApproved, match="/b was not approved"):
            await each.fetch(site.url("/a"), egress=ledger)
    assert site.targets == ["/a"]


async def test_refresh_in_a_page_or_header_is_not_followed() -> None:
    body = b'<meta http-equiv="refresh" content="0; url=/b"><script>location = "/b"</script>'
    async with Site({"/a": answer("200 OK", body, "Refresh: 0; url=/b")}) as site:
        await fetcher().fetch(site.url("/a"), egress=Ledger())
    assert site.targets == ["/a"]


@pytest.mark.parametrize(
    ("status", "meaning"),
    [(401, "login"), (403, "let this machine"), (404, "no such page"), (429, "too many requests")]
    + [(503, "overloaded"), (500, "status 500"), (204, "status 204"), (304, "status 304")],
)
async def test_a_status_without_a_page_is_told_with_its_meaning(status: int, meaning: str) -> None:
    async with Site({"/a": answer(f"{status} X", b"" if status in (204, 304) else b"no")}) as site:
        error = await fault(site.url("/a"))
    assert error.fault == "http_error"
    assert meaning in str(error)


class KnowsWalls(WholeBody):
    async def read(self, response: WebResponse, url: str) -> PageText:
        if b"Just a moment" in response.body:
            raise PageError("blocked_by_site", "a wall")
        raise PageError("not_readable", "no page")


@pytest.mark.parametrize("status", [403, 503])
@pytest.mark.parametrize(
    ("body", "expected"), [(b"Just a moment...", "blocked_by_site"), (b"\0", "http_error")]
)
async def test_a_wall_is_seen_behind_a_status_of_its_own(
    status: int, body: bytes, expected: PageFault
) -> None:
    transport = HttpTransport(LOCAL, resolver=Names(NAMES))
    async with Site({"/a": answer(f"{status} X", body)}) as site:
        error = await fault(site.url("/a"), of=WebFetcher(transport, KnowsWalls(), LOCAL))
    assert error.fault == expected


async def test_a_page_over_the_limit_is_too_large() -> None:
    async with Site({"/a": answer("200 OK", bytes(MAX_PAGE_BYTES + 1))}) as site:
        assert (await fault(site.url("/a"))).fault == "too_large"


async def test_a_host_without_an_address_is_unreachable() -> None:
    error = await fault("http://nowhere.test/")
    assert error.fault == "unreachable"
    assert "nowhere.test" in str(error)


async def test_all_redirects_share_one_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inglenook.web.fetch.TIMEOUT_S", 0.0)
    async with Site({"/a": answer("200 OK")}) as site:
        assert (await fault(site.url("/a"))).fault == "unreachable"
    assert site.heads == []


@pytest.mark.parametrize(
    ("host", "name"),
    [("ok.test", b"Firefox/148.0"), ("en.wikipedia.org", b"Inglenook/")],
)
async def test_services_that_ask_for_it_get_our_own_name(host: str, name: bytes) -> None:
    async with Site({"/a": answer("200 OK")}) as site:
        await fetcher().fetch(site.url("/a", host), egress=Ledger())
    [agent] = [line for line in site.heads[0].split(b"\r\n") if line.startswith(b"User-Agent:")]
    assert name in agent


async def test_cookies_are_asked_for_at_each_hop() -> None:
    asked: list[str] = []

    def cookies(url: str) -> str | None:
        asked.append(url)
        return "a=1" if url.endswith("/b") else None

    async with Site({"/a": to("/b"), "/b": answer("200 OK")}) as site:
        transport = HttpTransport(LOCAL, resolver=Names(NAMES))
        each = WebFetcher(transport, WholeBody(), LOCAL, cookies_for=cookies)
        await each.fetch(site.url("/a"), egress=Ledger())
        assert asked == [site.url("/a"), site.url("/b")]
    assert [b"Cookie: a=1" in head for head in site.heads] == [False, True]


@pytest.mark.parametrize(
    "url", ["http://169.254.169.254/", "http://localhost/", "FILE:///etc/hostname", "ok.test"]
)
def test_what_may_not_be_asked_is_refused_before_anybody_is_asked_to_approve_it(url: str) -> None:
    with pytest.raises(PageError) as raised:
        fetcher(AddressPolicy()).request(url)
    expected: PageFault = "refused"
    assert raised.value.fault == expected


# --- the corpus


def test_the_corpus_is_large_and_its_attacks_distinct() -> None:
    assert len({attack.url for attack in ATTACKS}) == len(ATTACKS) >= 400


async def _is_refused(attack: Attack, policy: AddressPolicy) -> bool:
    names = Names({"ok.test": ["93.184.216.34"], **attack.answers})
    ledger = Ledger()
    each = WebFetcher(HttpTransport(policy, resolver=names), WholeBody(), policy)
    error = await fault(attack.url, of=each, egress=ledger)
    return error.fault == "refused" and not ledger.started_urls


@pytest.mark.parametrize("family", sorted({attack.family for attack in ATTACKS}))
async def test_every_attack_is_refused_before_a_connection_or_a_record(family: str) -> None:
    with recorded_dials() as dials:
        for attack in ATTACKS:
            if attack.family == family:
                assert await _is_refused(attack, AddressPolicy()), attack
                assert attack.is_private or await _is_refused(attack, LOCAL), attack
    assert dials == []


async def test_every_attack_is_refused_as_the_target_of_a_redirect() -> None:
    # Those that a header can hold and that are no path of the site itself.
    sendable = [each for each in ATTACKS if re.fullmatch(r"\w+://[^/\r\n\0][^\r\n\0]*", each.url)]
    async with Site(lambda target: to(sendable[int(target.strip("/"))].url)) as site:
        answers = {name: found for each in ATTACKS for name, found in each.answers.items()}
        names = Names({**answers, **NAMES})
        policy = AddressPolicy()
        transport = HttpTransport(policy, resolver=names, trusted=[site.url()])
        each = WebFetcher(transport, WholeBody(), policy)
        with recorded_dials() as dials:
            for n, attack in enumerate(sendable):
                ledger = Ledger()
                error = await fault(site.url(f"/{n}"), of=each, egress=ledger)
                assert ledger.started_urls == [site.url(f"/{n}")], attack
                assert error.fault == "refused", attack
    assert set(dials) == {str(("127.0.0.1", site.port))}
    assert len(dials) == len(sendable) >= 400


async def test_the_recorder_sees_a_connection_where_one_is_made() -> None:
    async with Site({"/": answer("200 OK")}) as site:
        with recorded_dials() as dials:
            await fetcher().fetch(site.url(), egress=Ledger())
    assert dials == [str(("127.0.0.1", site.port))]
