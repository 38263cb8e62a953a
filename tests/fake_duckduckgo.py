"""DuckDuckGo's HTML search on loopback, in the markup of the real page.

async with FakeDuckDuckGo(page(organic(url="https://a.test/", title="A"))) as server:
    ...                       # point an engine at server.url
assert server.asked[0].form["q"] == "otters"
"""

import asyncio
from dataclasses import dataclass, field
from html import escape
from urllib.parse import quote

from aiohttp import web

from tests.fake_web import Asked, FakeWeb

BOT_CHECK = """<!DOCTYPE html><html><body>
<form id="challenge-form" action="//duckduckgo.com/anomaly.js?sv=html&amp;cc=botnet" method="POST">
<div class="anomaly-modal__mask"><div class="anomaly-modal__modal">
<div class="anomaly-modal__title">Unfortunately, bots use DuckDuckGo too.</div></div></div>
</form></body></html>"""


def page(*rows: str) -> str:
    return (
        '<!DOCTYPE html><html><head><meta charset="utf-8"><title>x at DuckDuckGo</title></head>'
        '<body><form action="/html/" method="post"><input name="q" value="x"></form>'
        f'<div class="serp__results"><div id="links" class="results">{"".join(rows)}'
        '<div class="nav-link"><form action="/html/" method="post"></form></div>'
        "</div></div></body></html>"
    )


def organic(*, url: str, title: str, snippet: str = "", wrapped: bool = True) -> str:
    """`title` and `snippet` are HTML, `url` is plain."""
    link = f"//duckduckgo.com/l/?uddg={quote(url, safe='')}&rut=0123abcd" if wrapped else url
    href = escape(link)
    return (
        '<div class="result results_links results_links_deep web-result">'
        '<div class="links_main links_deep result__body"><h2 class="result__title">'
        f'<a rel="nofollow" class="result__a" href="{href}">{title}</a></h2>'
        f'<div class="result__extras"><a class="result__url" href="{href}">{escape(url)}</a></div>'
        f'<a class="result__snippet" href="{href}">{snippet}</a></div></div>'
    )


def ad(number: int) -> str:
    """As the real page does it: a link through `y.js`, its own class and a badge."""
    href = f"https://duckduckgo.com/y.js?ad_domain=shop{number}.test&amp;ad_provider=x"
    return (
        '<div class="result results_links results_links_deep result--ad">'
        '<div class="links_main links_deep result__body"><h2 class="result__title">'
        f'<a rel="nofollow" class="result__a" href="{href}">Buy {number}</a></h2>'
        '<div class="badge--ad__wrap"><a class="badge--ad" href="#">Ad</a></div>'
        f'<a class="result__snippet" href="{href}">Cheap.</a></div></div>'
    )


def unmarked_ad(number: int) -> str:
    """An ad that only its target gives away, wrapped like an organic result."""
    return organic(
        url=f"https://duckduckgo.com/y.js?ad_domain=shop{number}.test",
        title="Buy",
        snippet="Cheap.",
    )


NO_RESULTS = page(
    '<div class="result results_links result--no-result"><div class="no-results">'
    "No results.</div></div>"
)


@dataclass(kw_only=True)
class FakeDuckDuckGo(FakeWeb):
    """Serves one body to whoever posts a form to `/html/` or `/lite/`."""

    body: str | bytes = field(default=NO_RESULTS, kw_only=False)
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict[str, str])
    is_silent: bool = False
    """It never answers."""

    async def answer(self, asked: Asked) -> web.Response:
        if asked.method != "POST" or asked.path not in ("/html/", "/lite/"):
            return web.Response(status=404)
        if self.is_silent:
            await asyncio.Event().wait()
        body = self.body.encode() if isinstance(self.body, str) else self.body
        return web.Response(
            body=body, status=self.status, content_type="text/html", headers=self.headers
        )
