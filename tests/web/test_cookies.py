import hashlib
import logging
import os
import sqlite3
import sys
from collections.abc import Mapping
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from inglenook.errors import ConfigError
from inglenook.web.addresses import AddressPolicy
from inglenook.web.chrome_cookies import ChromeCookies
from inglenook.web.cookies import UserCookies
from inglenook.web.fetch import WebFetcher
from inglenook.web.firefox_cookies import FirefoxCookies
from inglenook.web.http import HttpTransport
from tests.web.browsing import PlainReader
from tests.web.wire import Ledger, Names, RawServer, answer

NOW_S = 1_800_000_000
LATER_S = NOW_S + 3600
SECRET = "s3cr3t"


def firefox_home(home: Path, *cookies: Mapping[str, Any], version: int = 17) -> Path:
    """A home with a profile as Firefox 153 writes it; returns its database."""
    profile = home / ".mozilla" / "firefox" / "abc.default-esr"
    profile.mkdir(parents=True)
    database = profile / "cookies.sqlite"
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute(f"PRAGMA user_version = {version}")
        connection.execute(
            "CREATE TABLE moz_cookies (id INTEGER PRIMARY KEY, originAttributes TEXT NOT NULL "
            "DEFAULT '', name TEXT, value TEXT, host TEXT, path TEXT, expiry INTEGER, "
            "lastAccessed INTEGER, creationTime INTEGER, isSecure INTEGER, isHttpOnly INTEGER, "
            "inBrowserElement INTEGER DEFAULT 0, sameSite INTEGER DEFAULT 0, "
            "schemeMap INTEGER DEFAULT 0, isPartitionedAttributeSet INTEGER DEFAULT 0)"
        )
    for cookie in cookies:
        add(database, **cookie)
    return database


def add(database: Path, **cookie: Any) -> None:
    row = {
        "originAttributes": "",
        "name": "sid",
        "value": SECRET,
        "host": "lwn.net",
        "path": "/",
        "expiry": LATER_S * 1000,
        "isSecure": 0,
        "isHttpOnly": 1,
        "sameSite": 1,
    } | cookie
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute(
            f"INSERT INTO moz_cookies ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})",
            list(row.values()),
        )


def user_cookies(home: Path, *sites: str) -> UserCookies:
    return UserCookies(FirefoxCookies(home), sites or ("lwn.net",), now=lambda: NOW_S)


def test_a_cookie_goes_to_its_listed_site_alone(tmp_path: Path) -> None:
    firefox_home(tmp_path, {}, {"host": "bank.test"}, {"host": ".lwn.net", "name": "all"})
    cookies = user_cookies(tmp_path)
    assert cookies.cookies_for("https://lwn.net/a?b#c") == "sid=s3cr3t; all=s3cr3t"
    assert cookies.cookies_for("https://www.lwn.net/") == "all=s3cr3t"
    for other in ("https://bank.test/", "https://evillwn.net/", "https://lwn.net.evil.test/", "x"):
        assert cookies.cookies_for(other) is None


def test_a_cookie_of_the_whole_domain_goes_to_the_listed_part_only(tmp_path: Path) -> None:
    firefox_home(tmp_path, {"host": ".example.org"}, {"host": "example.org", "name": "own"})
    cookies = user_cookies(tmp_path, "mail.example.org")
    assert cookies.cookies_for("https://mail.example.org/") == "sid=s3cr3t"
    assert cookies.cookies_for("https://example.org/") is None
    (given,) = cookies.cookies_of("https://mail.example.org/inbox")
    assert given.domain == ".mail.example.org"
    assert cookies.cookies_of("https://example.org/") == ()


@pytest.mark.parametrize(
    ("cookie", "url", "is_sent"),
    [
        ({"isSecure": 1}, "http://lwn.net/", False),
        ({"isSecure": 1}, "https://lwn.net/", True),
        ({"path": "/my"}, "https://lwn.net/my/page", True),
        ({"path": "/my"}, "https://lwn.net/my?x=1", True),
        ({"path": "/my"}, "https://lwn.net/mystery", False),
        ({"path": "/my"}, "https://lwn.net/", False),
        ({"expiry": NOW_S * 1000}, "https://lwn.net/", False),
        ({"host": ".lwn.net"}, "https://a.lwn.net/", True),
        ({"originAttributes": "^userContextId=2"}, "https://lwn.net/", False),
        ({"originAttributes": "^partitionKey=%28https%2Cx.test%29"}, "https://lwn.net/", False),
        ({"value": "a\r\nX: y"}, "https://lwn.net/", False),
        ({"value": "a; b=c"}, "https://lwn.net/", False),
        ({"value": '"quoted"'}, "https://lwn.net/", True),
        ({"name": "a=b"}, "https://lwn.net/", False),
    ],
)
def test_a_cookie_is_sent_as_its_site_said(
    tmp_path: Path, cookie: dict[str, Any], url: str, is_sent: bool
) -> None:
    firefox_home(tmp_path, cookie)
    assert (user_cookies(tmp_path).cookies_for(url) is not None) is is_sent


def test_older_profiles_count_seconds(tmp_path: Path) -> None:
    firefox_home(tmp_path, {"expiry": LATER_S}, {"expiry": NOW_S - 1, "name": "past"}, version=12)
    assert user_cookies(tmp_path).cookies_for("https://lwn.net/") == "sid=s3cr3t"


def test_longer_paths_come_first(tmp_path: Path) -> None:
    firefox_home(
        tmp_path, {"name": "a"}, {"name": "b", "path": "/x/y"}, {"name": "c", "path": "/x"}
    )
    header = user_cookies(tmp_path).cookies_for("https://lwn.net/x/y")
    assert header == "b=s3cr3t; c=s3cr3t; a=s3cr3t"


def test_what_the_browser_wrote_just_now_is_seen_while_it_runs(tmp_path: Path) -> None:
    database = firefox_home(tmp_path)
    cookies = user_cookies(tmp_path)
    assert cookies.cookies_for("https://lwn.net/") is None
    with closing(sqlite3.connect(database)) as browser:
        browser.execute("PRAGMA journal_mode = WAL")
        browser.execute("SELECT name FROM moz_cookies").fetchall()
        add(database)
        assert Path(f"{database}-wal").stat().st_size > 0
        before = database.read_bytes()
        assert cookies.cookies_for("https://lwn.net/") == "sid=s3cr3t"
        assert database.read_bytes() == before


def test_the_profile_used_last_is_read(tmp_path: Path) -> None:
    newer = firefox_home(tmp_path, {"value": "newer"})
    older = newer.parents[1] / "old.default" / "cookies.sqlite"
    older.parent.mkdir()
    older.write_bytes(b"")
    os.utime(older, (1, 1))
    assert user_cookies(tmp_path).cookies_for("https://lwn.net/") == "sid=newer"


@pytest.mark.parametrize(
    "site",
    ["com", "co.uk", "COM.AU.", "127.0.0.1", "::1", "a b.test", "*.lwn.net", "", "lwn.net/x"],
)
def test_what_is_no_site_is_refused(tmp_path: Path, site: str) -> None:
    firefox_home(tmp_path)
    with pytest.raises(ConfigError, match="web.cookie_sites"):
        user_cookies(tmp_path, site)


def test_no_profile_is_said_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no Firefox profile"):
        FirefoxCookies(tmp_path)


def test_a_profile_that_is_gone_or_broken_gives_none_and_tells_no_value(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    database = firefox_home(tmp_path, {})
    cookies = user_cookies(tmp_path)
    with caplog.at_level(logging.DEBUG):
        database.write_bytes(SECRET.encode() * 100)
        assert cookies.cookies_for("https://lwn.net/") is None
        database.unlink()
        assert cookies.cookies_for("https://lwn.net/") is None
    assert "cannot be read" in caplog.text
    assert SECRET not in caplog.text


def test_a_value_is_not_in_what_is_shown_of_a_cookie(tmp_path: Path) -> None:
    firefox_home(tmp_path, {})
    (cookie,) = user_cookies(tmp_path).cookies_of("https://lwn.net/")
    assert SECRET not in repr(cookie)


async def test_a_redirect_to_another_site_takes_no_cookie_along(tmp_path: Path) -> None:
    firefox_home(tmp_path, {})
    policy, ledger = AddressPolicy(allow_private=True), Ledger()
    async with RawServer(answer("200 OK", b"text", "Content-Type: text/plain")) as other:
        to_other = answer("302 Found", b"", f"Location: http://other.test:{other.port}/")
        async with RawServer(to_other) as site:
            names = Names({"lwn.net": ["127.0.0.1"], "other.test": ["127.0.0.1"]})
            fetcher = WebFetcher(
                HttpTransport(policy, resolver=names),
                PlainReader(),
                policy,
                cookies_for=user_cookies(tmp_path).cookies_for,
            )
            await fetcher.fetch(f"http://lwn.net:{site.port}/", egress=ledger)
    assert b"\r\nCookie: sid=s3cr3t\r\n" in site.heads[0]
    assert b"cookie" not in other.heads[0].lower()
    assert SECRET not in repr(ledger.entries)


def chrome_home(home: Path, encrypted: bytes, *, domain: str = "lwn.net") -> None:
    """A home with a profile as Chromium 156 writes it."""
    profile = home / ".config" / "chromium" / "Default"
    profile.mkdir(parents=True)
    with closing(sqlite3.connect(profile / "Cookies")) as connection, connection:
        connection.execute("CREATE TABLE meta (key TEXT, value TEXT)")
        connection.execute("INSERT INTO meta VALUES ('version', '24')")
        connection.execute(
            "CREATE TABLE cookies (host_key TEXT, top_frame_site_key TEXT, name TEXT, value TEXT, "
            "encrypted_value BLOB, path TEXT, expires_utc INTEGER, is_secure INTEGER, "
            "is_httponly INTEGER, samesite INTEGER)"
        )
        expires = (LATER_S + 11_644_473_600) * 1_000_000
        connection.execute(
            "INSERT INTO cookies VALUES (?, '', 'sid', '', ?, '/', ?, 0, 1, -1)",
            (domain, encrypted, expires),
        )


def encrypted(value: str, domain: str) -> bytes:
    """With the key that Chromium uses where there is no keyring."""
    ciphers: Any = import_module("cryptography.hazmat.primitives.ciphers")
    key = hashlib.pbkdf2_hmac("sha1", b"peanuts", b"saltysalt", 1, 16)
    plain = hashlib.sha256(domain.encode()).digest() + value.encode()
    plain += bytes([16 - len(plain) % 16]) * (16 - len(plain) % 16)
    encryptor = ciphers.Cipher(
        ciphers.algorithms.AES(key), ciphers.modes.CBC(b" " * 16)
    ).encryptor()
    return b"v10" + encryptor.update(plain) + encryptor.finalize()


def test_chromium_values_under_the_fixed_key_are_read(tmp_path: Path) -> None:
    chrome_home(tmp_path, encrypted(SECRET, "lwn.net"))
    cookies = UserCookies(ChromeCookies(tmp_path), ["lwn.net"], now=lambda: NOW_S)
    assert cookies.cookies_for("https://lwn.net/") == "sid=s3cr3t"


@pytest.mark.parametrize("value", [b"v11" + b"x" * 48, b"v10short", b"v10" + b"x" * 48])
def test_chromium_values_under_another_key_are_left_out(
    tmp_path: Path, value: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    chrome_home(tmp_path, value)
    cookies = UserCookies(ChromeCookies(tmp_path), ["lwn.net"], now=lambda: NOW_S)
    assert cookies.cookies_for("https://lwn.net/") is None
    assert "keyring" in caplog.text


def test_without_the_cipher_only_firefox_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers", None)
    chrome_home(tmp_path, b"")
    with pytest.raises(ConfigError, match=r"`cryptography` is not installed.*\"firefox\""):
        ChromeCookies(tmp_path)
