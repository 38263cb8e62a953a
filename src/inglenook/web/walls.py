"""Whether a page is a wall that stands where a page should: a bot check, a consent or login form.

Two kinds of signs. The machinery of a check (scripts, frames, forms) is found however big the page
is; where ordinary pages carry it too, it counts only if next to nothing else is there. What a wall
says counts only as a wall says it, to its reader at the beginning of a sentence, and only if
nothing else is left once such sentences are gone: an article about captchas is no captcha.
"""

import re
from urllib.parse import urlsplit

import turbohtml

from inglenook.web import wall_words as words

MAX_CHARS = 8_000
"""A page that shows more than this is no wall, unless its machinery says so beyond doubt."""
_MAX_REST = 250
"""Characters that a wall may show beside what walls say."""

_ARTICLE_WEIGHT = 4
"""Walls do not call what they say an `<article>`."""

_CONSENT_HOST = re.compile(r"(?:consent|guce|myprivacy|privacy-?consent)\.")
_BANNERS = ", ".join(
    f"[{attribute}*={name} i]"
    for attribute in ("id", "class")
    for name in ("cookie", "consent", "onetrust", "didomi", "sp_message", "qc-cmp", "usercentrics")
)
_AROUND = f"nav, header, footer, aside, form, dialog, [role=dialog], button, select, {_BANNERS}"
_SENTENCE_END = re.compile(r"\n+|(?<=[.!?…。！？])\s+")


def machinery_of(document: turbohtml.Document) -> str:
    """What the page runs and loads, and what its parts are called; of a page as it came."""
    parts: list[str] = []
    for script in document.select("script"):
        parts.append(script.attr("src") or "")
        if "json" not in (script.attr("type") or ""):
            parts.append(script.text)
    for element in document.select(
        "iframe[src], form[action], link[href], meta[content], img[src]"
    ):
        parts += [element.attr(name) or "" for name in ("src", "action", "href", "content")]
    parts += [each.text for each in document.select("noscript")]
    for element in document.select("body, body [id], form [class], div[class], section[class]"):
        parts += [element.attr("id") or "", element.attr("class") or ""]
    return "\n".join(parts)


def wall_in(
    document: turbohtml.Document, *, title: str, url: str, machinery: str, text: str
) -> str | None:
    """What wall the page is, as `a …`; None for a page.

    `document` without its hidden parts, `text` all that is seen of it, line by line.
    """
    if words.CERTAIN_TITLE.fullmatch(title) or _is_challenge(machinery):
        return "a bot check"
    if len(text) > MAX_CHARS:
        return None
    if _CONSENT_HOST.match(urlsplit(url).hostname or ""):
        return "a form that asks for consent to cookies"
    sentences = [
        each.strip() for each in _SENTENCE_END.split(text.replace("’", "'")) if each.strip()
    ]
    page = _Said(title=title, sentences=sentences, inner=_inner_sentences(document))
    return (
        _bot_check(page, machinery) or _consent_form(page, document) or _login_form(page, document)
    )


class _Said:
    """The sentences of a short page; `inner` are those outside of its menus, forms and banners."""

    def __init__(self, *, title: str, sentences: list[str], inner: list[tuple[str, bool]]) -> None:
        self.title = title
        self._all = [title, *sentences]
        self._inner = inner

    def starts(self, says: re.Pattern[str]) -> bool:
        return any(says.match(sentence) for sentence in self._all)

    def rest(self, about: str) -> int:
        """Characters of what is there beside a wall's talk; what an `<article>` says is none."""
        talk = words.TALK[about]
        return sum(
            _ARTICLE_WEIGHT * len(sentence) if is_article else len(sentence)
            for sentence, is_article in self._inner
            if is_article or not talk.search(sentence)
        )


def _is_challenge(machinery: str) -> bool:
    return words.CHALLENGE.search(machinery) is not None


def _bot_check(page: _Said, machinery: str) -> str | None:
    rest = page.rest("bot")
    if rest > _MAX_REST:
        return None
    says = page.starts(words.BOT_SAYS)
    vendor = next((name for sign, name in words.VENDORS.items() if sign in machinery), None)
    if vendor and (says or rest <= _MAX_REST // 5):
        return f"a bot check of {vendor}"
    return "a bot check" if says else None


def _consent_form(page: _Said, document: turbohtml.Document) -> str | None:
    buttons = document.select("button, input[type=submit], input[type=button], a, [role=button]")
    accepts = any(words.ACCEPTS.search(each.text or each.attr("value") or "") for each in buttons)
    tells = words.POLICY.search(page.title) is not None
    if (
        accepts
        and not tells
        and page.starts(words.CONSENT_SAYS)
        and page.rest("consent") <= _MAX_REST
    ):
        return "a form that asks for consent to cookies"
    return None


def _login_form(page: _Said, document: turbohtml.Document) -> str | None:
    has_password = document.select_one("input[type=password]") is not None
    says = page.starts(words.LOGIN_FIRST_SAYS) or (has_password and page.starts(words.LOGIN_SAYS))
    return "a login form" if says and page.rest("login") <= _MAX_REST else None


def _inner_sentences(document: turbohtml.Document) -> list[tuple[str, bool]]:
    """Sentences outside of what stands around a page, and whether an `<article>` holds them."""
    copy = turbohtml.parse(document.serialize(), positions=False, scripting=True)
    found: list[tuple[str, bool]] = []
    articles = copy.select("article")
    if len(articles) == 1:
        copy.remove(f"article :is({_AROUND})")
        found += [(each, True) for each in _SENTENCE_END.split(articles[0].to_text())]
        articles[0].decompose()
    copy.remove(_AROUND)
    if body := copy.find("body"):
        found += [(each, False) for each in _SENTENCE_END.split(body.to_text())]
    return [(each.strip(), is_article) for each, is_article in found]
