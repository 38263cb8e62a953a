"""The user's Firefox: started with a profile of its own, or met at the port they opened."""

import asyncio
import json
import re
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from inglenook.web.bidi import BidiTab, open_bidi_tab
from inglenook.web.browser_process import Profile, end, installed, start, throwaway_profile
from inglenook.web.closed_proxy import ClosedProxy, closed_proxy
from inglenook.web.remote import driven, web_socket
from inglenook.web.tab import BrowserError

PROGRAMS = ("firefox", "firefox-esr")
MAC_PROGRAMS = ("/Applications/Firefox.app/Contents/MacOS/firefox",)
START_TIMEOUT_S = 40.0
"""A slow disk takes fifteen."""
LEASHED = '{ "$0" "$@" </dev/null 2>&1; kill -KILL 0; } & cat >/dev/null; kill -KILL 0'
"""The shell holds the other end of a pipe of ours. When either ends, all of the group goes."""
PREFERENCES: dict[str, str | int | bool] = {
    "app.normandy.enabled": False,
    "app.update.enabled": False,
    "browser.safebrowsing.malware.enabled": False,
    "browser.safebrowsing.phishing.enabled": False,
    "browser.sessionstore.privacy_level": 2,  # no cookies among what it would restore
    "browser.sessionstore.resume_from_crash": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.homepage": "about:blank",
    "browser.startup.page": 0,
    "datareporting.policy.dataSubmissionEnabled": False,
    "dom.serviceWorkers.enabled": False,
    "extensions.update.enabled": False,
    "media.gmp-manager.updateEnabled": False,
    "media.peerconnection.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "network.dns.disablePrefetch": True,
    "network.http.http3.enable": False,
    "network.prefetch-next": False,
    "network.proxy.allow_hijacking_localhost": True,
    "network.proxy.failover_direct": False,
    "network.proxy.no_proxies_on": "",
    "network.proxy.type": 1,
    "network.trr.mode": 5,
    "services.settings.server": "data:,#",
    "toolkit.telemetry.enabled": False,
}


class Firefox:
    """A browser that is started for each tab."""

    def __init__(self, program: str | None = None) -> None:
        """`program`: None looks for the installed one when it is needed."""
        self._program = program

    @asynccontextmanager
    async def tab(self) -> AsyncGenerator[BidiTab]:
        program = self._program or found_program()
        async with closed_proxy() as proxy:
            with throwaway_profile() as profile:
                _configure(profile, proxy)
                arguments = [
                    "--headless",
                    "--no-remote",
                    "--profile",
                    str(profile.folder),
                    "--remote-debugging-port",
                    "0",
                ]
                process = await start(program, arguments, shell=LEASHED, profile=profile)
                try:
                    address = await _address(process, program)
                    async with web_socket(f"{address}/session") as wire, driven(wire) as remote:
                        remote.go(_drain(process))
                        yield await open_bidi_tab(remote, proxy.host_and_port)
                finally:
                    await end(process)


class RunningFirefox:
    """One that the user started with `--remote-debugging-port`; it is left running."""

    def __init__(self, port: int) -> None:
        self._port = port

    @asynccontextmanager
    async def tab(self) -> AsyncGenerator[BidiTab]:
        async with (
            closed_proxy() as proxy,
            web_socket(f"ws://127.0.0.1:{self._port}/session") as wire,
            driven(wire) as remote,
        ):
            tab = await open_bidi_tab(remote, proxy.host_and_port)
            try:
                yield tab
            finally:
                await tab.close()


def found_program() -> str:
    """Raises:
    BrowserError: None is installed.
    """
    return installed(MAC_PROGRAMS if sys.platform == "darwin" else PROGRAMS, "Firefox")


def _configure(profile: Profile, proxy: ClosedProxy) -> None:
    preferences = dict(PREFERENCES)
    for kind in ("http", "ssl"):
        preferences[f"network.proxy.{kind}"] = "127.0.0.1"
        preferences[f"network.proxy.{kind}_port"] = proxy.port
    lines = [f"user_pref({json.dumps(k)}, {json.dumps(v)});" for k, v in preferences.items()]
    (profile.folder / "user.js").write_text("\n".join(lines), encoding="utf-8")


async def _address(process: Process, program: str) -> str:
    """Where it listens, as it says itself:

    WebDriver BiDi listening on ws://127.0.0.1:41231
    """
    assert process.stdout
    said = "nothing"
    try:
        async with asyncio.timeout(START_TIMEOUT_S):
            while line := await process.stdout.readline():
                if found := re.search(rb"BiDi listening on (ws://\S+)", line):
                    return found[1].decode()
                said = line.decode(errors="replace").strip() or said
    except TimeoutError:
        said = f"nothing within {START_TIMEOUT_S:g} s"
    raise BrowserError(f"{program!r} did not start (it said {said[:300]!r}).")


async def _drain(process: Process) -> None:
    assert process.stdout
    while await process.stdout.read(1 << 16):
        pass
