"""WebFetcher: a page by its address, over its redirects, each of them a request of its own."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from urllib.parse import urljoin

from inglenook.egress import Egress, OutgoingRequest
from inglenook.web.addresses import AddressPolicy
from inglenook.web.base import (
    Page,
    PageError,
    PageReader,
    TransportError,
    WebResponse,
    WebTransport,
)
from inglenook.web.urls import check_readable, parse_url, shown_url
from inglenook.web.user_agents import user_agent_for

TIMEOUT_S = 20.0
"""For a page with all its redirects."""
MAX_PAGE_BYTES = 10 * 1024 * 1024
MAX_REDIRECTS = 10
REDIRECTS = (301, 302, 303, 307, 308)
TURNED_AWAY = (401, 403, 429, 503)
ACCEPT = "text/html,application/xhtml+xml,application/pdf;q=0.9,text/plain;q=0.9,*/*;q=0.5"

CookiesFor = Callable[[str], str | None]
"""The `Cookie` header for a URL, or None: from the user's browser, for the sites they listed."""


def no_cookies(url: str) -> str | None:
    return None


class WebFetcher:
    """What a page's scripts or its `<meta http-equiv=refresh>` would load is not followed: those
    are the page's content, which nobody approved."""

    def __init__(
        self,
        transport: WebTransport,
        reader: PageReader,
        policy: AddressPolicy,
        *,
        cookies_for: CookiesFor = no_cookies,
    ) -> None:
        """`policy` as the transport has it: what is refused by its address alone is refused before
        anybody is asked for an approval."""
        self._transport = transport
        self._reader = reader
        self._policy = policy
        self._cookies_for = cookies_for

    def request(self, url: str) -> OutgoingRequest:
        try:
            parsed = parse_url(url.strip(" \t\r\n"))
            self._policy.check_url(parsed)
        except TransportError as error:
            raise PageError(error.fault, str(error)) from error
        return OutgoingRequest(method="GET", url=parsed.url)

    async def fetch(self, url: str, *, egress: Egress) -> Page:
        fetched_at = datetime.now(UTC)
        deadline = time.monotonic() + TIMEOUT_S
        request = self.request(url)
        response = await self._get(request, deadline, egress)
        visited = [request.url]
        while response.status in REDIRECTS:
            request = self._next(visited, response)
            response = await self._get(request, deadline, egress)
            visited.append(request.url)
        if response.status not in (200, 203):
            raise await self._no_page(request.url, response)
        read = await self._reader.read(response, request.url)
        return Page(url=request.url, title=read.title, text=read.text, fetched_at=fetched_at)

    async def _no_page(self, url: str, response: WebResponse) -> PageError:
        """A bot check often has a status of its own; the reader knows one when it sees it."""
        if response.status in TURNED_AWAY:
            try:
                await self._reader.read(response, url)
            except PageError as error:
                if error.fault == "blocked_by_site":
                    return error
        return PageError("http_error", _told(url, response.status))

    async def _get(self, request: OutgoingRequest, deadline: float, egress: Egress) -> WebResponse:
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            raise PageError("unreachable", f"{request.host} gave no page within {TIMEOUT_S:g} s.")
        try:
            return await self._transport.send(
                request,
                headers=self._headers(request),
                egress=egress,
                timeout_s=left_s,
                max_bytes=MAX_PAGE_BYTES,
            )
        except TransportError as error:
            raise PageError(error.fault, str(error)) from error

    def _headers(self, request: OutgoingRequest) -> dict[str, str]:
        headers = {
            "User-Agent": user_agent_for(request.host),
            "Accept": ACCEPT,
            "Accept-Language": "en-US,en;q=0.5",
        }
        if cookies := self._cookies_for(request.url):
            headers["Cookie"] = cookies
        return headers

    def _next(self, visited: list[str], response: WebResponse) -> OutgoingRequest:
        """Where a redirect leads, judged as the first address was.

        Raises:
            PageError: `refused`, or `http_error` where it leads nowhere.
        """
        here = visited[-1]
        location = response.headers.get("location", "")
        if not location:
            raise PageError("http_error", f"{shown_url(here)} redirects without saying where to.")
        if len(visited) > MAX_REDIRECTS:
            raise PageError(
                "refused", f"{shown_url(visited[0])} redirects more than {MAX_REDIRECTS} times."
            )
        try:
            check_readable(location)  # `urljoin` would drop line breaks and tabs
            request = self.request(urljoin(here, location))
        except (ValueError, TransportError, PageError) as error:  # the first for `http://[`
            raise PageError(
                "refused", f"{shown_url(here)} redirects to what is not asked for. {error}"
            ) from error
        if request.url in visited:
            raise PageError(
                "refused",
                f"{shown_url(here)} redirects in a circle; such sites want cookies or a login. "
                "Use another source.",
            )
        return request


def _told(url: str, status: int) -> str:
    meanings = {
        401: "It wants a login",
        403: "The site does not let this machine read it",
        404: "There is no such page; the address may be wrong or old",
        410: "The page was removed",
        429: "The site has had too many requests",
        503: "The site is overloaded or turns robots away",
    }
    meaning = meanings.get(status, "The site did not give the page")
    return (
        f"{shown_url(url)} answered with HTTP status {status}. {meaning}. "
        "Use another source; asking again will not help now."
    )
