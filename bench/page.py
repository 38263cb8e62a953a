"""How long the page takes to open a run of 50,000 events, from the click to the status line.

    python -m bench.page [--runs 5]

In Debian's Chromium over a scripted server; the page must be built (`make page`).
"""

import argparse
import asyncio
import statistics
import sys
import time

from inglenook.api.page import PAGE_FOLDER
from tests.e2e.browser import CHROMIUM, launched, opened
from tests.e2e.page_mock import MockApi, serve
from tests.e2e.page_scenes import long_scene

EVENTS = 50_000
OPEN_LIMIT_S = 1.5


def can_open() -> bool:
    return CHROMIUM is not None and (PAGE_FOLDER / "index.html").is_file()


async def open_s(runs: int) -> float:
    """The median in seconds."""
    mock = MockApi(PAGE_FOLDER)
    mock.add_run("long", long_scene(EVENTS), question="Read all parts")
    took_s: list[float] = []
    with serve(mock) as base_url:
        async with launched() as browser, opened(browser, base_url) as tab:
            for _ in range(runs):
                await tab.goto("/")
                link = tab.page.get_by_role("link", name="Read all parts")
                await link.wait_for()
                began = time.perf_counter()
                await link.click()
                await tab.ended()
                took_s.append(time.perf_counter() - began)
    return statistics.median(took_s)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=5)
    took_s = asyncio.run(open_s(parser.parse_args().runs))
    print(f"a run of {EVENTS:,} events opens in {took_s:.2f} s (limit {OPEN_LIMIT_S})")
    return 0 if took_s < OPEN_LIMIT_S else 1


if __name__ == "__main__":
    sys.exit(main())
