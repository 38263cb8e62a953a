"""The search of the web, from settings."""

from collections.abc import Callable

from inglenook.errors import shown_address
from inglenook.settings.load import Loaded
from inglenook.web.addresses import AddressPolicy
from inglenook.web.base import SearchEngine, WebTransport
from inglenook.web.brave import Brave
from inglenook.web.duckduckgo import DuckDuckGo
from inglenook.web.duckduckgo_lite import DuckDuckGoLite
from inglenook.web.health import Health
from inglenook.web.http import HttpTransport
from inglenook.web.search import SearchService, WebState
from inglenook.web.searxng import SearXNG


def search_service(loaded: Loaded) -> SearchService:
    """Over the engines in the order of the settings; those that lack something are left out.

    Raises:
        ConfigError: An address or a key cannot be used.
    """
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


def web_state(loaded: Loaded, search: SearchService) -> WebState:
    settings = loaded.settings
    return WebState(
        engines=search.statuses(),
        web_search=settings.approvals.web_search,
        confidential=settings.approvals.confidential,
        browser=settings.web.browser,
        cache=settings.cache.enabled,
    )
