"""What all search engines do alike: the request to a service, its failures as outcomes, results.

An engine says what it sends and how it reads an answer; sentences, limits and the classes of
failures are here.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from urllib.parse import urlencode, urlsplit

from inglenook.egress import Egress, OutgoingRequest
from inglenook.errors import ConfigError
from inglenook.web.base import (
    Outcome,
    SearchOutcome,
    SearchResult,
    TransportError,
    WebResponse,
    WebTransport,
)
from inglenook.web.urls import parse_url
from inglenook.web.user_agents import OWN_NAME

TIMEOUT_S = 10
MAX_ANSWER_BYTES = 1 << 20
"""A result page has about 40 kB; the worst of this size was read in 0.7 s."""
MAX_TITLE_CHARS, MAX_SNIPPET_CHARS = 300, 1_000
NOT_IN_A_URL = re.compile(r"[\x00-\x20\x7f\ud800-\udfff]")
SECONDS = re.compile(r"\d{1,9}", re.ASCII)


class Service:
    """A search service: how sentences name it, and what its answers become."""

    def __init__(self, name: str, title: str, refusals: Mapping[int, str]) -> None:
        """`name` as in `web.engines`; `refusals` says of a status what the service refuses with it,
        as the rest of a sentence."""
        self.name = name
        self.title = title
        self._refusals = refusals

    async def ask(
        self,
        transport: WebTransport,
        request: OutgoingRequest,
        *,
        headers: Mapping[str, str],
        egress: Egress,
        read: Callable[[WebResponse], SearchOutcome],
    ) -> SearchOutcome:
        """
        Raises:
            NotApproved: `egress` refused the request; nothing was sent.
        """
        try:
            response = await transport.send(
                request,
                headers={"User-Agent": OWN_NAME, **headers},
                egress=egress,
                timeout_s=TIMEOUT_S,
                max_bytes=MAX_ANSWER_BYTES,
            )
        except TransportError as error:
            if error.fault in ("too_large", "not_readable"):
                return self.unread(str(error).rstrip("."))
            return self.failed("unreachable", f"was not reached: {error}")
        return read(response)

    def status_fault(
        self, response: WebResponse, *, retry_after_s: float | None = None
    ) -> SearchOutcome | None:
        """What every status but 200 means; None of 200. Redirects are not followed.

        `retry_after_s` is what the service says in a way of its own; else its `Retry-After` counts.
        """
        if response.status == 200:
            return None
        retry_after_s = retry_after_s or seconds(response.headers.get("retry-after", ""))
        if refusal := self._refusals.get(response.status):
            return self.failed("blocked", refusal, retry_after_s)
        what = f"answered with HTTP status {response.status}."
        return self.failed("unreachable", what, retry_after_s)

    def found(self, results: Iterable[SearchResult], limit: int, detail: str = "") -> SearchOutcome:
        """The first `limit` of them; `no_results` where there is none."""
        first = tuple(islice(results, limit))
        if first:
            return SearchOutcome(outcome="ok", engine=self.name, results=first, detail=detail)
        return SearchOutcome(
            outcome="no_results",
            engine=self.name,
            detail=detail or f"{self.title} found nothing for this query; other words may help.",
        )

    def unread(self, why: str) -> SearchOutcome:
        return self.failed(
            "markup_changed",
            f"answered, but there were no results parsed: {why}. This says nothing about whether "
            "there are results.",
        )

    def failed(
        self, outcome: Outcome, what: str, retry_after_s: float | None = None
    ) -> SearchOutcome:
        return SearchOutcome(
            outcome=outcome,
            engine=self.name,
            detail=f"{self.title} {what}",
            retry_after_s=retry_after_s,
        )


def service_url(root: str, path: str, *, setting: str) -> str:
    """The address of a service's searches, in the one form in which addresses are sent.

    Raises:
        ConfigError: `root`, which `setting` holds, is no address that can be asked.
    """
    try:
        return parse_url(root.rstrip("/") + path).url
    except TransportError as error:
        raise ConfigError(f"{setting}: {error}") from error


def form_encoded(asked: Mapping[str, str]) -> str:
    return urlencode(asked, errors="replace")  # half a surrogate pair is not sent


def search_result(*, title: str, url: str, snippet: str) -> SearchResult | None:
    """A result out of untrusted text; None where it has no title or leads to no web address."""
    shown_title, address = one_line(title, MAX_TITLE_CHARS), url.strip().replace(" ", "%20")
    try:
        parts = urlsplit(address)
        leads_somewhere = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:  # such as `http://[`
        return None
    if not shown_title or not leads_somewhere or NOT_IN_A_URL.search(address):
        return None
    return SearchResult(
        title=shown_title, url=address, snippet=one_line(snippet, MAX_SNIPPET_CHARS)
    )


def one_line(text: str, max_chars: int) -> str:
    """`text` without breaks, at most that long, and fit to be stored: JSON may hold surrogates."""
    line = " ".join(text.encode(errors="replace").decode().split())
    return line if len(line) <= max_chars else line[: max_chars - 1] + "…"


def seconds(text: str) -> float | None:
    return float(text) if SECONDS.fullmatch(text.strip()) else None
