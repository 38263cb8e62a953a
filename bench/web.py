"""Reading pages: how long a big one takes, and many with a slow network. `python -m bench.web`.

Through the real reader with its worker processes, transport and fetcher, on loopback. The workers
are started before, as they live on from page to page.
"""

import asyncio
import statistics
import time
from asyncio import StreamWriter

from bench.figures import Figure, limit_figure, summary
from inglenook.agent.scheduler import MAX_PARALLEL_READS
from inglenook.web.addresses import AddressPolicy
from inglenook.web.base import WebResponse
from inglenook.web.fetch import WebFetcher
from inglenook.web.http import HttpTransport
from inglenook.web.page_reader import WorkerPageReader
from tests.web.wire import Ledger, Names, RawServer, answer

BIG_BYTES = 1_000_000
BIG_LIMIT_MS = 150.0
PAGES, LATENCY_S = 20, 0.2
PAGES_LIMIT_S = 1.0

MENU = "".join(f"<li><a href=/m{n}>Menu {n}</a></li>" for n in range(80))


def article(size_bytes: int) -> str:
    """A page that is text from end to end, the dearest that there is."""
    parts = [f"<html><head><title>T</title></head><body><nav><ul>{MENU}</ul></nav><article>"]
    size = len(parts[0])
    while size < size_bytes:
        n = len(parts)
        part = (
            f"<h2>Section {n}</h2><p>Paragraph {n} tells of the harbour, of the boats in it and of "
            f"<a href='/l{n}'>the people</a> who paint them, in <b>some</b> words.</p>"
            f"<ul><li>one {n}</li><li>two</li></ul><table><tr><td>{n}</td><td>a</td></tr></table>"
        )
        parts.append(part)
        size += len(part)
    return "".join(parts) + "</article></body></html>"


async def big_page_ms(reader: WorkerPageReader, rounds: int = 9) -> float:
    html = article(BIG_BYTES).encode()
    response = WebResponse(status=200, headers={"content-type": "text/html"}, body=html)
    taken: list[float] = []
    for _ in range(rounds):
        began = time.perf_counter()
        page = await reader.read(response, "https://site.test/")
        taken.append(1000 * (time.perf_counter() - began))
        assert len(page.text) > BIG_BYTES / 2
    return statistics.median(taken)


async def many_pages_s(reader: WorkerPageReader) -> float:
    body = answer("200 OK", article(60_000).encode(), "Content-Type: text/html")

    async def serve(_: bytes, writer: StreamWriter) -> None:
        await asyncio.sleep(LATENCY_S)
        writer.write(body)

    policy = AddressPolicy(allow_private=True)
    fetcher = WebFetcher(
        HttpTransport(policy, resolver=Names({"site.test": ["127.0.0.1"]})), reader, policy
    )
    turn = asyncio.Semaphore(MAX_PARALLEL_READS)

    async def read(url: str) -> None:
        async with turn:
            await fetcher.fetch(url, egress=Ledger())

    async with RawServer(serve) as server:
        began = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for n in range(PAGES):
                group.create_task(read(f"http://site.test:{server.port}/{n}"))
        return time.perf_counter() - began


async def measure() -> tuple[float, float]:
    reader = WorkerPageReader()
    try:
        await many_pages_s(reader)  # starts the workers
        return await big_page_ms(reader), await many_pages_s(reader)
    finally:
        await reader.close()


def web_figures() -> list[Figure]:
    big_ms, many_s = asyncio.run(measure())
    return [
        limit_figure("a page of 1 MB to its text", big_ms, "ms", BIG_LIMIT_MS),
        limit_figure(
            f"{PAGES} pages, each after {LATENCY_S:g} s, {MAX_PARALLEL_READS} at once",
            many_s,
            "s",
            PAGES_LIMIT_S,
        ),
    ]


if __name__ == "__main__":
    print(summary(web_figures()))
