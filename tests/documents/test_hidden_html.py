"""What a person does not see of a page is taken out, and nothing else is."""

import pytest
import turbohtml

from inglenook.documents.hidden_html import drop_hidden


def seen(html: str) -> str:
    document = turbohtml.parse(html, scripting=True)
    drop_hidden(document)
    body = document.find("body")
    return " ".join(body.to_text().split()) if body else ""


@pytest.mark.parametrize(
    "style",
    [
        "display:none",
        "DISPLAY : None !important",
        "color:red; visibility: hidden",
        "content-visibility:hidden",
        "opacity:0",
        "opacity: 0.0",
        "opacity:.01",
        "opacity:0%",
        "font-size:0",
        "font-size:1px",
        "font-size:.1em",
        "font-size: 1%",
        "width:0;height:0",
        "height:0;overflow:hidden",
        "max-height:0;overflow:hidden",
        "width:1px;height:1px;overflow:hidden;position:absolute",
        "clip:rect(0,0,0,0)",
        "clip: rect(1px, 1px, 1px, 1px)",
        "clip-path:inset(50%)",
        "text-indent:-9999px",
        "position:absolute;left:-9999px",
        "position:absolute;left:-100em",
        "position:fixed;top:-200vh",
        "margin-left:-5000px",
        "transform:translateX(-9999px)",
        "transform:scale(0)",
        "color:#fff;background:#fff",
        "color:white;background-color:#FFFFFF",
        "color:rgb(255, 255, 255)",
        "color:#fefefe",
        "color:transparent",
        "color:rgba(0,0,0,0)",
    ],
)
def test_a_style_hides_an_element_with_all_that_is_in_it(style: str):
    html = f'<p>before</p><div style="{style}">HIDDEN<p>HIDDEN<br>HIDDEN</p></div><p>after</p>'
    assert seen(html) == "before after"


@pytest.mark.parametrize(
    "style",
    [
        "opacity:0.9",
        "opacity:.5",
        "font-size:0.9em",
        "font-size:100%",
        "height:auto;overflow:hidden",
        "width:100%;max-width:1200px",
        "margin-left:-15px",
        "position:absolute;left:0;top:-10px",
        "transform:translate(-50%,-50%)",
        "color:#000",
        "color:#fff;background:#000",
        "background:url(x.png) white;color:black",
        "background:linear-gradient(#fff,#000);-webkit-background-clip:text;color:transparent",
    ],
)
def test_an_ordinary_style_hides_nothing(style: str):
    assert seen(f'<p style="{style}">shown</p>') == "shown"


@pytest.mark.parametrize(
    "html",
    [
        "<noscript><style>x</style>HIDDEN</noscript>",
        "<body><noscript>HIDDEN<noscript>HIDDEN</noscript></noscript>",
        "<div hidden>HIDDEN<div hidden>HIDDEN</div>HIDDEN</div>",
        "<template>HIDDEN<template>HIDDEN</template>HIDDEN</template>",
        "<!-- HIDDEN --><!-- > HIDDEN -->",
        "<dialog>HIDDEN</dialog>",
        "<svg><text>HIDDEN</text></svg>",
        "<iframe>HIDDEN</iframe><object>HIDDEN</object><canvas>HIDDEN</canvas>",
        "<div style='display:none'><div style='display:block'>HIDDEN</div><p>HIDDEN</div>",
        "<body bgcolor=white><font color=#ffffff>HIDDEN</font>",
        "<div style='background:#000'><p style='color:#000'>HIDDEN</p></div>",
    ],
)
def test_hidden_elements_do_not_leak_however_they_are_nested(html: str):
    assert seen(f"{html}<p>ok</p>") == "ok"


def test_void_tags_in_the_body_hide_nothing():
    void = "<meta itemprop=x><link rel=y><base href=z><img><br><hr><wbr><input><source><track><col>"
    assert seen(f"<p>before</p>{void}<p>after</p>") == "before after"


def test_light_text_may_stand_on_what_a_stylesheet_makes_dark():
    assert seen("<style>.d{background:#000}</style><p class=d style='color:#fff'>shown</p>")


def test_what_a_click_opens_is_there():
    html = "<details><summary>More</summary>inside</details><p hidden=until-found>found</p>"
    assert seen(html) == "More inside found"


def test_what_is_hidden_from_screen_readers_only_is_seen():
    assert seen("<p aria-hidden=true>shown</p>") == "shown"
