"""Text of a PDF, page by page. Runs only inside a worker: the parser is native code."""

import re
from importlib import import_module
from typing import Any

from inglenook.documents.magic import is_pdf
from inglenook.documents.text_builder import Heading, TextBuilder, Unreadable

pdfium: Any = import_module("pypdfium2")  # ships without type information

MAX_PAGES = 10_000


def read_pdf(data: bytes) -> tuple[str, list[Heading]]:
    if not is_pdf(data):
        raise Unreadable("not a readable PDF (it does not start like one)")
    try:
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        reason = str(error)
        if "password" in reason.lower():
            raise Unreadable("a PDF protected by a password") from error
        raise Unreadable(f"not a readable PDF (damaged: {reason})") from error
    if len(document) > MAX_PAGES:
        raise Unreadable(f"a PDF of {len(document)} pages; the limit is {MAX_PAGES}")
    pages = TextBuilder()
    lost = 0
    for number in range(len(document)):
        text = _pdf_page(document, number)
        lost += text is None
        if text is None or text.strip():
            pages.heading(f"Page {number + 1}", level=2)
            pages.block("[this page could not be read]" if text is None else text)
    if lost and lost == len(document):
        raise Unreadable("not a readable PDF (none of its pages could be read)")
    return pages.text(), pages.headings


def _pdf_page(document: Any, number: int) -> str | None:
    try:
        page = document[number]
        text: str = page.get_textpage().get_text_range()
        page.close()
    except pdfium.PdfiumError:
        return None
    # pdfium marks a word hyphenated at a line end with U+0002 or U+FFFE
    return re.sub(r"[\x02\ufffe](?:\r?\n)?", "", text)
