"""Cookies out of a Firefox profile, which holds them in the clear.

Source: https://searchfox.org/mozilla-central/source/netwerk/cookie/CookiePersistentStorage.cpp
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from inglenook.web.cookie_file import copied, newest, stamp_of
from inglenook.web.tab import BrowserCookie

PROFILES = (
    ".mozilla/firefox/*/cookies.sqlite",
    ".config/mozilla/firefox/*/cookies.sqlite",
    "snap/firefox/common/.mozilla/firefox/*/cookies.sqlite",
    ".var/app/org.mozilla.firefox/.mozilla/firefox/*/cookies.sqlite",
    "Library/Application Support/Firefox/Profiles/*/cookies.sqlite",
    "AppData/Roaming/Mozilla/Firefox/Profiles/*/cookies.sqlite",
)
SAME_SITE: dict[int, Literal["none", "lax", "strict"]] = {0: "none", 1: "lax", 2: "strict"}
"""256: the site said nothing."""
FIRST_WITH_MILLISECONDS = 16
"""Versions of the database before this count `expiry` in seconds."""
# Neither private windows nor containers nor what is kept apart for a frame.
QUERY = """
SELECT name, value, host, path, isSecure, isHttpOnly, sameSite, expiry
FROM moz_cookies WHERE originAttributes = '' AND is_wanted(host)
"""


class FirefoxCookies:
    def __init__(self, home: Path) -> None:
        """`home`: the user's home directory.

        Raises:
            ConfigError: It holds no profile of Firefox.
        """
        self._database = newest(home, PROFILES, "Firefox")

    def stamp(self) -> object:
        return stamp_of(self._database)

    def read(self, is_wanted: Callable[[str], bool]) -> Sequence[BrowserCookie]:
        with copied(self._database) as connection:
            connection.create_function("is_wanted", 1, is_wanted)
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            unit = 1000 if version >= FIRST_WITH_MILLISECONDS else 1
            rows = connection.execute(QUERY).fetchall()
        return [
            BrowserCookie(
                name=name,
                value=value,
                domain=host,
                path=path,
                is_secure=bool(is_secure),
                is_http_only=bool(is_http_only),
                same_site=SAME_SITE.get(same_site),
                expires_at_s=expiry / unit if expiry else None,
            )
            for name, value, host, path, is_secure, is_http_only, same_site, expiry in rows
        ]
