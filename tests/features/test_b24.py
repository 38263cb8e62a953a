"""B24: the user's own browser and cookies, over its remote protocol and without Playwright; off
unless they are asked for."""

import subprocess
import sys
from pathlib import Path

from inglenook.settings.sections import Web
from inglenook.web.addresses import AddressPolicy
from inglenook.web.browser import BrowserFetcher
from inglenook.web.chromium import Chromium
from inglenook.web.cookies import UserCookies
from inglenook.web.fetch import WebFetcher
from inglenook.web.firefox_cookies import FirefoxCookies
from inglenook.web.http import HttpTransport
from inglenook.web.page_reader import WorkerPageReader
from tests.web.browsing import AnyName, need_chromium, page, site
from tests.web.test_cookies import firefox_home
from tests.web.wire import Ledger


def test_both_are_off_by_default() -> None:
    assert (Web().browser, Web().cookies, Web().cookie_sites) == ("off", "off", [])


def test_a_browser_needs_no_package_of_its_own() -> None:
    code = "import sys, inglenook.web.chromium, inglenook.web.firefox; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    assert {b"playwright", b"selenium", b"websockets"}.isdisjoint(loaded.split())


async def test_a_page_behind_a_login_is_read_as_its_user_sees_it(tmp_path: Path) -> None:
    need_chromium()
    firefox_home(tmp_path, {"host": "site.test", "isHttpOnly": 0})
    cookies = UserCookies(FirefoxCookies(tmp_path), ["site.test"])
    policy = AddressPolicy(allow_private=True)
    transport, reader = HttpTransport(policy, resolver=AnyName()), WorkerPageReader()
    plain = WebFetcher(transport, reader, policy, cookies_for=cookies.cookies_for)
    fetcher = BrowserFetcher(plain, Chromium(), transport, reader, cookies_of=cookies.cookies_of)
    shown = "<p></p><script>document.querySelector('p').append('signed in: ' + document.cookie)"
    async with site({"/": page(shown + "</script>")}) as served:
        try:
            read = await fetcher.fetch(served.url, egress=Ledger())
        finally:
            await reader.close()
    assert read.text.strip() == "signed in: sid=s3cr3t"
    assert served.cookies_at("/") == ["sid=s3cr3t", "sid=s3cr3t"]
