"""The main text of an HTML page as Markdown. Runs only inside a worker.

Two engines: trafilatura knows best what of a page is its article, and takes long for pages of many
elements (and forever for hostile ones); turbohtml's renderer gives everything that is seen, at once
and whatever the page. The second is there where the first may not or does not do
(docs/adr/0009-main-text.md).
"""

import turbohtml
from trafilatura.core import extract

from inglenook.documents.plain_text import clean

MAX_TITLE_CHARS = 300

_MAX_ELEMENTS = 2_500
"""For trafilatura, which takes up to 50 µs each: at most some 120 ms."""
_MAX_ATTRIBUTES = 25_000
_MAX_DEPTH = 200
"""Parsers behind trafilatura give up at 256, and lose what lies deeper."""
_MAX_HTML_CHARS = 400_000
_SHORT_CHARS = 1_000
"""A page of no more is given whole: what is too much of it costs nothing."""
_MIN_CHARS = 200
_MIN_SHARE = 0.1
"""Of the page's prose; an engine that found less missed the article. On 181 pages of news sites
what it found is over an eighth, but for two where it did miss it."""
_PROSE_CHARS = 80
_MIN_MAIN_SHARE = 0.4

_PROSE = "p, pre, blockquote, li, td"
_ASIDE = "nav, aside, menu, [role=navigation], [role=banner], [role=contentinfo]"
_EDGES = "header, footer"
_CONTROLS = "input, select, button, textarea, option"
_MAINS = ("main, [role=main]", "article")

_IMAGES = turbohtml.Markdown.Images(mode="alt")
_LINKS = turbohtml.Markdown.Links(autolink=False)
_ESCAPING = turbohtml.Markdown.Escaping(mode="none", asterisks=False, underscores=False)
_CELL = turbohtml.Markdown(
    images=_IMAGES,
    links=_LINKS,
    escaping=_ESCAPING,
    tables=turbohtml.Markdown.Tables(mode="strip"),
)


def _table(table: turbohtml.Element, _: str) -> str:
    """A Markdown table; the renderer's own falls back to HTML where rows are ragged."""
    rows = [
        [_cell(cell) for cell in row if isinstance(cell, turbohtml.Element)]
        for row in table.iter_elements("tr")
        if row.closest("table") == table  # one inside a cell has its text in that cell
    ]
    rows = [row for row in rows if any(row)]
    width = max(map(len, rows), default=0)
    if width < 2:  # laid out by a table
        return "\n\n" + "\n\n".join(cell for row in rows for cell in row) + "\n\n"
    lines = [f"| {' | '.join(row + [''] * (width - len(row)))} |" for row in rows]
    lines.insert(1, "|" + "---|" * width)
    return "\n\n" + "\n".join(lines) + "\n\n"


def _cell(cell: turbohtml.Element) -> str:
    # rendering costs 25 µs at least, which most of the 60,000 cells of a big table need not
    is_plain = cell.select_one("*") is None
    text = cell.text if is_plain else cell.to_markdown(_CELL)
    return " ".join(text.split()).replace("|", "\\|")


_MARKDOWN = turbohtml.Markdown(
    images=_IMAGES, links=_LINKS, escaping=_ESCAPING, converters={"table": _table}
)


def title_of(document: turbohtml.Document) -> str:
    """What the page calls itself, on one line; empty where it does not."""
    named = document.select_one("title:not(svg title)")
    graph = document.select_one("meta[property='og:title'], meta[name='og:title']")
    first = document.select_one("h1")
    for title in (
        named.text if named else "",
        (graph.attr("content") or "") if graph else "",
        first.text if first else "",
    ):
        if shown := " ".join(clean(title).split()):
            return shown[:MAX_TITLE_CHARS]
    return ""


def main_text(document: turbohtml.Document, url: str, *, careful: bool = False) -> str:
    """Markdown with absolute links; `document` has nothing hidden in it any more, and is used up.

    `careful`: without the engine that may take too long.
    """
    _absolute_links(document, url)
    body = document.find("body")
    if body is None:
        return ""
    html = document.serialize() if not careful and _is_ordinary(document) else ""
    prose = _prose_chars(body) if html else 0
    _drop_menus(body)
    root = _root(document, body)
    if 0 < len(html) <= _MAX_HTML_CHARS and len(root.text) > _SHORT_CHARS:
        found = _article(html)
        if len(found) >= max(_MIN_CHARS, _MIN_SHARE * prose):
            return found
    return _markdown(root)


def _absolute_links(document: turbohtml.Document, url: str) -> None:
    document.resolve_links(document.base_url(url))
    for link in document.select("a[href]"):
        if not (link.attr("href") or "").lower().startswith(("http:", "https:", "mailto:")):
            del link.attrs["href"]


def _is_ordinary(document: turbohtml.Document) -> bool:
    elements = document.select("*")
    if len(elements) > _MAX_ELEMENTS:
        return False
    attributes = 0
    depths: dict[turbohtml.Node | None, int] = {}
    for element in elements:  # parents come first
        attributes += len(element.attrs)
        depths[element] = depths.get(element.parent, 0) + 1
    return attributes <= _MAX_ATTRIBUTES and max(depths.values(), default=0) <= _MAX_DEPTH


def _prose_chars(body: turbohtml.Element) -> int:
    """What stands in paragraphs and the like that hold a sentence."""
    lengths = (
        len(" ".join(each.text.split()))
        for each in body.select(_PROSE)
        if each.select_one(_PROSE) is None
    )
    return sum(length for length in lengths if length >= _PROSE_CHARS)


def _article(html: str) -> str:
    text = extract(
        html,
        fast=True,
        output_format="markdown",
        include_links=True,
        include_tables=True,
        include_comments=False,
    )
    return clean(text or "")


def _drop_menus(body: turbohtml.Element) -> None:
    """Take out what stands around the page's text, where something is left without it."""
    body.remove(_CONTROLS)
    around = [
        *body.select(_ASIDE),
        *(edge for edge in body.select(_EDGES) if edge.closest("article, main, section") is None),
    ]
    whole_chars = len(body.text.strip())
    # of nested ones more than there is may be counted, and then they stay
    if whole_chars - sum(len(each.text) for each in around) >= min(_MIN_CHARS, whole_chars // 2):
        for each in around:
            each.decompose()


def _root(document: turbohtml.Document, body: turbohtml.Element) -> turbohtml.Element:
    """The element that says it is the page's main part, if most of the text is in it."""
    for selector in _MAINS:
        found = document.select(selector)
        if len(found) == 1 and len(found[0].text) >= _MIN_MAIN_SHARE * len(body.text):
            return found[0]
    return body


def _markdown(element: turbohtml.Element) -> str:
    # to_markdown keeps the entity where the page wrote a no-break space
    return clean(element.to_markdown(_MARKDOWN).replace("&#160;", " ").replace("\u00a0", " "))
