"""The user's Chromium: started with a profile of its own, or met at the port they opened.

One that is started is driven over two pipes, not over a port that anybody on this machine could
connect to, and it ends by itself when its end of them closes, so it outlives us in no case.
"""

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import aiohttp

from inglenook.web.browser_process import end, installed, pipes_of, start, throwaway_profile
from inglenook.web.cdp import CdpTab, open_cdp_tab
from inglenook.web.closed_proxy import BYPASS_NOTHING, closed_proxy
from inglenook.web.remote import driven, web_socket
from inglenook.web.tab import BrowserError

PROGRAMS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
MAC_PROGRAMS = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
PIPES = 'exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null'
"""Chromium reads commands from descriptor 3 and answers on 4."""
FLAGS = (
    # https://peter.sh/experiments/chromium-command-line-switches/
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-service-autorun",
    "--no-pings",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--metrics-recording-only",
    "--mute-audio",
    "--password-store=basic",
    "--use-mock-keychain",
    f"--proxy-bypass-list={BYPASS_NOTHING}",
)


class Chromium:
    """A browser that is started for each tab."""

    def __init__(self, program: str | None = None) -> None:
        """`program`: None looks for the installed one when it is needed."""
        self._program = program

    @asynccontextmanager
    async def tab(self) -> AsyncGenerator[CdpTab]:
        program = self._program or found_program()
        async with closed_proxy() as proxy:
            with throwaway_profile() as profile:
                arguments = [
                    *FLAGS,
                    f"--user-data-dir={profile.folder}",
                    f"--proxy-server=http://{proxy.host_and_port}",
                    "about:blank",
                ]
                process = await start(program, arguments, shell=PIPES, profile=profile)
                has_started = False
                try:
                    async with driven(pipes_of(process)) as remote:
                        tab = await open_cdp_tab(remote, proxy.host_and_port)
                        has_started = True
                        yield tab
                except BrowserError as error:
                    if has_started:
                        raise
                    raise BrowserError(
                        f"{program!r} did not start ({profile.last_complaint()!r})."
                    ) from error
                finally:
                    await end(process)


class RunningChromium:
    """One that the user started with `--remote-debugging-port`; it is left running."""

    def __init__(self, port: int) -> None:
        self._port = port

    @asynccontextmanager
    async def tab(self) -> AsyncGenerator[CdpTab]:
        async with (
            closed_proxy() as proxy,
            web_socket(await self._address()) as wire,
            driven(wire) as remote,
        ):
            yield await open_cdp_tab(remote, proxy.host_and_port)

    async def _address(self) -> str:
        url = f"http://127.0.0.1:{self._port}/json/version"
        timeout = aiohttp.ClientTimeout(total=5)
        try:
            async with (
                aiohttp.ClientSession(trust_env=False, timeout=timeout) as session,
                session.get(url) as response,
            ):
                told = await response.json()
                return str(told["webSocketDebuggerUrl"])
        except (aiohttp.ClientError, TimeoutError, ValueError, KeyError, TypeError) as error:
            raise BrowserError(
                f"no Chromium answers at port {self._port} (`web.browser_port`); start it with "
                f"`chromium --remote-debugging-port={self._port}` ({type(error).__name__})."
            ) from None


def found_program() -> str:
    """Raises:
    BrowserError: None is installed.
    """
    return installed(MAC_PROGRAMS if sys.platform == "darwin" else PROGRAMS, "Chromium")
