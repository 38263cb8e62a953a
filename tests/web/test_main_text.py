"""Main text keeps the article of ordinary pages whole, with absolute links, at a bounded cost."""

import pytest
import turbohtml

from inglenook.documents.hidden_html import drop_hidden
from inglenook.web import main_text as engine
from inglenook.web.main_text import main_text, title_of

URL = "https://site.test/news/page.html"
MENU = (
    "<div class=menu><ul>" + "".join(f"<li><a href=/m{n}>Menu {n}</a>" for n in range(40)) + "</ul>"
)
FOOT = "<div class=footer>Imprint | Terms</div>"


def prose(count: int, start: int = 0) -> str:
    return "".join(
        f"<p>Paragraph {n} tells of the harbour and of the boats in it, in a sentence that is long "
        f"enough for prose, and <a href='../l{n}'>leads on</a> to more.</p>"
        for n in range(start, start + count)
    )


def read(html: str, *, careful: bool = False) -> str:
    document = turbohtml.parse(html, positions=False, scripting=True)
    drop_hidden(document)
    return main_text(document, URL, careful=careful)


def page(body: str) -> str:
    return f"<!doctype html><html><head><title>t</title></head><body>{body}</body></html>"


PARTS = (
    "<h2>Second part</h2><ul><li>one is here</li><li>two is here</li></ul>"
    "<table><tr><th>name</th><th>value</th></tr><tr><td>alpha</td><td>1</td></tr></table>"
    "<pre><code>if x:\n    y = 1</code></pre><blockquote>As they said.</blockquote>"
)
ARTICLE = f"<div class=content><h1>The harbour</h1>{prose(20)}{PARTS}{prose(20, 20)}</div>"


@pytest.mark.parametrize("careful", [False, True])
def test_the_parts_of_an_article_are_kept(careful: bool):
    text = read(page(f"{MENU}</div>{ARTICLE}{FOOT}"), careful=careful)
    for part in (
        *("# The harbour", "## Second part", "- one is here", "- two is here"),
        *("| name | value |", "| alpha | 1 |", "if x:\n    y = 1", "As they said."),
        *("Paragraph 0 tells", "Paragraph 39 tells", "[leads on](https://site.test/l7)"),
    ):
        assert part in text


def test_menus_and_footers_are_left_out():
    text = read(page(f"{MENU}</div>{ARTICLE}{FOOT}"))
    assert "Menu 7" not in text
    assert "Imprint" not in text


def test_a_short_page_is_given_whole_without_its_menus():
    text = read(
        page(
            "<nav><a href=/>Home</a></nav><header>Site</header><article><header><h1>Head</h1>"
            "</header><p>One <b>line</b>.</p></article><aside>Ads</aside><footer>Imprint</footer>"
        )
    )
    assert text == "# Head\n\nOne **line**."


def test_a_page_of_menus_alone_is_not_empty():
    assert "[Home](https://site.test/)" in read(page("<nav><a href=/>Home</a></nav>"))


def test_links_follow_the_base_of_the_page_and_only_links_do():
    html = page(
        "<base href='/b/'><a href='x?y=1#z'>one</a> <a href='javascript:x()'>two</a> "
        "<a href='data:text/html,x'>three</a> <a href='//other.test/'>four</a>"
    )
    assert read(html) == (
        "[one](https://site.test/b/x?y=1#z) two three [four](https://other.test/)"
    )


def test_ragged_tables_and_tables_in_tables_stay_tables():
    html = page(
        "<table><tr><th>a<th>b<tr><td colspan=2>wide<tr><td><a href=/x>c</a><td>"
        "<table><tr><td>d<td>e</table></table>"
    )
    assert read(html).split("\n") == [
        *("| a | b |", "|---|---|", "| wide |  |", "| [c](https://site.test/x) | d e |"),
    ]


def test_prose_that_repeats_itself_is_not_lost():
    text = read(
        page("<p>The same sentence stands here again and again, with nothing new.</p>" * 50)
    )
    assert text.count("again and again") == 50


def test_an_empty_article_element_does_not_stand_for_the_page():
    html = page(f"<article>Share this</article><div>{prose(10)}</div>")
    assert "Paragraph 9 tells" in read(html)


def test_a_page_over_the_limits_is_read_by_the_engine_that_bears_it():
    many = page(prose(engine._MAX_ELEMENTS))  # pyright: ignore[reportPrivateUsage]
    text = read(many)
    assert "Paragraph 0 tells" in text
    assert f"Paragraph {engine._MAX_ELEMENTS - 1} tells" in text  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 100_000 + "deep",
        "<p " + " ".join(f"a{n}=1" for n in range(100_000)) + ">deep",
        "<a href=x>deep</a>" * 50_000,
        "&" * 100_000 + "deep",
    ],
    ids=["nesting", "attributes", "links", "entities"],
)
def test_hostile_pages_give_their_text(html: str):
    assert "deep" in read(html)


@pytest.mark.parametrize(
    ("head", "title"),
    [
        ("<title> A\n title </title><meta property=og:title content=Other>", "A title"),
        ("<title></title><meta property=og:title content='Shared title'>", "Shared title"),
        ("<title>&lt;b&gt; \u202eevil\u200b</title>", "<b> evil"),
        ("", "Head"),
    ],
)
def test_the_title(head: str, title: str):
    html = f"<html><head>{head}</head><body><svg><title>icon</title></svg><h1>Head</h1>"
    assert title_of(turbohtml.parse(html, scripting=True)) == title


def test_a_long_title_is_cut():
    assert len(title_of(turbohtml.parse(f"<title>{'x' * 5_000}</title>"))) == engine.MAX_TITLE_CHARS
