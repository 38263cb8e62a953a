"""DuckDuckGo Lite: one POST, no key, no scripts; results are rows of a table.

A result is three rows: number and title, snippet, shown address. An empty row divides it from the
next one.
"""

from collections.abc import Iterator

from turbohtml import Document

from inglenook.egress import Egress, OutgoingRequest
from inglenook.web.base import Recency, SearchOutcome, WebTransport
from inglenook.web.duckduckgo_page import (
    HEADERS,
    REFUSALS,
    Row,
    date_filter,
    form_request,
    read_page,
)
from inglenook.web.search_engine import Service, service_url

DEFAULT_URL = "https://lite.duckduckgo.com"
PATH = "/lite/"
SERVICE = Service("duckduckgo-lite", "DuckDuckGo Lite", REFUSALS)


class DuckDuckGoLite:
    name = SERVICE.name

    def __init__(self, transport: WebTransport, *, url: str = DEFAULT_URL) -> None:
        """`url` is the service's root.

        Raises:
            ConfigError: No address that can be asked.
        """
        self._transport = transport
        self._url = service_url(url, PATH, setting="web.duckduckgo_lite_url")

    def request(self, query: str, *, recency: Recency | None) -> OutgoingRequest:
        return form_request(self._url, {"q": query, "kl": "", "df": date_filter(recency)})

    async def search(
        self, query: str, *, recency: Recency | None, limit: int, egress: Egress
    ) -> SearchOutcome:
        return await SERVICE.ask(
            self._transport,
            self.request(query, recency=recency),
            headers=HEADERS,
            egress=egress,
            read=lambda response: read_page(SERVICE, response, _rows, limit),
        )


def _rows(document: Document) -> Iterator[Row]:
    title_row: Row | None = None
    for row in document.select("tr"):
        if row.select_one("tr") is not None:  # around a table in a cell
            continue
        if link := row.select_one("a.result-link"):
            if title_row:
                yield title_row
            # an ad's row has a second such link, to what an ad is: a row's first one is its title
            is_ad = row.has_class("result-sponsored")
            title_row = Row(link=link, snippet=None, is_marked_ad=is_ad)
        elif title_row and (snippet := row.select_one("td.result-snippet")):
            yield Row(link=title_row.link, snippet=snippet, is_marked_ad=title_row.is_marked_ad)
            title_row = None
    if title_row:
        yield title_row
