"""Every kind of search engine with its service on loopback, for what has to hold of all of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest

from inglenook.web.base import SearchEngine
from inglenook.web.brave import Brave
from inglenook.web.duckduckgo import DuckDuckGo
from inglenook.web.duckduckgo_lite import DuckDuckGoLite
from inglenook.web.searxng import SearXNG
from tests import fake_brave, fake_duckduckgo, fake_duckduckgo_lite, fake_searxng
from tests.fake_brave import FakeBrave
from tests.fake_duckduckgo import FakeDuckDuckGo
from tests.fake_searxng import FakeSearXNG
from tests.fake_web import FakeWeb
from tests.web.searching import loopback

RowMaker = Callable[[str, str, str], object]
"""Of a title and a snippet with markup, and an address."""


@dataclass(frozen=True, kw_only=True)
class Kind:
    name: str
    title: str
    """As sentences name it."""
    serve: Callable[[Sequence[tuple[str, str, str]]], FakeWeb]
    """With rows of title, address and snippet."""
    engine: Callable[[str], SearchEngine]
    """At the service's root."""
    blocked: Callable[[], FakeWeb]
    changed: Callable[[], FakeWeb]

    def __str__(self) -> str:
        return self.name


def _duckduckgo(rows: Sequence[tuple[str, str, str]]) -> FakeWeb:
    made = [fake_duckduckgo.organic(title=t, url=u, snippet=s) for t, u, s in rows]
    return FakeDuckDuckGo(fake_duckduckgo.page(*made))


def _lite(rows: Sequence[tuple[str, str, str]]) -> FakeWeb:
    made = [fake_duckduckgo_lite.organic(title=t, url=u, snippet=s) for t, u, s in rows]
    return FakeDuckDuckGo(fake_duckduckgo_lite.page(*made))


def _searxng(rows: Sequence[tuple[str, str, str]]) -> FakeWeb:
    return FakeSearXNG(results=[fake_searxng.result(title=t, url=u, content=s) for t, u, s in rows])


def _brave(rows: Sequence[tuple[str, str, str]]) -> FakeWeb:
    made = [fake_brave.result(title=t, url=u, description=s) for t, u, s in rows]
    return FakeBrave(results=made)


REDESIGNED = "<!DOCTYPE html><main><article><a href='https://a.test/'>A</a></article></main>"
KINDS = (
    Kind(
        name="duckduckgo",
        title="DuckDuckGo",
        serve=_duckduckgo,
        engine=lambda url: DuckDuckGo(loopback(), url=url),
        blocked=lambda: FakeDuckDuckGo(fake_duckduckgo.BOT_CHECK, status=202),
        changed=lambda: FakeDuckDuckGo(REDESIGNED),
    ),
    Kind(
        name="duckduckgo-lite",
        title="DuckDuckGo Lite",
        serve=_lite,
        engine=lambda url: DuckDuckGoLite(loopback(), url=url),
        blocked=lambda: FakeDuckDuckGo(fake_duckduckgo_lite.BOT_CHECK, status=202),
        changed=lambda: FakeDuckDuckGo(REDESIGNED),
    ),
    Kind(
        name="searxng",
        title="SearXNG",
        serve=_searxng,
        engine=lambda url: SearXNG(loopback(), url=url),
        blocked=lambda: FakeSearXNG(status=429),
        changed=lambda: FakeSearXNG(body=REDESIGNED.encode()),
    ),
    Kind(
        name="brave",
        title="Brave Search",
        serve=_brave,
        engine=lambda url: Brave(loopback(), key=fake_brave.KEY, url=url),
        blocked=lambda: FakeBrave(status=429),
        changed=lambda: FakeBrave(body=REDESIGNED.encode()),
    ),
)
every_kind = pytest.mark.parametrize("kind", KINDS, ids=str)
