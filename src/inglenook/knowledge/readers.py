"""Text and headings of one document, by kind. Runs only inside the extraction worker.

Hostile input is expected: a reader raises `Unreadable` with a reason for people, or the worker's
limits end it. What a person does not see in the document (hidden text, scripts, deleted passages,
hidden sheets) is not read.
"""

from collections.abc import Callable

import turbohtml

from inglenook.documents.hidden_html import drop_hidden
from inglenook.documents.pdf import read_pdf
from inglenook.documents.plain_text import clean, decode
from inglenook.documents.text_builder import Heading, Unreadable
from inglenook.documents.word import read_docx
from inglenook.knowledge.chunking import markdown_headings
from inglenook.knowledge.slides import read_pptx
from inglenook.knowledge.spreadsheet import read_xlsx

_ASIDE = "nav, [role=navigation], input, select, button"
"""Of the page, not of the document."""


def _table(table: turbohtml.Element, _: str) -> str:
    """Rows as `a | b`; the renderer's own tables fall back to HTML where rows are ragged."""
    rows: list[str] = []
    for row in table.iter_elements("tr"):
        if row.closest("table") != table:
            continue  # a table inside a cell: its text is in that cell
        cells = (
            " ".join(cell.to_text().split()) for cell in row if isinstance(cell, turbohtml.Element)
        )
        rows.append(" | ".join(cells).strip(" |"))
    return "\n\n" + "\n".join(row for row in rows if row) + "\n\n"


_MARKDOWN = turbohtml.Markdown(
    inline=turbohtml.Markdown.Inline(strong="", emphasis="", ignore_emphasis=True),
    links=turbohtml.Markdown.Links(ignore=True),
    images=turbohtml.Markdown.Images(mode="alt"),
    escaping=turbohtml.Markdown.Escaping(mode="none", asterisks=False, underscores=False),
    converters={"table": _table},
)

Read = tuple[str, list[Heading]]


def read(kind: str, data: bytes) -> Read:
    """
    Raises:
        Unreadable: Not a document of this kind, or one without text.
    """
    text, headings = _READERS[kind](data)
    if not text.strip():
        raise Unreadable(
            "there is no text in it (a scan needs text recognition first)"
            if kind == "pdf"
            else "there is no text in it"
        )
    return text, headings


def _read_plain(data: bytes) -> Read:
    text = decode(data)
    if text is None:
        raise Unreadable("not a text file: it holds binary data")
    return clean(text), []


def _read_markdown(data: bytes) -> Read:
    text, _ = _read_plain(data)
    return text, markdown_headings(text)


def _read_csv(data: bytes) -> Read:
    """The table as it is written; its first row is the heading of every chunk."""
    text, _ = _read_plain(data)
    first_row = text.lstrip("\n").partition("\n")[0]
    return text, [Heading(start=0, level=1, title=first_row)]


def _read_html(data: bytes) -> Read:
    # with scripting, as in a browser: what stands in <noscript> is no part of the page then
    document = turbohtml.parse(data, detect_encoding=True, positions=False, scripting=True)
    title_element = document.find("title")
    title = " ".join(title_element.text.split()) if title_element else ""
    drop_hidden(document)
    document.remove(_ASIDE)
    mains = document.select("main, [role=main]")
    root = mains[0] if len(mains) == 1 else document.find("body")
    # to_markdown keeps the entity where the page wrote a no-break space
    markdown = root.to_markdown(_MARKDOWN).replace("&#160;", " ") if root else ""
    text = clean(markdown.replace("\u00a0", " "))
    headings = markdown_headings(text)
    if text and title and not any(heading.level == 1 for heading in headings):
        text = f"# {title}\n\n{text}"
        headings = markdown_headings(text)
    return text, headings


_READERS: dict[str, Callable[[bytes], Read]] = {
    "text": _read_plain,
    "markdown": _read_markdown,
    "csv": _read_csv,
    "html": _read_html,
    "pdf": read_pdf,
    "docx": read_docx,
    "pptx": read_pptx,
    "xlsx": read_xlsx,
}
