"""Engines over the real transport on loopback, for whatever asks the web in a test."""

from dataclasses import dataclass, field
from typing import Any

from inglenook.egress import OutgoingRequest
from inglenook.errors import NotApproved
from inglenook.messages import Label
from inglenook.tools.web import WebSearchTool
from inglenook.web.addresses import AddressPolicy
from inglenook.web.base import SearchEngine, Searcher, SearchOutcome, WebTransport
from inglenook.web.duckduckgo import DuckDuckGo
from inglenook.web.health import Health
from inglenook.web.http import HttpTransport
from inglenook.web.search import SearchService


@dataclass
class Ledger:
    """An `Egress` that only remembers, and refuses the hosts or paths in `refused`."""

    entries: list[Any] = field(default_factory=list[Any])
    requests: list[OutgoingRequest] = field(default_factory=list[OutgoingRequest])
    refused: tuple[str, ...] = ()
    labels: frozenset[Label] = frozenset()

    async def started(self, request: OutgoingRequest) -> int:
        if any(part in request.url for part in self.refused):
            raise NotApproved(f"{request.host} was not approved")
        self.requests.append(request)
        self.entries.append((request.method, request.host, request.path, request.size_bytes))
        return len(self.entries)

    def finished(self, n: int, *, status: int | None, bytes_in: int, sent: bool) -> None:
        self.entries.append((n, status, bytes_in, sent))


def loopback() -> WebTransport:
    return HttpTransport(AddressPolicy(allow_private=True))


def service(*engines: SearchEngine) -> SearchService:
    return SearchService(engines, Health())


def search_tool(url: str) -> WebSearchTool:
    """`web_search` over DuckDuckGo at `url` alone."""
    return WebSearchTool(service(DuckDuckGo(loopback(), url=url)))


async def ask(
    engine: SearchEngine | Searcher, query: str = "otters", **options: Any
) -> SearchOutcome:
    given: dict[str, Any] = {"recency": None, "limit": 8, "egress": Ledger()}
    return await engine.search(query, **(given | options))
