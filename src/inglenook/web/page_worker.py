"""The process that opens pages: one of `documents/worker_process.py`.

Request {"kind", "url", "content_type", "careful"?} and the page's bytes. Answer {"title"} and the
text in UTF-8; or one of {"wall": "a …"}, {"needs_script": bool} (no text), {"unreadable": reason}.
To see what a page gives: `python -m inglenook.web.page_worker html < FILE`.
"""

import re
import sys
from typing import Any

import turbohtml

from inglenook.documents.hidden_html import drop_hidden
from inglenook.documents.pdf import read_pdf
from inglenook.documents.plain_text import MAX_CONTROL_SHARE, clean, control_share
from inglenook.documents.text_builder import MAX_TEXT_CHARS, Unreadable
from inglenook.documents.word import read_docx
from inglenook.documents.worker_process import OUT_OF_MEMORY, Answer, serve
from inglenook.web.charset import decode_page
from inglenook.web.main_text import main_text, title_of
from inglenook.web.walls import machinery_of, wall_in

_ASKS_FOR_SCRIPT = re.compile(
    r"(?:enable|activate|turn on|allow|requires?|needs?|without|activer|activ\w+) javascript"
    r"|javascript (?:is |has been |must be |aktiv|ist )",
    re.IGNORECASE,
)
_MAX_ASKING_CHARS = 300
"""Longer texts are about JavaScript."""

_SAMPLES = (
    (
        "html",
        b"<meta charset=gbk><title>\xd6\xd0</title><article><h1>a</h1><form><input type=password>"
        + b"<p>To <a href=x>see</a> <b>this</b>, log in to continue.</p>"
        + b"<p style='color:#fff'>A sentence of prose that is said again and again.</p>" * 30
        + b"<table><tr><td>a<td>b</table><ul><li>c</ul><pre>d</pre></article>",
    ),
    ("html", b"<p>Sign in to continue<table><tr><td>a<td><b>b</b></table>"),
    ("text", b"\xd6\xd0\xce\xc4"),
    (
        "pdf",
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Count 1"
        b"/Kids[3 0 R]>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\n"
        b"trailer<</Root 1 0 R>>\n",
    ),
    ("docx", b"PK"),
)


def main() -> None:
    if len(sys.argv) == 2:
        header, body = _answer(_request(sys.argv[1]), sys.stdin.buffer.read())
        sys.stdout.write(f"{header}\n\n{body.decode()}")
        return
    serve(_answer, [(_request(kind), sample) for kind, sample in _SAMPLES])


def _request(kind: str) -> dict[str, Any]:
    return {"kind": kind, "url": "http://page.test/", "content_type": ""}


def _answer(request: dict[str, Any], data: bytes) -> Answer:
    try:
        header, text = _READERS[request["kind"]](request, data)
        if len(text) > MAX_TEXT_CHARS:
            raise Unreadable(f"it holds more than {MAX_TEXT_CHARS:,} characters of text")
    except Unreadable as error:
        return {"unreadable": str(error)}, b""
    except (MemoryError, RecursionError):
        return {"unreadable": OUT_OF_MEMORY}, b""
    return header, text.encode("utf-8", "replace")


Read = tuple[dict[str, object], str]


def _read_html(request: dict[str, Any], data: bytes) -> Read:
    document = turbohtml.parse(_decoded(request, data), positions=False, scripting=True)
    title = title_of(document)
    machinery = machinery_of(document)
    has_script = document.select_one("script") is not None
    drop_hidden(document)
    body = document.find("body")
    seen = body.to_text() if body else ""
    url = str(request["url"])
    if wall := wall_in(document, title=title, url=url, machinery=machinery, text=seen):
        return {"wall": wall}, ""
    text = main_text(document, url, careful=request.get("careful") is True)
    asks = len(text) <= _MAX_ASKING_CHARS and _ASKS_FOR_SCRIPT.search(text) is not None
    if not text.strip() or (has_script and asks):
        return {"needs_script": has_script}, ""
    return {"title": title}, text


def _read_text(request: dict[str, Any], data: bytes) -> Read:
    return {"title": ""}, clean(_decoded(request, data))


def _decoded(request: dict[str, Any], data: bytes) -> str:
    text = decode_page(data, str(request["content_type"]))
    if control_share(text) > MAX_CONTROL_SHARE:
        raise Unreadable("it holds binary data, no text")
    return text


def _read_pdf(_: dict[str, Any], data: bytes) -> Read:
    return {"title": ""}, read_pdf(data)[0]


def _read_docx(_: dict[str, Any], data: bytes) -> Read:
    return {"title": ""}, read_docx(data)[0]


_READERS = {"html": _read_html, "text": _read_text, "pdf": _read_pdf, "docx": _read_docx}


if __name__ == "__main__":
    main()
