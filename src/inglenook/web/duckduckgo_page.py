"""What DuckDuckGo's two pages without scripts have in common: form, bot check, ads, wrapped links.

Each page is read row by row, so that a title never meets another row's snippet. That a page cannot
be read, that it is a bot check and that it holds no results are three different outcomes.

Source of the markup, as both pages were seen in 2026: the selectors below; an ad leads to `y.js` on
duckduckgo.com, wrapped or not, and a link is wrapped in `/l/?uddg=` on some requests only.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, parse_qs, urljoin, urlsplit

from turbohtml import Document, Element, parse

from inglenook.egress import OutgoingRequest
from inglenook.web.base import Recency, SearchOutcome, SearchResult, WebResponse
from inglenook.web.search_engine import Service, form_encoded, search_result

BASE = "https://duckduckgo.com"
HEADERS = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "text/html"}
DATE_FILTER: dict[Recency, str] = {"day": "d", "week": "w", "month": "m", "year": "y"}
ROBOT = "took this machine for a robot and answered with a check instead of results."
REFUSALS = {status: ROBOT for status in (202, 403, 429)}
NO_RESULTS_TEXT = ("No results", "No more results")


@dataclass(frozen=True, kw_only=True)
class Row:
    """One result of a page, ads included."""

    link: Element
    snippet: Element | None
    is_marked_ad: bool


def form_request(url: str, fields: Mapping[str, str]) -> OutgoingRequest:
    return OutgoingRequest(method="POST", url=url, body=form_encoded(fields).encode())


def date_filter(recency: Recency | None) -> str:
    return DATE_FILTER[recency] if recency else ""


def read_page(
    service: Service,
    response: WebResponse,
    rows_of: Callable[[Document], Iterator[Row]],
    limit: int,
) -> SearchOutcome:
    if fault := service.status_fault(response):
        return fault
    document = parse(response.body, encoding="utf-8")
    if _is_bot_check(document):
        return service.failed("blocked", ROBOT)
    rows = list(rows_of(document))
    organic = [row for row in rows if not _is_ad(row)]
    found = service.found(filter(None, map(_result, organic)), limit)
    if found.results or _says_no_results(document) or (rows and not organic):
        return found
    return service.unread("its page has another form than expected")


def _is_bot_check(document: Document) -> bool:
    marks = "#challenge-form, .anomaly-modal__mask, .anomaly-modal__modal"
    forms = [form.attr("action") for form in document.select("form")]
    scripts = [script.attr("src") for script in document.select("script")]
    return bool(document.select_one(marks)) or any(
        isinstance(link, str) and "anomaly.js" in link for link in (*forms, *scripts)
    )


def _says_no_results(document: Document) -> bool:
    if document.select_one(".no-results, .result--no-result, .no-results__message"):
        return True
    # innermost ones alone: of cells in cells each would read all that is inside it
    cells = [cell for cell in document.select("td, span") if cell.select_one("td, span") is None]
    return any(cell.text.strip().startswith(NO_RESULTS_TEXT) for cell in cells)


def _is_ad(row: Row) -> bool:
    return row.is_marked_ad or _is_own_link(_split(_target(row.link)), "/y.js")


def _result(row: Row) -> SearchResult | None:
    snippet = row.snippet.text if row.snippet is not None else ""
    return search_result(title=row.link.text, url=_target(row.link), snippet=snippet)


def _target(link: Element) -> str:
    """Where a row leads; the `uddg` parameter of its link is decoded exactly once."""
    try:
        href = urljoin(BASE, str(link.attr("href") or ""))
    except ValueError:  # such as `http://[`
        return ""
    parts = _split(href)
    wrapped = parse_qs(parts.query).get("uddg") if _is_own_link(parts, "/l/") else None
    return wrapped[0] if wrapped else href


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        return urlsplit("")


def _is_own_link(parts: SplitResult, path: str) -> bool:
    host = parts.hostname or ""
    return parts.path == path and (host == "duckduckgo.com" or host.endswith(".duckduckgo.com"))
