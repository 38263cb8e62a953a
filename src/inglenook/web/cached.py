"""Searches and pages out of a cache: wrappers that ask for what is not kept, and keep what came.

Only what succeeded is kept, and its age counts from its fetch. A hit sends nothing; it says where
it is from and how old it is, and it carries what the run had read that fetched it.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from inglenook.egress import Egress, OutgoingRequest
from inglenook.messages import Label
from inglenook.web.base import (
    Fetcher,
    Page,
    Recency,
    Searcher,
    SearchOutcome,
    SearchResult,
)
from inglenook.web.health import utc_now

FORMAT = "1"
"""Of the values; part of their keys, so that another version's are not found."""
PERIODS: dict[Recency, timedelta] = {
    "day": timedelta(days=1),
    "week": timedelta(days=7),
    "month": timedelta(days=30),
    "year": timedelta(days=365),
}
"""After as long as that the results of a search are not of the last day, week… any more."""


class Kept(Protocol):
    @property
    def value(self) -> bytes: ...

    @property
    def fetched_at(self) -> datetime: ...

    @property
    def labels(self) -> tuple[Label, ...]: ...


class WebCache(Protocol):
    """Where things are kept; the store's contract for its cache says more."""

    async def cache_get(self, kind: str, key: str, *, since: datetime) -> Kept | None: ...

    async def cache_put(
        self,
        kind: str,
        key: str,
        value: bytes,
        *,
        fetched_at: datetime,
        labels: Sequence[Label],
        max_bytes: int,
        since: datetime,
    ) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Shelf:
    """A cache with its limits and a clock."""

    cache: WebCache
    max_bytes: int
    validity: timedelta
    now: Callable[[], datetime] = utc_now

    async def get(
        self, kind: str, key: str, *, validity: timedelta | None = None
    ) -> tuple[Any, Kept] | None:
        """A value that `put` took, and what is known of it; at most `validity` old."""
        since = self.now() - min(validity or self.validity, self.validity)
        kept = await self.cache.cache_get(kind, f"{FORMAT} {key}", since=since)
        return None if kept is None else (json.loads(kept.value), kept)

    async def put(
        self, kind: str, key: str, value: Any, *, fetched_at: datetime, egress: Egress
    ) -> None:
        text = json.dumps(value, ensure_ascii=False)
        await self.cache.cache_put(
            kind,
            f"{FORMAT} {key}",
            text.encode(errors="surrogatepass"),
            fetched_at=fetched_at,
            labels=sorted(egress.labels),
            max_bytes=self.max_bytes,
            since=self.now() - self.validity,
        )


class CachedSearch:
    """A `Searcher` over another one, which is asked for what is not kept."""

    def __init__(self, searcher: Searcher, shelf: Shelf) -> None:
        self._searcher = searcher
        self._shelf = shelf

    def requests(self, query: str, *, recency: Recency | None) -> Sequence[OutgoingRequest]:
        return self._searcher.requests(query, recency=recency)

    async def search(
        self, query: str, *, recency: Recency | None, limit: int, egress: Egress
    ) -> SearchOutcome:
        key = self._key(query, recency, limit)
        period = PERIODS[recency] if recency else None
        if hit := await self._shelf.get("search", key, validity=period):
            return _outcome(*hit, now=self._shelf.now())
        fetched_at = self._shelf.now()
        found = await self._searcher.search(query, recency=recency, limit=limit, egress=egress)
        if found.outcome == "ok":
            results = [(each.title, each.url, each.snippet) for each in found.results]
            value = {"engine": found.engine, "results": results}
            await self._shelf.put("search", key, value, fetched_at=fetched_at, egress=egress)
        return found

    def _key(self, query: str, recency: Recency | None, limit: int) -> str:
        """The requests say it all: the engines, where they are, and what each is asked."""
        requests = self.requests(" ".join(query.split()), recency=recency)
        return " ".join([str(limit), *(request.sha256 for request in requests)])


class CachedFetcher:
    """A `Fetcher` over another one, which is asked for what is not kept."""

    def __init__(self, fetcher: Fetcher, shelf: Shelf) -> None:
        """`fetcher` reads as anybody would; what the user's cookies give goes past this one
        (`personal.py`)."""
        self._fetcher = fetcher
        self._shelf = shelf

    def request(self, url: str) -> OutgoingRequest:
        return self._fetcher.request(url)

    async def fetch(self, url: str, *, egress: Egress) -> Page:
        key = self.request(url).url
        if hit := await self._shelf.get("page", key):
            return _page(*hit)
        page = await self._fetcher.fetch(url, egress=egress)
        if not page.is_cached:
            value = {"url": page.url, "title": page.title, "text": page.text}
            await self._shelf.put("page", key, value, fetched_at=page.fetched_at, egress=egress)
        return page


def age_in_words(fetched_at: datetime, now: datetime) -> str:
    """In the largest unit of which there is a whole one: `3 days ago`."""
    seconds = (now - fetched_at).total_seconds()
    for unit, unit_s in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if count := int(seconds // unit_s) if seconds > 0 else 0:
            return f"{count} {unit}{'' if count == 1 else 's'} ago"
    return "less than a minute ago"


def _outcome(value: Any, kept: Kept, *, now: datetime) -> SearchOutcome:
    age = age_in_words(kept.fetched_at, now)
    return SearchOutcome(
        outcome="ok",
        engine=value["engine"],
        results=tuple(
            SearchResult(title=title, url=url, snippet=snippet)
            for title, url, snippet in value["results"]
        ),
        detail=f"From the cache: {value['engine']} was asked this {age}. Nothing was sent.",
        fetched_at=kept.fetched_at,
        labels=kept.labels,
    )


def _page(value: Any, kept: Kept) -> Page:
    return Page(
        url=value["url"],
        title=value["title"],
        text=value["text"],
        fetched_at=kept.fetched_at,
        is_cached=True,
        labels=kept.labels,
    )
