"""DuckDuckGo's HTML search: one POST, no key, no scripts."""

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

DEFAULT_URL = "https://html.duckduckgo.com"
PATH = "/html/"
SERVICE = Service("duckduckgo", "DuckDuckGo", REFUSALS)


class DuckDuckGo:
    name = SERVICE.name

    def __init__(self, transport: WebTransport, *, url: str = DEFAULT_URL) -> None:
        """`url` is the service's root.

        Raises:
            ConfigError: No address that can be asked.
        """
        self._transport = transport
        self._url = service_url(url, PATH, setting="web.duckduckgo_url")

    def request(self, query: str, *, recency: Recency | None) -> OutgoingRequest:
        form = {"q": query, "b": "", "l": "", "s": "0", "df": date_filter(recency)}
        return form_request(self._url, form)

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
    for row in document.select(".result"):
        if link := row.select_one(".result__a"):
            is_ad = row.has_class("result--ad") or row.select_one(".badge--ad") is not None
            snippet = row.select_one(".result__snippet")
            yield Row(link=link, snippet=snippet, is_marked_ad=is_ad)
