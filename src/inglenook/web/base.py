"""SearchEngine: one public search service, and its typed outcomes."""

from dataclasses import dataclass
from typing import Literal, Protocol

Outcome = Literal["ok", "no_results", "blocked", "markup_changed", "unreachable"]
Recency = Literal["day", "week", "month", "year"]


@dataclass(frozen=True, kw_only=True)
class SearchResult:
    title: str
    url: str
    snippet: str


@dataclass(frozen=True, kw_only=True)
class SearchOutcome:
    outcome: Outcome
    engine: str
    results: tuple[SearchResult, ...] = ()
    detail: str = ""
    """One sentence for the model: what happened and what to do."""
    host: str = ""
    bytes_out: int = 0
    bytes_in: int = 0


class SearchEngine(Protocol):
    @property
    def name(self) -> str: ...

    async def search(self, query: str, *, recency: Recency | None, limit: int) -> SearchOutcome:
        """At most `limit` organic results; what the service does wrong is an `outcome`."""
        ...
