"""Cookies out of profiles that real browsers wrote: what a site set goes back to it, and there
alone."""

import asyncio
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from inglenook.web.chrome_cookies import ChromeCookies
from inglenook.web.cookies import CookieStore, UserCookies
from inglenook.web.firefox_cookies import FirefoxCookies
from tests.e2e.browser import CHROMIUM
from tests.web.browsing import FIREFOX, need_chromium, need_firefox

VISIT_S = 120
NO_SURPRISES = (
    'user_pref("network.dns.localDomains", "site.test");',  # it is this machine
    'user_pref("network.proxy.type", 0);',
    'user_pref("dom.security.https_first", false);',
)


class User:
    """Somebody with a home of their own; browsers do not run as root."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._account: dict[str, Any] = {}
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            self._account = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
            os.chown(home, nobody.pw_uid, nobody.pw_gid)

    async def runs(self, program: str | None, *arguments: str) -> None:
        assert program is not None
        process = await asyncio.create_subprocess_exec(
            program,
            *arguments,
            env={"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8"},
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            **self._account,
        )
        try:
            async with asyncio.timeout(VISIT_S):
                await process.wait()
        finally:
            if process.returncode is None:
                os.killpg(process.pid, 9)


@pytest.fixture
def user() -> Generator[User]:
    home = Path(tempfile.mkdtemp(prefix="inglenook-user-"))  # nobody may not look into tmp_path
    home.chmod(0o755)
    yield User(home)
    shutil.rmtree(home, ignore_errors=True)


@asynccontextmanager
async def site() -> AsyncGenerator[int]:
    """Sets two cookies on whoever comes; its port."""

    async def greet(_: web.Request) -> web.Response:
        response = web.Response(text="<html>hello</html>", content_type="text/html")
        response.set_cookie("sid", "s3cr3t", max_age=3600, httponly=True)
        response.set_cookie("theme", "dark", max_age=3600, path="/a", samesite="Lax")
        return response

    app = web.Application()
    app.router.add_get("/{path:.*}", greet)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    addresses: Sequence[tuple[str, int]] = runner.addresses
    yield addresses[0][1]
    await runner.cleanup()


def check(store: CookieStore) -> None:
    cookies = UserCookies(store, ["site.test"])
    assert cookies.cookies_for("http://site.test/a/b") == "theme=dark; sid=s3cr3t"
    assert cookies.cookies_for("http://site.test/") == "sid=s3cr3t"
    assert cookies.cookies_for("http://other.test/") is None


async def test_what_chromium_keeps_without_a_keyring_is_read(user: User) -> None:
    need_chromium()
    async with site() as port:
        await user.runs(
            CHROMIUM,
            "--headless=new",
            "--no-first-run",
            "--disable-gpu",
            "--password-store=basic",
            f"--user-data-dir={user.home}/.config/chromium",
            f"--host-resolver-rules=MAP site.test 127.0.0.1:{port}, MAP * ~NOTFOUND",
            "--dump-dom",
            "http://site.test/a/b",
        )
    check(ChromeCookies(user.home))


async def test_what_firefox_keeps_is_read(user: User) -> None:
    need_firefox()
    async with site() as port:
        await user.runs(FIREFOX, "--headless", "-CreateProfile", "test")
        [profile] = (times.parent for times in user.home.glob(".*/**/*.test/times.json"))
        (profile / "user.js").write_text("\n".join(NO_SURPRISES))
        shot = str(user.home / "shot.png")
        address = f"http://site.test:{port}/a/b"
        await user.runs(FIREFOX, "--headless", "-P", "test", "--screenshot", shot, address)
    check(FirefoxCookies(user.home))
