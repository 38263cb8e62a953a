"""The web as the settings have it: which engines, which pages, by which way, and what is kept."""

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

from inglenook.errors import shown_address
from inglenook.settings.load import Loaded
from inglenook.web.addresses import AddressPolicy, Origin
from inglenook.web.base import Fetcher, PageReader, SearchEngine, Searcher, WebTransport
from inglenook.web.brave import Brave
from inglenook.web.browser import BrowserFetcher, no_browser_cookies
from inglenook.web.cached import CachedFetcher, CachedSearch, Shelf, WebCache
from inglenook.web.chrome_cookies import ChromeCookies
from inglenook.web.chromium import Chromium, RunningChromium
from inglenook.web.cookies import UserCookies
from inglenook.web.duckduckgo import DuckDuckGo
from inglenook.web.duckduckgo_lite import DuckDuckGoLite
from inglenook.web.fetch import WebFetcher, no_cookies
from inglenook.web.firefox import Firefox, RunningFirefox
from inglenook.web.firefox_cookies import FirefoxCookies
from inglenook.web.health import Health
from inglenook.web.http import HttpTransport
from inglenook.web.page_reader import WorkerPageReader
from inglenook.web.personal import PersonalFetcher
from inglenook.web.search import SearchService, WebState
from inglenook.web.searxng import SearXNG
from inglenook.web.tab import Browser

HTTPS_PORT = 443
"""Where only public services are: those on this machine have ports of their own."""


@dataclass(frozen=True, kw_only=True)
class WebParts:
    engines: SearchService
    searcher: Searcher | None
    """What runs search with; None: no run can."""
    fetcher: Fetcher
    state: Callable[[], WebState]


def web_parts(
    loaded: Loaded, cache: WebCache, stack: AsyncExitStack, own_port: int | None
) -> WebParts:
    """
    Args:
        stack: Closes the worker processes that read pages.
        own_port: Where this server listens; None: it does not.

    Raises:
        ConfigError: An address or a key cannot be used, or there are no cookies where the settings
            have them from.
    """
    settings = loaded.settings
    engines = _engines(loaded)
    reader = WorkerPageReader()
    stack.push_async_callback(reader.close)
    fetcher = _fetcher(loaded, reader, own_port, None)
    searcher: Searcher = engines
    if settings.cache.max_bytes:
        shelf = Shelf(
            cache=cache,
            max_bytes=settings.cache.max_bytes,
            validity=timedelta(days=settings.cache.validity_days),
        )
        searcher, fetcher = CachedSearch(engines, shelf), CachedFetcher(fetcher, shelf)
    if cookies := _cookies(loaded):
        fetcher = PersonalFetcher(fetcher, _fetcher(loaded, reader, own_port, cookies), cookies)
    is_offered = settings.approvals.web_search != "block" and bool(engines.statuses())

    def state() -> WebState:
        return WebState(
            engines=engines.statuses(),
            web_search=settings.approvals.web_search,
            confidential=settings.approvals.confidential,
            browser=settings.web.browser,
            cache=settings.cache.enabled,
        )

    return WebParts(
        engines=engines,
        searcher=searcher if is_offered else None,
        fetcher=fetcher,
        state=state,
    )


def _engines(loaded: Loaded) -> SearchService:
    """In the order of the settings; those that lack something are left out."""
    web = loaded.settings.web
    services = [web.duckduckgo_url, web.duckduckgo_lite_url, web.searxng_url, web.brave_url]
    transport = HttpTransport(
        AddressPolicy(allow_private=web.allow_private_addresses),
        trusted=[shown_address(url) for url in services if url],
        proxy=web.proxy,
    )
    makers: dict[str, Callable[[WebTransport], SearchEngine]] = {
        "duckduckgo": lambda transport: DuckDuckGo(transport, url=web.duckduckgo_url),
        "duckduckgo-lite": lambda transport: DuckDuckGoLite(transport, url=web.duckduckgo_lite_url),
        "searxng": lambda transport: SearXNG(transport, url=web.searxng_url),
        "brave": lambda transport: Brave(transport, key=loaded.brave_key or "", url=web.brave_url),
    }
    usable = [name for name in web.engines if name not in loaded.unusable_engines]
    return SearchService([makers[name](transport) for name in usable], Health())


def _fetcher(
    loaded: Loaded, reader: PageReader, own_port: int | None, cookies: UserCookies | None
) -> Fetcher:
    """`cookies`: go along to the sites that the user listed."""
    web = loaded.settings.web
    policy = AddressPolicy(
        allow_private=web.allow_private_addresses,
        forbidden=frozenset(_own_origins(loaded, own_port)),
    )
    transport = HttpTransport(policy, proxy=web.proxy)
    plain = WebFetcher(
        transport, reader, policy, cookies_for=cookies.cookies_for if cookies else no_cookies
    )
    if (browser := _browser(loaded)) is None:
        return plain
    return BrowserFetcher(
        plain,
        browser,
        transport,
        reader,
        cookies_of=cookies.cookies_of if cookies else no_browser_cookies,
    )


def _cookies(loaded: Loaded) -> UserCookies | None:
    """
    Raises:
        ConfigError: The browser has no profile here, or a site is none.
    """
    web = loaded.settings.web
    match web.cookies:
        case "firefox":
            return UserCookies(FirefoxCookies(Path.home()), web.cookie_sites)
        case "chrome":
            return UserCookies(ChromeCookies(Path.home()), web.cookie_sites)
        case "off":
            return None


def _browser(loaded: Loaded) -> Browser | None:
    web = loaded.settings.web
    match web.browser:
        case "chromium":
            return RunningChromium(web.browser_port) if web.browser_port else Chromium()
        case "firefox":
            return RunningFirefox(web.browser_port) if web.browser_port else Firefox()
        case "off":
            return None


def _own_origins(loaded: Loaded, own_port: int | None) -> Sequence[Origin]:
    """Servers that no page may be read from: this one, and those that it works with, but for public
    services such as a provider of models, whose documentation may well be asked for."""
    settings = loaded.settings
    named = [loaded.ollama_url, loaded.openai_url, settings.open_webui.url]
    named += [model.base_url for model in settings.models]
    own = [(settings.server.host, own_port)] if own_port else []
    return [*own, *(origin for url in named if url and (origin := _origin(url))[1] != HTTPS_PORT)]


def _origin(url: str) -> Origin:
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or (HTTPS_PORT if parts.scheme == "https" else 80)
