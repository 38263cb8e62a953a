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


class Egress(Protocol):
    """Told of every request that leaves this machine, before it does."""

    async def started(self, *, method: str, host: str, path: str, bytes_out: int) -> int:
        """Return, once the record is durable, the number to end it with; `bytes_out` is the body's.

        Raises:
            LeaseLost, StoreError: The request must not be made.
        """
        ...

    def finished(self, n: int, *, status: int | None, bytes_in: int, sent: bool) -> None:
        """`status` is None where no response came; `sent` is False where the request cannot have
        left this machine, as no connection came about."""
        ...


class SearchEngine(Protocol):
    @property
    def name(self) -> str: ...

    async def search(
        self, query: str, *, recency: Recency | None, limit: int, egress: Egress
    ) -> SearchOutcome:
        """At most `limit` organic results; what the service does wrong is an `outcome`."""
        ...
