"""B29: a page in the browser: navigate, wait up to three seconds, read what is seen, at most 10 MB,
in a profile of its own that is gone afterwards; without a browser the page is read over HTTP."""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from inglenook.web.browser import MAX_BYTES
from inglenook.web.chromium import Chromium
from inglenook.web.fetch import MAX_PAGE_BYTES
from inglenook.web.tab import SETTLE_S, Tab
from tests.web.browsing import (
    all_gone,
    need_chromium,
    page,
    profiles_of,
    reading,
    script,
    site,
)

LATE = """
setTimeout(() => fetch("/late").then(() => {
  document.body.innerHTML = "<p>It came late.</p><p style='display: none'>unseen</p>" }), 200)
"""


async def test_what_scripts_show_within_the_wait_is_read_and_nothing_is_left() -> None:
    need_chromium()
    seen = set[Path]()

    class Watched:
        @asynccontextmanager
        async def tab(self) -> AsyncGenerator[Tab]:
            async with Chromium().tab() as tab:
                seen.update(profiles_of(os.getpid()))
                yield tab

    routes = {"/": page(f"<p>wait</p><script>{LATE}</script>"), "/late": script("")}
    async with site(routes) as served, reading(Watched()) as (fetcher, ledger):
        read = await fetcher.fetch(served.url, egress=ledger)
    assert read.text.strip() == "It came late."
    assert "/late" in served.targets
    await all_gone(seen)
    assert [profile.exists() for profile in seen] == [False]


async def test_without_a_browser_the_page_is_read_over_http() -> None:
    routes = {"/": page("<p>Plain words.</p>")}
    async with site(routes) as served, reading(Chromium("/no/chromium")) as (fetcher, ledger):
        read = await fetcher.fetch(served.url, egress=ledger)
    assert read.text.strip() == "Plain words."


def test_the_limits_are_those_of_other_pages() -> None:
    assert SETTLE_S == 3.0
    assert MAX_BYTES == MAX_PAGE_BYTES
