"""The public web: search engines and pages, what they give and each way in which they fail."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from inglenook.egress import Egress, OutgoingRequest
from inglenook.errors import RuntimeFault
from inglenook.messages import Label

Outcome = Literal["ok", "no_results", "blocked", "markup_changed", "unreachable"]
"""`blocked`: the service answers and refuses this machine, whatever is asked (a bot check, a limit,
a key). `markup_changed`: its answer cannot be read, which says nothing about results."""
Recency = Literal["day", "week", "month", "year"]
PageFault = Literal[
    "refused", "unreachable", "http_error", "blocked_by_site", "not_readable", "too_large"
]
"""Why a page was not read. `refused`: by this machine, before a connection (scheme, address, port,
redirects). `blocked_by_site`: a bot check, consent or login wall stands where the page should."""


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
    """For the model: what happened, one sentence an engine; and, from a `Searcher`, what to do."""
    retry_after_s: float | None = None
    """Of a failure: when the service says it will answer again, where it says so."""
    fetched_at: datetime | None = None
    """When a kept outcome was fetched; None: just now."""
    labels: tuple[Label, ...] = ()
    """What the run had read that fetched a kept outcome; who is shown it has read that too."""


class SearchEngine(Protocol):
    @property
    def name(self) -> str: ...

    def request(self, query: str, *, recency: Recency | None) -> OutgoingRequest:
        """What `search` sends for these arguments, byte for byte: it is what a person approves."""
        ...

    async def search(
        self, query: str, *, recency: Recency | None, limit: int, egress: Egress
    ) -> SearchOutcome:
        """At most `limit` organic results; what the service does wrong is an `outcome`.

        Raises:
            NotApproved: `egress` refused the request; nothing was sent.
        """
        ...


class Searcher(Protocol):
    """The search that a run asks: over several engines, or over kept outcomes before them."""

    def requests(self, query: str, *, recency: Recency | None) -> Sequence[OutgoingRequest]:
        """All that `search` may send for these arguments, in order: what a person approves."""
        ...

    async def search(
        self, query: str, *, recency: Recency | None, limit: int, egress: Egress
    ) -> SearchOutcome:
        """As `SearchEngine.search`; `engine` names the one that answered.

        Raises:
            NotApproved: `egress` refused the first request; nothing was sent.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class WebResponse:
    """One answer to one request; a redirect is an answer like another."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case; of one that came several times the first."""
    body: bytes
    """Decompressed; empty of a redirect."""


class TransportError(RuntimeFault):
    """No whole answer came. The message is one sentence for the model that names the host."""

    def __init__(self, fault: PageFault, message: str) -> None:
        super().__init__(message)
        self.fault: PageFault = fault


class WebTransport(Protocol):
    async def send(
        self,
        request: OutgoingRequest,
        *,
        headers: Mapping[str, str],
        egress: Egress,
        timeout_s: float,
        max_bytes: int,
    ) -> WebResponse:
        """Send one request and read its answer; follows no redirect, keeps no cookie.

        The address is judged before `egress.started` and the connection goes to that address.
        `max_bytes` bounds the body, compressed and decompressed.

        Raises:
            TransportError: `refused`, `unreachable`, `too_large`, or `not_readable` where the
                body is compressed in a way that was not asked for.
            NotApproved: `egress` refused the request; nothing was sent.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class Page:
    """A page that was read."""

    url: str
    """Where it was found in the end, after redirects."""
    title: str
    text: str
    """The main text as Markdown with its links, all of it."""
    fetched_at: datetime
    """Of the request; a page out of the cache keeps it."""
    is_cached: bool = False
    labels: tuple[Label, ...] = ()
    """What the run had read that fetched a kept page; who is shown it has read that too."""


class PageError(RuntimeFault):
    """The page was not read. The message is one sentence for the model: what and what to do."""

    def __init__(self, fault: PageFault, message: str) -> None:
        super().__init__(message)
        self.fault: PageFault = fault


@dataclass(frozen=True, kw_only=True)
class PageText:
    title: str
    text: str
    """The main text as Markdown with its links, all of it."""


class PageReader(Protocol):
    async def read(self, response: WebResponse, url: str) -> PageText:
        """The text of an answer; `url` is where it came from. Answers that turn a robot away
        (401, 403, 429, 503) are shown to it too, as a wall may stand in them.

        Raises:
            PageError: `blocked_by_site`, `not_readable` or `too_large`.
        """
        ...


class Fetcher(Protocol):
    def request(self, url: str) -> OutgoingRequest:
        """The first request that `fetch` sends for `url`; what a person approves.

        Raises:
            PageError: `refused`: no http or https address, or one that may not be asked.
        """
        ...

    async def fetch(self, url: str, *, egress: Egress) -> Page:
        """Read a page, redirects followed, each hop judged and recorded by itself.

        Raises:
            PageError: It was not read; says why.
            NotApproved: `egress` refused a request; it was not sent. The error names the URL.
        """
        ...
