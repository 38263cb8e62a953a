"""Pages read with a real browser, from servers on loopback."""

import asyncio
import json
import os
import shutil
import socket
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager

import aiohttp
import pytest

from inglenook.egress import OutgoingRequest
from inglenook.web.base import PageError, WebResponse
from inglenook.web.browser_process import end, start, throwaway_profile
from inglenook.web.chromium import Chromium, RunningChromium, found_program
from inglenook.web.firefox import Firefox, RunningFirefox
from inglenook.web.firefox import found_program as firefox_program
from inglenook.web.tab import Browser, BrowserCookie, BrowserError, Tab, TabRequest
from tests.web.browsing import (
    Site,
    all_gone,
    data,
    kill,
    need_chromium,
    need_firefox,
    page,
    pids_in,
    profiles_of,
    reading,
    script,
    site,
)
from tests.web.wire import answer

TOLD = "What the script fetched: the harbour opens at six. " * 8
RENDERS = """
fetch("/told").then((r) => r.text()).then((t) => { document.querySelector("p").textContent = t })
"""
APP = {
    "/": page('<p></p><script src="/moved.js"></script>'),
    "/moved.js": answer("302 Found", b"", "Location: /app.js"),
    "/app.js": script(RENDERS),
    "/told": data(TOLD),
}


@pytest.fixture(params=["chromium", "firefox"])
def browser(request: pytest.FixtureRequest) -> Browser:
    if request.param == "chromium":
        need_chromium()
        return Chromium()
    need_firefox()
    return Firefox()


@pytest.fixture
def chromium() -> Chromium:
    need_chromium()
    return Chromium()


def asked_of(*sites: Site) -> list[str]:
    return sorted(each.url[:-1] + target for each in sites for target in each.targets)


async def test_a_page_made_by_scripts_is_read_and_every_request_is_on_the_ledger(
    browser: Browser,
) -> None:
    async with site(APP) as served, reading(browser) as (fetcher, ledger):
        read = await fetcher.fetch(served.url, egress=ledger)
    assert "the harbour opens at six" in read.text
    assert read.url == served.url
    assert sorted(ledger.started_urls) == asked_of(served)
    # Without the browser first; then all that the browser's page asked for.
    assert served.targets == ["/", "/", "/moved.js", "/app.js", "/told"]
    assert {entry.status for entry in ledger.entries} == {200, 302}


ESCAPES = """
<p></p><script>
const to = "http://127.0.0.1:VICTIM/", socket = "ws://127.0.0.1:VICTIM/", told = [];
const near = ["localhost", "[::1]", "any.test"].map((host) => `http://${host}:VICTIM/`);
const put = (text) => {
  told.push(text);
  document.querySelector("p").textContent = told.join(" ");
};
const tries = [
  ...[to, ...near].map((url) => () =>
    fetch(url, { mode: "no-cors" }).then(() => put("REACHED " + url), () => put("refused"))),
  () => { new WebSocket(socket).onopen = () => put("REACHED by socket") },
  () => new WebSocket("ws://" + location.host + "/socket"),
  () => navigator.sendBeacon("/beacon", "x"),
  () => new EventSource("/events"),
  () => window.open("/window"),
  () => {
    const text = `new WebSocket("${socket}");
      fetch("${to}", { mode: "no-cors" }).then(() => postMessage("REACHED by worker"))`;
    const worker = new Worker(URL.createObjectURL(new Blob([text])));
    worker.onmessage = (event) => put(event.data);
  },
  () => {
    const peer = new RTCPeerConnection({ iceServers: [{ urls: "stun:127.0.0.1:VICTIM" }] });
    peer.createDataChannel("x");
    peer.setLocalDescription();
  },
  () => navigator.serviceWorker.register("/service.js"),
  () => {
    const link = document.createElement("link");
    link.rel = "prefetch";
    link.href = "/ahead";
    document.head.append(link);
  },
  () => alert("stop"),
];
for (const each of tries) try { each() } catch {}
document.body.append("PAGE END ".repeat(40));
</script>
<iframe sandbox="allow-scripts" srcdoc='<script>
  const peer = new RTCPeerConnection({ iceServers: [{ urls: "stun:127.0.0.1:VICTIM" }] });
  peer.createDataChannel("x");
  peer.setLocalDescription();
</script>'></iframe>
<img src="/image.png"><iframe src="/frame"></iframe><video src="/video.mp4"></video>
<link rel="icon" href="/icon.png"><form action="http://127.0.0.1:VICTIM/"></form>
"""


@contextmanager
def datagrams_at(port: int) -> Generator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as opened:
        opened.bind(("127.0.0.1", port))
        opened.setblocking(False)
        yield opened


async def test_a_page_reaches_nothing_but_what_the_rules_allow(browser: Browser) -> None:
    async with site({"/": data("secret")}) as victim:
        body = ESCAPES.replace("VICTIM", str(victim.server.port))
        forbidden = frozenset({("127.0.0.1", victim.server.port)})
        with datagrams_at(victim.server.port) as datagrams:
            async with (
                site({"/": page(body)}) as served,
                reading(browser, forbidden=forbidden) as (fetcher, ledger),
            ):
                read = await fetcher.fetch(served.url, egress=ledger)
                assert "PAGE END" in read.text
                assert "refused" in read.text
                assert "REACHED" not in read.text
                assert victim.server.connections == 0
                with pytest.raises(BlockingIOError):
                    datagrams.recv(1)
                assert served.targets == ["/", "/"]
                assert sorted(ledger.started_urls) == asked_of(served)


HIDDEN = """
<style>.a { display: none } .b { opacity: 0 } .c { position: absolute; left: -9999px }
.d { visibility: hidden } .e { font-size: 1px } .f { height: 0; overflow: hidden }
.d span { visibility: visible }</style>
<article><p id="told"></p><p class="a">HIDDEN a</p><p class="b">HIDDEN b</p>
<p class="c">HIDDEN c</p><p class="d">HIDDEN d <span>but this is seen</span></p>
<p class="e">HIDDEN e</p><div class="f"><p>HIDDEN f</p></div><noscript>HIDDEN g</noscript>
<details><summary>More</summary><p>What is a click away stays.</p></details></article>
<script>
const told = document.getElementById("told");
told.textContent = "The tide turns at noon on every second day. ".repeat(9);
Element.prototype.checkVisibility = () => true;
window.getComputedStyle = () => ({ display: "block", opacity: "1", fontSize: "16px" });
</script>
"""


async def test_what_a_stylesheet_hides_is_not_read(chromium: Chromium) -> None:
    """Not even where the page's scripts lie about it."""
    async with site({"/": page(HIDDEN)}) as served, reading(chromium) as (fetcher, ledger):
        read = await fetcher.fetch(served.url, egress=ledger)
    assert "The tide turns at noon" in read.text
    assert "HIDDEN" not in read.text
    assert "but this is seen" in read.text
    assert "a click away stays" in read.text


async def test_nothing_of_a_browser_is_left_when_its_run_is_cancelled(chromium: Chromium) -> None:
    asked = asyncio.Event()

    async def never(_: TabRequest) -> WebResponse | None:
        asked.set()
        await asyncio.Event().wait()

    async def read() -> None:
        async with chromium.tab() as tab:
            await tab.read("http://site.test/", cookies=(), answer=never)

    async with asyncio.TaskGroup() as group:
        reading_it = group.create_task(read())
        await asked.wait()
        profiles = profiles_of(os.getpid())
        assert pids_in(profiles)
        reading_it.cancel()
    await all_gone(profiles)
    assert [profile.exists() for profile in profiles] == [False]


ORPHAN = """
import asyncio, sys
from inglenook.web.{module} import {name}
async def main():
    async with {name}().tab():
        print("open", flush=True)
        await asyncio.sleep(600)
asyncio.run(main())
"""


async def test_a_browser_dies_with_us(browser: Browser) -> None:
    name = type(browser).__name__
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        ORPHAN.format(module=name.lower(), name=name),
        stdout=asyncio.subprocess.PIPE,
    )
    assert child.stdout
    assert await child.stdout.readline() == b"open\n"
    profiles = profiles_of(child.pid)
    assert pids_in(profiles)
    child.kill()
    await child.wait()
    await all_gone(profiles)
    for profile in profiles:
        shutil.rmtree(profile)


async def test_a_browser_that_is_killed_is_an_error_and_the_plain_page_stands(
    chromium: Chromium, caplog: pytest.LogCaptureFixture
) -> None:
    async def die(_: TabRequest) -> WebResponse | None:
        kill(profiles_of(os.getpid()))
        return None

    with pytest.raises(BrowserError, match="closed the connection"):
        async with chromium.tab() as tab:
            await tab.read("http://site.test/", cookies=(), answer=die)

    class Dying:
        @asynccontextmanager
        async def tab(self) -> AsyncGenerator[Tab]:
            async with chromium.tab() as tab:
                kill(profiles_of(os.getpid()))
                yield tab

    routes = {"/": page("<p>What the plain page says.</p>")}
    async with site(routes) as served, reading(Dying()) as (fetcher, ledger):
        read = await fetcher.fetch(served.url, egress=ledger)
    assert read.text.strip() == "What the plain page says."
    assert "was read without a browser" in caplog.text


async def test_without_a_browser_the_plain_outcome_stands_and_says_so() -> None:
    missing = Chromium("/nonexistent/chromium")
    routes = {"/": page("<p>Short.</p>"), "/app": APP["/"], "/app.js": APP["/app.js"]}
    async with site(routes) as served, reading(missing) as (fetcher, ledger):
        assert (await fetcher.fetch(served.url, egress=ledger)).text.strip() == "Short."
        with pytest.raises(PageError, match=r"cannot be used: .*did not start"):
            await fetcher.fetch(served.url + "app", egress=ledger)


async def test_a_wall_in_the_browser_is_a_wall(chromium: Chromium) -> None:
    wall = (
        "document.body.innerHTML = '<h1>Checking your browser before accessing</h1><p>Please "
        "complete the security check to continue. Verify you are human.</p>'"
    )
    routes = {"/": page('<div></div><script src="/app.js"></script>'), "/app.js": script(wall)}
    async with site(routes) as served, reading(chromium) as (fetcher, ledger):
        with pytest.raises(PageError) as failed:
            await fetcher.fetch(served.url, egress=ledger)
    assert failed.value.fault == "blocked_by_site"


async def test_a_page_that_moves_to_a_forbidden_address_is_refused(chromium: Chromium) -> None:
    async with site({"/": data("secret")}) as victim:
        forbidden = frozenset({("127.0.0.1", victim.server.port)})
        moves = f"location.href = 'http://127.0.0.1:{victim.server.port}/'"
        async with (
            site({"/": page(f"<script>{moves}</script>")}) as served,
            reading(chromium, forbidden=forbidden) as (fetcher, ledger),
        ):
            with pytest.raises(PageError) as failed:
                await fetcher.fetch(served.url, egress=ledger)
        assert failed.value.fault == "refused"
        assert victim.server.connections == 0


async def test_only_what_was_approved_is_sent(chromium: Chromium) -> None:
    async with site(APP) as served:
        only = OutgoingRequest(method="GET", url=served.url)
        async with reading(chromium, approved=frozenset({only.sha256})) as (fetcher, ledger):
            with pytest.raises(PageError):
                await fetcher.fetch(served.url, egress=ledger)
        assert served.targets == ["/", "/"]


async def test_listed_cookies_go_to_their_site_and_to_no_other(browser: Browser) -> None:
    asks = (
        "fetch('/mine'); fetch('http://other.test:PORT/theirs', {mode: 'no-cors', "
        "credentials: 'include'}); document.body.append('script sees: ' + document.cookie)"
    )
    async with site({}, host="other.test") as other:
        body = page(f"<script>{asks.replace('PORT', str(other.server.port))}</script>")

        def given(url: str) -> list[BrowserCookie]:
            assert url == served.url
            return [cookie("sid", "site.test"), cookie("dom", ".site.test"), cookie("x", "y.test")]

        async with (
            site({"/": body, "/mine": data("ok", "Set-Cookie: later=1")}) as served,
            reading(browser, cookies_of=given) as (fetcher, ledger),
        ):
            read = await fetcher.fetch(served.url, egress=ledger)
    assert read.text.strip() == "script sees:"
    (in_browser,) = served.cookies_at("/")
    assert sorted(in_browser.split("; ")) == ["dom=s3cr3t", "sid=s3cr3t"]
    assert [sorted(each.split("; ")) for each in served.cookies_at("/mine")] == [
        ["dom=s3cr3t", "sid=s3cr3t"]
    ]
    assert other.targets == ["/theirs"]
    assert other.cookies_at("/theirs") == []
    assert "s3cr3t" not in repr(ledger)


def cookie(name: str, domain: str) -> BrowserCookie:
    return BrowserCookie(
        name=name,
        value="s3cr3t",
        domain=domain,
        path="/",
        is_secure=False,
        is_http_only=True,
        same_site="lax",
        expires_at_s=None,
    )


@asynccontextmanager
async def opened_by_the_user() -> AsyncGenerator[int]:
    """A Chromium with a port, as a person starts it; yields the port."""
    with throwaway_profile() as profile:
        arguments = [
            "--headless=new",
            "--remote-debugging-port=0",
            "--no-first-run",
            "--disable-background-networking",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            f"--user-data-dir={profile.folder}",
        ]
        command = 'exec "$0" "$@" </dev/null'
        process = await start(found_program(), arguments, shell=command, profile=profile)
        try:
            port = profile.folder / "DevToolsActivePort"
            async with asyncio.timeout(60):
                while not port.exists() or not port.read_text().strip():
                    await asyncio.sleep(0.02)
            yield int(port.read_text().split()[0])
        finally:
            await end(process)


async def targets_at(port: int) -> set[str]:
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"http://127.0.0.1:{port}/json/list") as response,
    ):
        return {target["id"] for target in await response.json()}


async def test_a_running_browser_is_used_and_left_as_it_was() -> None:
    need_chromium()
    async with opened_by_the_user() as port:
        before, pids = await targets_at(port), pids_in(profiles_of(os.getpid()))
        async with site(APP) as served, reading(RunningChromium(port)) as (fetcher, ledger):
            read = await fetcher.fetch(served.url, egress=ledger)
        assert "the harbour opens at six" in read.text
        assert sorted(ledger.started_urls) == asked_of(served)
        async with asyncio.timeout(20):
            while await targets_at(port) != before:
                await asyncio.sleep(0.02)
        assert pids & pids_in(profiles_of(os.getpid()))


async def test_a_running_firefox_is_used_and_left_to_others() -> None:
    need_firefox()
    with throwaway_profile() as profile:
        arguments = ["--headless", "--no-remote", "--profile", str(profile.folder)]
        process = await start(
            firefox_program(),
            [*arguments, "--remote-debugging-port", "0"],
            shell='exec "$0" "$@" </dev/null',
            profile=profile,
        )
        try:
            told = profile.folder / "WebDriverBiDiServer.json"
            async with asyncio.timeout(60):
                while not told.exists() or not told.read_text():
                    await asyncio.sleep(0.02)
            running = RunningFirefox(json.loads(told.read_text())["ws_port"])
            async with site(APP) as served, reading(running) as (fetcher, ledger):
                # A Firefox gives one session at a time: the second page needs the first's end.
                for _ in range(2):
                    read = await fetcher.fetch(served.url, egress=ledger)
                    assert "the harbour opens at six" in read.text
                assert sorted(ledger.started_urls) == asked_of(served)
            assert pids_in({profile.folder})
        finally:
            await end(process)


async def test_a_port_without_a_browser_says_what_to_do() -> None:
    async with site({"/json/version": data("no")}) as served:
        with pytest.raises(BrowserError, match=r"no Chromium answers.*--remote-debugging-port"):
            async with RunningChromium(served.server.port).tab():
                pass
