"""B095: an error is never kept as the page, and a hit makes nothing younger."""

from asyncio import StreamWriter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from inglenook.store.sqlite import SqliteStore
from inglenook.web.addresses import AddressPolicy
from inglenook.web.base import PageError
from inglenook.web.cached import CachedFetcher, Shelf
from inglenook.web.fetch import WebFetcher
from inglenook.web.http import HttpTransport
from inglenook.web.page_reader import WorkerPageReader
from tests.web.wire import Ledger, RawServer, answer

ARTICLE = b"<html><title>Otters</title><main><p>" + b"Otters hold hands. " * 40 + b"</p></main>"
WALL = (
    b"<!DOCTYPE html><title>Just a moment...</title><script src='/cdn-cgi/challenge-platform/"
    b"h/b/orchestrate/chl_page/v1'></script><noscript>Enable JavaScript and cookies</noscript>"
)
HTML = "Content-Type: text/html; charset=utf-8"


class Clock:
    def __init__(self) -> None:
        self.now = datetime.now(UTC)

    def __call__(self) -> datetime:
        return self.now


@asynccontextmanager
async def kept_pages(home: Path, clock: Clock) -> AsyncGenerator[CachedFetcher, None]:
    policy = AddressPolicy(allow_private=True)
    store, reader = SqliteStore(home), WorkerPageReader()
    shelf = Shelf(cache=store, max_bytes=10**6, validity=timedelta(days=30), now=clock)
    try:
        yield CachedFetcher(WebFetcher(HttpTransport(policy), reader, policy), shelf)
    finally:
        await reader.close()
        await store.close()


class Answers(RawServer):
    """Each of these once, the last again and again."""

    def __init__(self, *answers: bytes) -> None:
        left = list(answers)

        async def serve(_: bytes, writer: StreamWriter) -> None:
            writer.write(left.pop(0) if len(left) > 1 else left[0])

        super().__init__(serve)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/otters"


@pytest.mark.parametrize(
    "failure",
    [
        answer("503 Service Unavailable", b"The site is overloaded.", HTML),
        answer("404 Not Found", ARTICLE, HTML),
        answer("429 Too Many Requests", b"", HTML),
        answer("200 OK", WALL, HTML),
        answer("200 OK", b"\x00\x01\x02" * 300, "Content-Type: image/png"),
        answer("302 Found", b"", "Location: file:///etc/hostname"),
        b"HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n" + HTML.encode() + b"\r\n\r\n<p>cut",
    ],
    ids=["503", "404", "429", "wall", "image", "redirect", "cut"],
)
async def test_after_a_failure_the_page_is_fetched_and_only_then_kept(
    tmp_path: Path, failure: bytes
):
    good = answer("200 OK", ARTICLE, HTML)
    async with Answers(failure, good) as site, kept_pages(tmp_path, Clock()) as pages:
        with pytest.raises(PageError):
            await pages.fetch(site.url, egress=Ledger())
        second, third = [await pages.fetch(site.url, egress=Ledger()) for _ in range(2)]
    assert (second.is_cached, third.is_cached) == (False, True)
    assert "Otters hold hands." in third.text
    assert site.connections == 2


async def test_the_age_counts_from_the_fetch_however_often_it_is_read(tmp_path: Path):
    clock = Clock()
    async with (
        Answers(answer("200 OK", ARTICLE, HTML)) as site,
        kept_pages(tmp_path, clock) as pages,
    ):
        first = await pages.fetch(site.url, egress=Ledger())
        for _ in range(29):
            clock.now += timedelta(days=1)
            page = await pages.fetch(site.url, egress=Ledger())
            assert page.is_cached
            assert abs(page.fetched_at - first.fetched_at) < timedelta(milliseconds=1)
        clock.now += timedelta(days=1, seconds=1)
        assert not (await pages.fetch(site.url, egress=Ledger())).is_cached
    assert site.connections == 2
