"""BrowserFetcher: pages that need JavaScript, read with the user's own browser; opt-in.

A page is read without the browser first. The browser is asked only where that gave too little text,
nothing readable or a bot check. Every request of the page goes over our transport and is on the
ledger; the text is found by the same reader, so a wall in the browser is a wall.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from email.message import Message as Headers

from inglenook.egress import Egress, OutgoingRequest
from inglenook.errors import NotApproved
from inglenook.web.base import (
    Fetcher,
    Page,
    PageError,
    PageReader,
    TransportError,
    WebResponse,
    WebTransport,
)
from inglenook.web.tab import Browser, BrowserCookie, BrowserError, TabRequest
from inglenook.web.urls import parse_url, shown_url
from inglenook.web.user_agents import OWN_NAME, user_agent_for
from inglenook.web.visible_html import MAX_CHARS

log = logging.getLogger(__name__)

DEADLINE_S = 30.0
"""For a page with all it loads, the start of the browser included."""
REQUEST_TIMEOUT_S = 10.0
MAX_BYTES = 10 * 1024 * 1024
"""Of one answer."""
MAX_PAGE_BYTES = 30 * 1024 * 1024
"""Of a page with all it loads."""
MAX_REQUESTS = 150
MAX_AT_ONCE = 8
"""Requests of one page under way together."""
MAX_BROWSERS = 2
"""At the same time; each takes some 300 MB."""
ENOUGH_CHARS = 200
"""A page with less text than this is asked for again, with the browser."""
METHODS = ("GET", "HEAD", "OPTIONS", "POST")
HTML_TYPES = ("text/html", "application/xhtml+xml")
OURS = frozenset(
    ("accept-encoding", "connection", "content-length", "host", "keep-alive", "proxy-connection")
) | {"te", "transfer-encoding", "upgrade"}
"""Headers of a request that belong to the connection, which is the transport's."""
SPENT = ("content-encoding", "content-length", "transfer-encoding", "connection", "keep-alive")
"""Headers of an answer that are no longer true of its decompressed body."""
CONFINED = "sandbox allow-scripts allow-same-origin allow-forms; frame-src 'none'"
"""No windows, downloads, dialogs and frames.
https://www.w3.org/TR/CSP3/#directive-sandbox"""


class NoWebPage(PageError):
    """It is a file of another kind; a browser would store it."""


CookiesOf = Callable[[str], Sequence[BrowserCookie]]
"""The user's cookies for the site of a URL, where they listed it."""


def no_browser_cookies(url: str) -> Sequence[BrowserCookie]:
    return ()


class BrowserFetcher:
    def __init__(
        self,
        plain: Fetcher,
        browser: Browser,
        transport: WebTransport,
        reader: PageReader,
        *,
        cookies_of: CookiesOf = no_browser_cookies,
    ) -> None:
        """`transport` is one that pages are read over: with the address policy and without trusted
        servers."""
        self._plain = plain
        self._browser = browser
        self._transport = transport
        self._reader = reader
        self._cookies_of = cookies_of
        self._turn = asyncio.Semaphore(MAX_BROWSERS)

    def request(self, url: str) -> OutgoingRequest:
        return self._plain.request(url)

    async def fetch(self, url: str, *, egress: Egress) -> Page:
        try:
            page = await self._plain.fetch(url, egress=egress)
        except PageError as error:
            if error.fault not in ("blocked_by_site", "not_readable"):
                raise
            return await self._instead(url, egress, error)
        if len(page.text) >= ENOUGH_CHARS:
            return page
        return await self._seen(page, egress)

    async def _instead(self, url: str, egress: Egress, failed: PageError) -> Page:
        """Raises:
        PageError: The browser did not read it either.
        """
        try:
            return await self._fetch_in_browser(self.request(url), egress)
        except NoWebPage as error:
            raise failed from error
        except BrowserError as error:
            log.warning("no browser for %s: %s", shown_url(url), error)
            raise PageError(
                failed.fault, f"{failed} A browser might read it, but cannot be used: {error}"
            ) from error

    async def _seen(self, page: Page, egress: Egress) -> Page:
        """What the browser sees there; `page` where it sees nothing."""
        try:
            return await self._fetch_in_browser(self.request(page.url), egress)
        except (PageError, BrowserError, NotApproved) as error:
            log.warning("%s was read without a browser: %s", shown_url(page.url), error)
            return page

    async def _fetch_in_browser(self, request: OutgoingRequest, egress: Egress) -> Page:
        """Raises:
        PageError: The page was not read.
        BrowserError: There is no browser, or it did not work.
        NotApproved: `egress` refused the page itself.
        """
        fetched_at = datetime.now(UTC)
        visit = Visit(request.url, self._transport, egress)
        async with self._turn:
            try:
                async with asyncio.timeout(DEADLINE_S), self._browser.tab() as tab:
                    html = await tab.read(
                        request.url, cookies=self._cookies_of(request.url), answer=visit.answer
                    )
            except TimeoutError:
                raise PageError(
                    "unreachable",
                    f"{request.host} gave no page to the browser within {DEADLINE_S:g} s.",
                ) from None
        read = await self._reader.read(visit.rendered(html), visit.url)
        return Page(url=visit.url, title=read.title, text=read.text, fetched_at=fetched_at)


class Visit:
    """What one tab asks for, and what it is told."""

    def __init__(self, url: str, transport: WebTransport, egress: Egress) -> None:
        self.url = url
        """Where the tab is."""
        self._status = 0
        self._transport = transport
        self._egress = egress
        self._asked = 0
        self._bytes_in = 0
        self._slots = asyncio.Semaphore(MAX_AT_ONCE)

    async def answer(self, asked: TabRequest) -> WebResponse | None:
        """Raises:
        PageError: The page itself cannot be had.
        NotApproved: The page itself was not approved.
        LeaseLost, StoreError: Nothing more may be sent.
        """
        self._asked += 1
        is_spent = self._asked > MAX_REQUESTS or self._bytes_in >= MAX_PAGE_BYTES
        if is_spent or not _is_needed(asked):
            return None
        is_page = asked.kind == "page"
        try:
            async with self._slots:
                response = await self._send(asked)
        except TransportError as error:
            if is_page:
                raise PageError(error.fault, str(error)) from error
            return None
        except NotApproved:
            if is_page:
                raise
            return None
        self._bytes_in += len(response.body)
        return self._as_page(asked, response) if is_page else _whole(response)

    async def _send(self, asked: TabRequest) -> WebResponse:
        url = parse_url(asked.url)
        headers = {name: value for name, value in asked.headers.items() if name.lower() not in OURS}
        if user_agent_for(url.host) == OWN_NAME:
            headers = {k: v for k, v in headers.items() if k.lower() != "user-agent"}
            headers["User-Agent"] = OWN_NAME
        return await self._transport.send(
            OutgoingRequest(method=asked.method, url=url.url, body=asked.body),
            headers=headers,
            egress=self._egress,
            timeout_s=REQUEST_TIMEOUT_S,
            max_bytes=min(MAX_BYTES, max(1, MAX_PAGE_BYTES - self._bytes_in)),
        )

    def _as_page(self, asked: TabRequest, response: WebResponse) -> WebResponse:
        if 300 <= response.status < 400:
            return _whole(response)
        self.url, self._status = parse_url(asked.url).url, response.status
        if _media_type(response) not in HTML_TYPES:
            raise NoWebPage(
                "not_readable", f"{shown_url(self.url)} is no web page that a browser shows."
            )
        policy = response.headers.get("content-security-policy")
        confined = f"{policy}, {CONFINED}" if policy else CONFINED
        return _whole(response, {"content-security-policy": confined})

    def rendered(self, html: str) -> WebResponse:
        """The page as its scripts made it, for the reader.

        Raises:
            PageError: `http_error` or `too_large`.
        """
        if self._status not in (200, 203):
            raise PageError(
                "http_error",
                f"{shown_url(self.url)} answered a browser with HTTP status {self._status}. "
                "Use another source; asking again will not help now.",
            )
        if len(html) > MAX_CHARS:
            raise PageError(
                "too_large",
                f"{shown_url(self.url)} grew over {MAX_CHARS:,} characters in the browser.",
            )
        return WebResponse(
            status=self._status,
            headers={"content-type": "text/html; charset=utf-8"},
            body=html.encode("utf-8", errors="replace"),
        )


def _is_needed(asked: TabRequest) -> bool:
    accepted = next((v for k, v in asked.headers.items() if k.lower() == "accept"), "")
    is_endless = "text/event-stream" in accepted
    return asked.kind != "other" and asked.method in METHODS and not is_endless


def _whole(response: WebResponse, more: dict[str, str] | None = None) -> WebResponse:
    headers = {name: value for name, value in response.headers.items() if name not in SPENT}
    return WebResponse(
        status=response.status, headers={**headers, **(more or {})}, body=response.body
    )


def _media_type(response: WebResponse) -> str:
    headers = Headers()
    headers["content-type"] = response.headers.get("content-type", "")
    return headers.get_content_type() if headers["content-type"] else "text/html"
