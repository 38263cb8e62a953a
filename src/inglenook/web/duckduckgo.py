"""DuckDuckGo's HTML search: one POST, no key, no scripts.

Results are read row by row, so that a title never meets another row's snippet. That the page
cannot be read, that it is a bot check and that it holds no results are three different outcomes.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import SplitResult, parse_qs, urlencode, urljoin, urlsplit

import aiohttp
from turbohtml import Document, Element, parse

from inglenook.egress import Egress, OutgoingRequest
from inglenook.web.base import Outcome, Recency, SearchOutcome, SearchResult

DEFAULT_URL = "https://html.duckduckgo.com"
PATH = "/html/"
TIMEOUT_S = 10
MAX_PAGE_BYTES = 2 << 20
"""A result page has about 40 kB."""
USER_AGENT = "Inglenook/0.1 (self-hosted agent runtime; one search per question of its user)"
DATE_FILTER: dict[Recency, str] = {"day": "d", "week": "w", "month": "m", "year": "y"}


@dataclass(frozen=True, kw_only=True)
class Page:
    status: int | None
    """None: there was no answer."""
    body: bytes


class Departure:
    """Whether anything of one request was handed to its connection."""

    def __init__(self) -> None:
        self.has_begun = False

    def trace(self) -> aiohttp.TraceConfig:
        async def begun(*_: object) -> None:
            self.has_begun = True

        trace = aiohttp.TraceConfig()
        trace.on_request_headers_sent.append(begun)
        return trace


class DuckDuckGo:
    name = "duckduckgo"

    def __init__(self, url: str = DEFAULT_URL, *, proxy: str | None = None) -> None:
        """`url` is the service's root; `proxy` an HTTP proxy that the operator configured."""
        self._url = url.rstrip("/") + PATH
        self._proxy = proxy

    def request(self, query: str, *, recency: Recency | None) -> OutgoingRequest:
        form = {
            "q": query,
            "b": "",
            "l": "",
            "s": "0",
            "df": DATE_FILTER[recency] if recency else "",
        }
        return OutgoingRequest(method="POST", url=self._url, body=urlencode(form).encode())

    async def search(
        self, query: str, *, recency: Recency | None, limit: int, egress: Egress
    ) -> SearchOutcome:
        request = self.request(query, recency=recency)
        n = await egress.started(request)
        page, departure = Page(status=None, body=b""), Departure()
        try:
            async with asyncio.timeout(TIMEOUT_S):
                page = await self._post(request.body, departure)
        except TimeoutError:
            return self._failed("unreachable", f"gave no answer within {TIMEOUT_S} s.")
        except aiohttp.ClientError as error:
            return self._failed("unreachable", f"cannot be reached ({type(error).__name__}).")
        finally:
            egress.finished(
                n, status=page.status, bytes_in=len(page.body), sent=departure.has_begun
            )
        return self._read(page, limit)

    async def _post(self, body: bytes, departure: Departure) -> Page:
        headers = {
            "User-Agent": USER_AGENT,
            "Content-Type": "application/x-www-form-urlencoded",
            "Accept": "text/html",
        }
        # No cookies and no redirects: nothing of one search shows in the next or reaches a host
        # that was not recorded.
        async with (
            aiohttp.ClientSession(
                cookie_jar=aiohttp.DummyCookieJar(), trace_configs=[departure.trace()]
            ) as session,
            session.post(
                self._url, data=body, headers=headers, allow_redirects=False, proxy=self._proxy
            ) as response,
        ):
            content = bytearray()
            async for chunk in response.content.iter_any():
                content += chunk
                if len(content) > MAX_PAGE_BYTES:
                    break
            return Page(status=response.status, body=bytes(content))

    def _read(self, page: Page, limit: int) -> SearchOutcome:
        if page.status in (202, 403, 429):
            return self._blocked()
        if page.status != 200:
            return self._failed("unreachable", f"answered with HTTP status {page.status}.")
        if len(page.body) > MAX_PAGE_BYTES:
            return self._failed(
                "markup_changed", f"no results parsed: the page has over {MAX_PAGE_BYTES:,} bytes."
            )
        document = parse(page.body, encoding="utf-8")
        if _is_bot_check(document):
            return self._blocked()
        rows = list(_rows(document))
        results = [result for row in rows if not _is_ad(row) and (result := _result(row))]
        if results:
            return SearchOutcome(outcome="ok", engine=self.name, results=tuple(results[:limit]))
        if document.select_one(".no-results, .result--no-result") or (
            rows and all(_is_ad(row) for row in rows)
        ):
            return SearchOutcome(
                outcome="no_results",
                engine=self.name,
                detail="DuckDuckGo found nothing for this query; other words may help.",
            )
        return self._failed(
            "markup_changed",
            "no results parsed: its page has another form than expected. This says nothing about "
            "whether there are results. Do not search again; answer without the web and say so.",
        )

    def _blocked(self) -> SearchOutcome:
        return self._failed(
            "blocked",
            "took this machine for a robot and answered with a check instead of results. "
            "Rephrasing the query will not help. Do not search again in this run; "
            "answer without the web and say that the search was blocked.",
        )

    def _failed(self, outcome: Outcome, what: str) -> SearchOutcome:
        return SearchOutcome(outcome=outcome, engine=self.name, detail=f"DuckDuckGo {what}")


def _is_bot_check(document: Document) -> bool:
    forms = [form.attr("action") for form in document.select("form")]
    scripts = [script.attr("src") for script in document.select("script")]
    return bool(document.select_one(".anomaly-modal__mask, .anomaly-modal__modal")) or any(
        isinstance(link, str) and "anomaly.js" in link for link in (*forms, *scripts)
    )


def _rows(document: Document) -> Iterator[Element]:
    for row in document.select(".result"):
        if row.select_one(".result__a") is not None:
            yield row


def _is_ad(row: Element) -> bool:
    if row.has_class("result--ad") or row.select_one(".badge--ad") is not None:
        return True
    return _is_own_link(urlsplit(_target(row) or ""), "/y.js")


def _result(row: Element) -> SearchResult | None:
    link, snippet = row.select_one(".result__a"), row.select_one(".result__snippet")
    title, url = _text(link), _target(row)
    if url is None or not title:
        return None
    return SearchResult(title=title, url=url, snippet=_text(snippet))


def _target(row: Element) -> str | None:
    """Where a row leads; the `uddg` parameter of its link is decoded exactly once."""
    link = row.select_one(".result__a")
    try:
        href = urljoin(DEFAULT_URL, str(link.attr("href") or "")) if link is not None else ""
        parts = urlsplit(href)
        wrapped = parse_qs(parts.query).get("uddg") if _is_own_link(parts, "/l/") else None
        target = wrapped[0] if wrapped else href
        return target if urlsplit(target).scheme in ("http", "https") else None
    except ValueError:  # such as `http://[`
        return None


def _is_own_link(parts: SplitResult, path: str) -> bool:
    host = parts.hostname or ""
    return parts.path == path and (host == "duckduckgo.com" or host.endswith(".duckduckgo.com"))


def _text(element: Element | None) -> str:
    """The text as the page shows it: tags add no space and take none away."""
    return " ".join(element.text.split()) if element is not None else ""
