"""The user's own cookies, for the sites they listed and for no other; opt-in.

Which of them a request gets is decided for each URL anew, so a redirect to another site carries
none of them along. Values are in headers and in the browser's context, and nowhere else.
"""

import logging
import re
import sqlite3
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from inglenook.errors import ConfigError
from inglenook.web.addresses import as_ip
from inglenook.web.base import TransportError
from inglenook.web.tab import BrowserCookie
from inglenook.web.urls import WebUrl, parse_url

log = logging.getLogger(__name__)

_SITE = re.compile(r"(?=.{1,253}$)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*")
_SENDABLE = re.compile(r"[\x21-\x3a\x3c-\x7e][\x20-\x3a\x3c-\x7e]*|")
"""No control characters, no semicolons: nothing that would end the cookie or the header."""
_REGISTRY = re.compile(
    r"(ac|co|com|edu|gen|gob|gouv|gov|ltd|me|mil|ne|net|nom|or|org|plc)\.[a-z]{2}"
)
"""What countries hand out names under, as in `co.uk`. The whole list changes weekly and is not kept
here: whoever names one that is missing opens their own cookies to each of its sites, not one site's
to another."""


class CookieStore(Protocol):
    def stamp(self) -> object:
        """Equal as long as `read` would give the same.

        Raises:
            OSError: The store cannot be read.
        """
        ...

    def read(self, is_wanted: Callable[[str], bool]) -> Sequence[BrowserCookie]:
        """Those whose domain, as the browser wrote it, `is_wanted`; of no other the value is read.

        Raises:
            OSError, sqlite3.Error: The store cannot be read.
        """
        ...


class UserCookies:
    def __init__(
        self, store: CookieStore, sites: Sequence[str], *, now: Callable[[], float] = time.time
    ) -> None:
        """`sites` are names, each with all that lies below it.

        Raises:
            ConfigError: One of them is an address, or belongs to more than one owner.
        """
        self._store = store
        self._sites = tuple(_checked(site.lower().strip(".")) for site in sites)
        self._now = now
        self._stamp: object = None
        self._kept: Sequence[BrowserCookie] = ()

    def are_for(self, url: str) -> bool:
        """Whether the site of `url` is listed."""
        return self._site_of(_parsed(url)) is not None

    def cookies_for(self, url: str) -> str | None:
        """The `Cookie` header for a request to `url`."""
        pairs = [f"{cookie.name}={cookie.value}" for cookie in self._matching(url)]
        return "; ".join(pairs) or None

    def cookies_of(self, url: str) -> Sequence[BrowserCookie]:
        """What a browser gets that is to read `url`: of its listed site only, and bound to it."""
        site = self._site_of(_parsed(url))
        if site is None:
            return ()
        return [
            # One of the whole domain would go to hosts that are not listed.
            cookie if _is_below(_bare(cookie), site) else replace(cookie, domain=f".{site}")
            for cookie in self._valid()
            if _is_wanted(cookie.domain, site)
        ]

    def _matching(self, url: str) -> list[BrowserCookie]:
        """In the order of RFC 6265, 5.4: longer paths first."""
        parsed = _parsed(url)
        if parsed is None or self._site_of(parsed) is None:
            return []
        found = [cookie for cookie in self._valid() if _matches(cookie, parsed)]
        return sorted(found, key=lambda cookie: len(cookie.path), reverse=True)

    def _site_of(self, url: WebUrl | None) -> str | None:
        if url is None:
            return None
        return next((site for site in self._sites if _is_below(url.host, site)), None)

    def _valid(self) -> list[BrowserCookie]:
        now = self._now()
        return [
            cookie
            for cookie in self._read()
            if cookie.expires_at_s is None or cookie.expires_at_s > now
        ]

    def _read(self) -> Sequence[BrowserCookie]:
        """Anew only where the browser has written since. A page is read without cookies rather than
        not at all."""
        try:
            stamp = self._store.stamp()
            if stamp != self._stamp:
                self._kept = [
                    cookie for cookie in self._store.read(self._is_wanted) if _is_sendable(cookie)
                ]
                self._stamp = stamp
        except (OSError, sqlite3.Error) as error:
            log.warning("the browser's cookies cannot be read: %s", type(error).__name__)
            return ()
        return self._kept

    def _is_wanted(self, domain: str) -> bool:
        return any(_is_wanted(domain, site) for site in self._sites)


def _is_wanted(domain: str, site: str) -> bool:
    """A cookie of the domain is sent to the site or to something below it."""
    bare = domain.removeprefix(".")
    return _is_below(bare, site) or (domain != bare and _is_below(site, bare))


def _checked(site: str) -> str:
    if as_ip(site) is not None or not _SITE.fullmatch(site):
        raise ConfigError(
            f"web.cookie_sites: {site!r} is no site; write its name alone, such as 'lwn.net'."
        )
    if "." not in site or _REGISTRY.fullmatch(site):
        raise ConfigError(
            f"web.cookie_sites: {site!r} belongs to many owners; name the one site, such as "
            f"'example.{site}'."
        )
    return site


def _parsed(url: str) -> WebUrl | None:
    try:
        return parse_url(url)
    except TransportError:
        return None


def _is_below(host: str, site: str) -> bool:
    """It is the site or below it, on the border of a label."""
    return host == site or host.endswith(f".{site}")


def _bare(cookie: BrowserCookie) -> str:
    return cookie.domain.removeprefix(".")


def _is_for_domain(cookie: BrowserCookie) -> bool:
    return cookie.domain.startswith(".")


def _matches(cookie: BrowserCookie, url: WebUrl) -> bool:
    if cookie.is_secure and url.scheme != "https":
        return False
    if url.host != _bare(cookie) and not (
        _is_for_domain(cookie) and _is_below(url.host, _bare(cookie))
    ):
        return False
    path = url.target.partition("?")[0]
    return path == cookie.path or path.startswith(cookie.path.rstrip("/") + "/")


def _is_sendable(cookie: BrowserCookie) -> bool:
    return bool(
        cookie.name
        and "=" not in cookie.name
        and _SENDABLE.fullmatch(cookie.name)
        and _SENDABLE.fullmatch(cookie.value)
    )
