"""A small web on loopback, and browsers of ours that read it.

async with site({"/": page("<p>hi</p>")}) as server, reading(Chromium()) as (fetcher, ledger):
    await fetcher.fetch(server.url, egress=ledger)
assert server.targets == ["/", "/"]     # without and with the browser
"""

import asyncio
import os
import re
import shutil
import signal
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from inglenook.web.addresses import AddressPolicy, Origin
from inglenook.web.base import PageText, WebResponse
from inglenook.web.browser import BrowserFetcher, CookiesOf, no_browser_cookies
from inglenook.web.fetch import WebFetcher
from inglenook.web.firefox import PROGRAMS as FIREFOX_PROGRAMS
from inglenook.web.http import HttpTransport
from inglenook.web.page_reader import WorkerPageReader
from inglenook.web.tab import Browser
from tests.e2e.browser import CHROMIUM, require
from tests.web.wire import Ledger, RawServer, answer

PROFILE = re.compile(rb"/[^\0=]*/inglenook-browser-\w+")
FIREFOX = next((each for each in map(shutil.which, FIREFOX_PROGRAMS) if each), None)


class PlainReader:
    """Gives back what it is given, so that tests see what came."""

    async def read(self, response: WebResponse, url: str) -> PageText:
        return PageText(title="", text=response.body.decode())


class AnyName:
    """Every name ends on this machine."""

    async def resolve(self, host: str, port: int) -> list[str]:
        return ["127.0.0.1"]


def need_chromium() -> None:
    require(CHROMIUM, "Chromium is missing (sudo apt install chromium)")


def need_firefox() -> None:
    require(FIREFOX, "Firefox is missing (sudo apt install firefox-esr)")


def page(body: str, *headers: str) -> bytes:
    html = f"<!doctype html><html><head><title>T</title></head><body>{body}</body></html>"
    return answer("200 OK", html.encode(), "Content-Type: text/html; charset=utf-8", *headers)


def script(text: str) -> bytes:
    return answer("200 OK", text.encode(), "Content-Type: text/javascript")


def data(text: str, *headers: str) -> bytes:
    return answer("200 OK", text.encode(), "Content-Type: text/plain", *headers)


@dataclass
class Site:
    server: RawServer
    host: str

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.server.port}/"

    @property
    def targets(self) -> list[str]:
        return self.server.targets

    def cookies_at(self, target: str) -> list[str]:
        """What each request for `target` brought along."""
        heads = zip(self.server.targets, self.server.heads, strict=True)
        asked = [head.decode() for asked_for, head in heads if asked_for == target]
        lines = [line for head in asked for line in head.split("\r\n")]
        return [line[8:] for line in lines if line.lower().startswith("cookie: ")]


@asynccontextmanager
async def site(routes: Mapping[str, bytes], host: str = "site.test") -> AsyncGenerator[Site]:
    """What has no route gets 404."""

    async def serve(head: bytes, writer: asyncio.StreamWriter) -> None:
        found = routes.get(head.split(b" ", 2)[1].decode(), answer("404 Not Found"))
        writer.write(found)
        await writer.drain()

    async with RawServer(serve) as server:
        yield Site(server, host)


@asynccontextmanager
async def reading(
    browser: Browser,
    *,
    forbidden: frozenset[Origin] = frozenset(),
    cookies_of: CookiesOf = no_browser_cookies,
    approved: frozenset[str] | None = None,
) -> AsyncGenerator[tuple[BrowserFetcher, Ledger]]:
    policy = AddressPolicy(allow_private=True, forbidden=forbidden)
    transport, reader = HttpTransport(policy, resolver=AnyName()), WorkerPageReader()
    try:
        yield (
            BrowserFetcher(
                WebFetcher(transport, reader, policy),
                browser,
                transport,
                reader,
                cookies_of=cookies_of,
            ),
            Ledger(approved=approved),
        )
    finally:
        await reader.close()


def profiles_of(parent: int) -> set[Path]:
    """Profiles of the browsers that a process runs."""
    return {
        Path(found[0].decode())
        for status, command in _processes()
        if int(status[1]) == parent and (found := PROFILE.search(command))
    }


def pids_in(profiles: set[Path]) -> set[int]:
    """Everything that runs on one of these profiles, whosever child it is."""
    return {
        int(status[-1])
        for status, command in _processes()
        if status[0] not in "ZX" and any(bytes(profile) in command for profile in profiles)
    }


def kill(profiles: set[Path]) -> None:
    for pid in pids_in(profiles):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


async def all_gone(profiles: set[Path]) -> None:
    """Wait until nothing runs on them; a test that hangs here has found what stays."""
    async with asyncio.timeout(20):
        while pids_in(profiles):
            await asyncio.sleep(0.02)


def _processes() -> Iterator[tuple[list[str], bytes]]:
    """State, parent, … and last the id; and the command line."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            status = (folder / "stat").read_text().rpartition(")")[2].split()
            yield [*status, folder.name], (folder / "cmdline").read_bytes()
