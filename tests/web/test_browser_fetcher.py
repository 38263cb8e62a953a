"""When a browser is asked, and what its page may ask for; with browsers that are scripted."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from inglenook.egress import Egress, OutgoingRequest
from inglenook.errors import LeaseLost, NotApproved
from inglenook.web.base import Page, PageError, TransportError, WebResponse
from inglenook.web.browser import ENOUGH_CHARS, MAX_REQUESTS, BrowserFetcher
from inglenook.web.tab import Answer, BrowserCookie, BrowserError, Kind, TabRequest
from inglenook.web.user_agents import OWN_NAME
from inglenook.web.visible_html import MAX_CHARS
from tests.web.browsing import PlainReader
from tests.web.wire import Ledger

URL = "https://site.test/"
HTML = WebResponse(status=200, headers={"content-type": "text/html"}, body=b"<html></html>")


@dataclass
class PlainFetcher:
    outcome: Page | PageError

    def request(self, url: str) -> OutgoingRequest:
        return OutgoingRequest(method="GET", url=url)

    async def fetch(self, url: str, *, egress: Egress) -> Page:
        if isinstance(self.outcome, PageError):
            raise self.outcome
        return self.outcome


@dataclass
class FixedTransport:
    answers: Mapping[str, WebResponse | Exception] = field(
        default_factory=dict[str, WebResponse | Exception]
    )
    sent: list[tuple[OutgoingRequest, Mapping[str, str]]] = field(
        default_factory=list[tuple[OutgoingRequest, Mapping[str, str]]]
    )
    limits: list[int] = field(default_factory=list[int])

    async def send(
        self,
        request: OutgoingRequest,
        *,
        headers: Mapping[str, str],
        egress: Egress,
        timeout_s: float,
        max_bytes: int,
    ) -> WebResponse:
        self.sent.append((request, headers))
        self.limits.append(max_bytes)
        found = self.answers.get(request.url, HTML)
        if isinstance(found, Exception):
            raise found
        return found


@dataclass
class ScriptedBrowser:
    """Asks for the page and then for `requests`; None among `told` is what failed."""

    requests: Sequence[TabRequest] = ()
    html: str = "<p>rendered</p>"
    fault: Exception | None = None
    told: list[WebResponse | None] = field(default_factory=list[WebResponse | None])
    opened: int = 0

    @asynccontextmanager
    async def tab(self) -> AsyncGenerator["ScriptedBrowser"]:
        self.opened += 1
        if self.fault:
            raise self.fault
        yield self

    async def read(self, url: str, *, cookies: Sequence[BrowserCookie], answer: Answer) -> str:
        for request in (asked(url, kind="page"), *self.requests):
            self.told.append(await answer(request))
        return self.html


def asked(
    url: str = URL + "x",
    *,
    kind: Kind = "data",
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
) -> TabRequest:
    return TabRequest(kind=kind, method=method, url=url, headers=headers or {})


def plain_page(text: str) -> Page:
    return Page(url=URL, title="T", text=text, fetched_at=datetime.now(UTC))


def fetcher(
    browser: ScriptedBrowser,
    transport: FixedTransport | None = None,
    plain: Page | PageError | None = None,
) -> BrowserFetcher:
    outcome = plain or plain_page("short")
    return BrowserFetcher(
        PlainFetcher(outcome), browser, transport or FixedTransport(), PlainReader()
    )


@pytest.mark.parametrize("fault", ["refused", "unreachable", "http_error", "too_large"])
async def test_what_a_browser_cannot_mend_is_not_tried_with_one(fault: str) -> None:
    browser = ScriptedBrowser()
    failed = PageError(fault, "why")  # pyright: ignore[reportArgumentType]
    with pytest.raises(PageError, match="why"):
        await fetcher(browser, plain=failed).fetch(URL, egress=Ledger())
    assert browser.opened == 0


@pytest.mark.parametrize(
    ("plain", "is_opened"),
    [
        (plain_page("x" * ENOUGH_CHARS), False),
        (plain_page("x" * (ENOUGH_CHARS - 1)), True),
        (PageError("not_readable", "empty"), True),
        (PageError("blocked_by_site", "a check"), True),
    ],
)
async def test_a_browser_is_asked_where_the_plain_page_says_too_little(
    plain: Page | PageError, is_opened: bool
) -> None:
    browser = ScriptedBrowser()
    read = await fetcher(browser, plain=plain).fetch(URL, egress=Ledger())
    assert browser.opened == int(is_opened)
    assert (read.text == "<p>rendered</p>") is is_opened


@pytest.mark.parametrize(
    ("kind", "method", "is_sent"),
    [
        ("script", "GET", True),
        ("style", "GET", True),
        ("data", "POST", True),
        ("data", "OPTIONS", True),
        ("data", "DELETE", False),
        ("data", "PUT", False),
        ("other", "GET", False),
    ],
)
async def test_only_what_text_needs_is_sent(kind: Kind, method: str, is_sent: bool) -> None:
    transport = FixedTransport()
    browser = ScriptedBrowser([asked(kind=kind, method=method)])
    await fetcher(browser, transport).fetch(URL, egress=Ledger())
    assert [request.method for request, _ in transport.sent] == ["GET"] + [method] * is_sent
    assert (browser.told[1] is not None) is is_sent


async def test_a_stream_that_never_ends_is_not_opened() -> None:
    transport = FixedTransport()
    browser = ScriptedBrowser([asked(headers={"Accept": "text/event-stream"})])
    await fetcher(browser, transport).fetch(URL, egress=Ledger())
    assert len(transport.sent) == 1


async def test_headers_of_the_connection_and_our_name_are_ours() -> None:
    transport = FixedTransport()
    wiki = "https://de.wikipedia.org/"
    mine = {"User-Agent": "Firefox", "Host": "evil", "Accept-Encoding": "zstd", "X-A": "b"}
    browser = ScriptedBrowser([asked(headers=mine), asked(wiki, headers=mine)])
    await fetcher(browser, transport).fetch(URL, egress=Ledger())
    assert transport.sent[1][1] == {"User-Agent": "Firefox", "X-A": "b"}
    assert transport.sent[2][1] == {"User-Agent": OWN_NAME, "X-A": "b"}


async def test_a_page_is_confined_and_its_answers_are_told_decompressed() -> None:
    headers = {
        "content-type": "text/html",
        "content-encoding": "gzip",
        "content-length": "9",
        "content-security-policy": "script-src 'self'",
        "x-a": "b",
    }
    transport = FixedTransport({URL: WebResponse(status=200, headers=headers, body=b"<p>")})
    browser = ScriptedBrowser()
    await fetcher(browser, transport).fetch(URL, egress=Ledger())
    (told,) = browser.told
    assert told is not None
    assert set(told.headers) == {"content-type", "content-security-policy", "x-a"}
    policies = told.headers["content-security-policy"].split(", ")
    assert policies[0] == "script-src 'self'"
    assert policies[1].startswith("sandbox allow-scripts")


async def test_a_page_that_asks_without_end_is_cut_off() -> None:
    transport = FixedTransport()
    browser = ScriptedBrowser([asked()] * (MAX_REQUESTS + 50))
    await fetcher(browser, transport).fetch(URL, egress=Ledger())
    assert len(transport.sent) == MAX_REQUESTS


async def test_all_of_a_page_together_has_a_limit() -> None:
    big = WebResponse(status=200, headers={}, body=b"x" * (9 << 20))
    transport = FixedTransport({URL + "x": big})
    browser = ScriptedBrowser([asked()] * 5)
    await fetcher(browser, transport).fetch(URL, egress=Ledger())
    assert transport.limits[:4] == [10 << 20] * 4
    assert transport.limits[4] < 4 << 20
    assert len(transport.sent) == 5


@pytest.mark.parametrize("error", [TransportError("refused", "no"), NotApproved("no")])
async def test_a_part_that_cannot_be_had_fails_in_the_page_alone(error: Exception) -> None:
    browser = ScriptedBrowser([asked(), asked(URL + "y")])
    transport = FixedTransport({URL + "x": error})
    read = await fetcher(browser, transport).fetch(URL, egress=Ledger())
    assert read.text == "<p>rendered</p>"
    assert browser.told[1] is None
    assert browser.told[2] is not None


async def test_a_run_that_may_send_no_more_ends_the_page() -> None:
    browser = ScriptedBrowser([asked()])
    transport = FixedTransport({URL + "x": LeaseLost("gone")})
    with pytest.raises(LeaseLost):
        await fetcher(browser, transport).fetch(URL, egress=Ledger())


EMPTY = PageError("not_readable", "it has no text without its scripts.")


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (TransportError("unreachable", "gone"), "unreachable"),
        (WebResponse(status=403, headers={"content-type": "text/html"}, body=b""), "http_error"),
    ],
)
async def test_a_page_that_the_browser_cannot_have_says_why(
    answer: WebResponse | Exception, fault: str
) -> None:
    with pytest.raises(PageError) as failed:
        await fetcher(ScriptedBrowser(), FixedTransport({URL: answer}), EMPTY).fetch(
            URL, egress=Ledger()
        )
    assert failed.value.fault == fault


async def test_what_is_no_page_keeps_the_first_reason() -> None:
    image = WebResponse(status=200, headers={"content-type": "image/png"}, body=b"x")
    with pytest.raises(PageError, match="no text without its scripts"):
        await fetcher(ScriptedBrowser(), FixedTransport({URL: image}), EMPTY).fetch(
            URL, egress=Ledger()
        )


async def test_a_page_that_grows_without_end_is_too_large() -> None:
    browser = ScriptedBrowser(html="x" * (MAX_CHARS + 1))
    with pytest.raises(PageError) as failed:
        await fetcher(browser, plain=EMPTY).fetch(URL, egress=Ledger())
    assert failed.value.fault == "too_large"


async def test_without_a_browser_the_first_reason_stands_and_says_so() -> None:
    browser = ScriptedBrowser(fault=BrowserError("no Chromium was found."))
    with pytest.raises(PageError, match=r"without its scripts\. .*: no Chromium was found\."):
        await fetcher(browser, plain=EMPTY).fetch(URL, egress=Ledger())
    read = await fetcher(browser, plain=plain_page("short")).fetch(URL, egress=Ledger())
    assert read.text == "short"


async def test_the_page_is_named_where_the_tab_ended() -> None:
    moved = "https://site.test/welcome?x=1"
    browser = ScriptedBrowser([asked(moved, kind="page")])
    assert (await fetcher(browser).fetch(URL, egress=Ledger())).url == moved
