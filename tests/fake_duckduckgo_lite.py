"""Rows of DuckDuckGo Lite's page, in the markup of the real one; `FakeDuckDuckGo` serves it too.

Seen in the autumn of 2026: a numbered title row, a row with the snippet, one with the address and
an empty one; classes in single quotes; both rows of an ad are of the class `result-sponsored`, and
its title row has a second link of the results' class, to what such an ad is. No page without
results could be seen: its words are those by which the library `duckduckgo_search` knows it.
"""

from html import escape
from urllib.parse import quote

ABOUT_ADS = "https://duckduckgo.com/duckduckgo-help-pages/company/ads-by-microsoft"
BOT_CHECK = """<!DOCTYPE html><html><body><div class="anomaly-modal__box">
<form id="challenge-form" action="//duckduckgo.com/anomaly.js?sv=lite&amp;cc=sre" method="POST">
<div class="anomaly-modal__title">Unfortunately, bots use DuckDuckGo too.</div></form></div>
</body></html>"""


def page(*rows: str) -> str:
    form = (
        '<form action="/lite/" method="post"><input class="query" name="q" value="x">'
        '<select name="kl"><option value="">All Regions</option></select>'
        '<select name="df"><option value="">Any Time</option></select></form>'
    )
    return (
        '<!DOCTYPE html><html><head><meta charset="utf-8"><title>x at DuckDuckGo</title></head>'
        f"<body><p class='extra'>&nbsp;</p><div class='header'>DuckDuckGo</div>{form}"
        f"<div class='filters'><table border='0'>{''.join(rows)}</table></div></body></html>"
    )


def organic(*, url: str, title: str, snippet: str | None = "", wrapped: bool = True) -> str:
    """`title` and `snippet` are HTML, `url` is plain. None: the row has no snippet."""
    link = f"//duckduckgo.com/l/?uddg={quote(url, safe='')}&rut=0123abcd" if wrapped else url
    told = (
        f"<tr><td>&nbsp;&nbsp;&nbsp;</td><td class='result-snippet'>\n {snippet}\n</td></tr>"
        if snippet is not None
        else ""
    )
    return (
        '<tr><td valign="top">1.&nbsp;</td><td>'
        f'<a rel="nofollow" href="{escape(link)}" class=\'result-link\'>{title}</a></td></tr>'
        f"{told}<tr><td>&nbsp;&nbsp;&nbsp;</td><td><span class='link-text'>{escape(url)}</span>"
        "</td></tr><tr><td>&nbsp;</td><td>&nbsp;</td></tr>"
    )


def ad(number: int) -> str:
    href = f"https://duckduckgo.com/y.js?ad_domain=shop{number}.test&amp;ad_provider=bingv7aa"
    return (
        '<tr class="result-sponsored"><td valign="top">1.&nbsp;</td><td>'
        f'<a rel="nofollow" href="{href}" class=\'result-link\'>Buy {number}</a> '
        f"(<a href=\"{ABOUT_ADS}\" class='result-link'>Sponsored link - more info</a>)</td></tr>"
        "<tr class=\"result-sponsored\"><td>&nbsp;</td><td class='result-snippet'>Cheap.</td></tr>"
    )


def unmarked_ad(number: int) -> str:
    """An ad that only its target gives away, wrapped like an organic result."""
    return organic(
        url=f"https://duckduckgo.com/y.js?ad_domain=shop{number}.test",
        title=f"Buy {number}",
        snippet="Cheap.",
    )


NO_RESULTS = page("<tr><td>&nbsp;</td><td>No more results.</td></tr>")
