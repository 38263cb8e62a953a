"""Walls are told from pages: the rates on a small labelled set, and the borders one by one."""

import pytest
import turbohtml

from inglenook.documents.hidden_html import drop_hidden
from inglenook.web.main_text import title_of
from inglenook.web.walls import machinery_of, wall_in
from tests.web.wall_pages import CHALLENGE, PROSE, REAL, WALLS, Sample, page


def wall(html: str, url: str = "https://site.test/page") -> str | None:
    document = turbohtml.parse(html, scripting=True)
    title, machinery = title_of(document), machinery_of(document)
    drop_hidden(document)
    body = document.find("body")
    text = body.to_text() if body else ""
    return wall_in(document, title=title, url=url, machinery=machinery, text=text)


def test_the_set_is_large_enough_to_give_rates():
    assert len(WALLS) >= 20
    assert len(REAL) >= 20


@pytest.mark.parametrize("sample", WALLS, ids=lambda sample: sample.name)
def test_a_wall_is_recognised(sample: Sample):
    assert wall(sample.html, sample.url)


@pytest.mark.parametrize("sample", REAL, ids=lambda sample: sample.name)
def test_a_page_is_not_taken_for_a_wall(sample: Sample):
    assert wall(sample.html, sample.url) is None


@pytest.mark.parametrize("sample", WALLS, ids=lambda sample: sample.name)
def test_what_nobody_sees_does_not_make_a_wall_a_page(sample: Sample):
    unseen = (
        f"<!-- {PROSE} --><div style='display:none'>{PROSE * 20}</div><template>{PROSE}</template>"
    )
    assert wall(sample.html.replace("<body>", f"<body>{unseen}"), sample.url)


def test_a_check_named_in_data_or_text_is_no_check():
    told = f"<h1>Notes</h1>{PROSE}<p>{CHALLENGE.replace('<', '&lt;')}</p>"
    data = CHALLENGE.replace("<script>", '<script type="application/json">')
    assert wall(page(told + data)) is None


def test_a_wall_says_which_it_is():
    named = {sample.name: wall(sample.html, sample.url) for sample in WALLS}
    assert named["datadome"] == "a bot check of DataDome"
    assert named["google-consent"] == "a form that asks for consent to cookies"
    assert named["login"] == "a login form"
