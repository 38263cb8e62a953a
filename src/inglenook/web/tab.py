"""A browser as pages are read with it: one page, whose every request is handed to us.

The browser itself has no network (`closed_proxy.py`). What a page asks for is answered by a
function of ours, over the same transport, rules and ledger as any other request to the web.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Literal, Protocol

from inglenook.errors import RuntimeFault
from inglenook.web.base import WebResponse

Kind = Literal["page", "script", "style", "data", "other"]
"""`page`: what stands in the tab itself. `data`: of XMLHttpRequest and fetch. `other`: what text
does not need (frames, images, media, fonts, icons, beacons, what is loaded ahead)."""

LOAD_TIMEOUT_S = 15.0
"""Until the page says that it has loaded; then it is read as it is."""
SETTLE_S = 3.0
"""Longest wait after that for what scripts still fetch."""
QUIET_S = 0.4
"""Without a request for so long, a loaded page is done."""


class BrowserError(RuntimeFault):
    """The browser cannot be used: not found, not started, gone. One sentence: what and what to
    do."""


@dataclass(frozen=True, kw_only=True)
class BrowserCookie:
    name: str
    value: str = field(repr=False)
    domain: str
    """With a dot in front where it is for the hosts below as well."""
    path: str
    is_secure: bool
    is_http_only: bool
    same_site: Literal["none", "lax", "strict"] | None
    expires_at_s: float | None
    """Unix time; None: until the browser closes."""


@dataclass(frozen=True, kw_only=True)
class TabRequest:
    """One request that a page makes."""

    kind: Kind
    method: str
    url: str
    headers: Mapping[str, str]
    """As the browser would send them, cookies among them."""
    body: bytes = b""


Answer = Callable[[TabRequest], Awaitable[WebResponse | None]]
"""None: the request fails in the page. What it raises ends the reading and comes out of `read`."""


class Tab(Protocol):
    async def read(self, url: str, *, cookies: Sequence[BrowserCookie], answer: Answer) -> str:
        """The page's HTML once it has loaded and settled, without what cannot be seen.

        Raises:
            BrowserError: The browser went away, or did not do as it was told.
        """
        ...


class Browser(Protocol):
    def tab(self) -> AbstractAsyncContextManager[Tab]:
        """An empty tab in a context of its own; gone, with all it kept, afterwards.

        Raises:
            BrowserError: No browser can be had.
        """
        ...
