"""Text of a Word document: headings by style, lists, tables, notes.

Deleted, moved-away and hidden runs, field codes, comments, headers and footers are left out.
"""

from typing import Any

from inglenook.documents.ooxml import MC, M, Package, W, open_package
from inglenook.documents.text_builder import Heading, TextBuilder, Unreadable


def read_docx(data: bytes) -> tuple[str, list[Heading]]:
    with open_package(data, "Word document") as package:
        main = package.main("word/document.xml")
        parts = {kind: part for kind, part in package.targets(main).values()}
        page = TextBuilder()
        body = package.xml(main).find(f"{W}body")
        if body is None:
            raise Unreadable("not a readable Word document (it has no body)")
        _docx_blocks(body, _heading_levels(package, parts.get("styles", "")), page)
        for kind in ("footnotes", "endnotes"):
            if parts.get(kind, "") in package:
                for note in package.xml(parts[kind]):
                    _docx_blocks(note, {}, page)
        return page.text(), page.headings


def _heading_levels(package: Package, part: str) -> dict[str, int]:
    """Style id to heading level; ids are translated by Word, names and outline levels are not."""
    if part not in package:
        return {}
    levels: dict[str, int] = {}
    parents: dict[str, str] = {}
    for style in package.xml(part).iter(f"{W}style"):
        style_id = str(style.get(f"{W}styleId"))
        name = _value(style.find(f"{W}name")).lower()
        outline = _value(style.find(f"{W}pPr/{W}outlineLvl"))
        if name == "title":
            levels[style_id] = 0  # above all headings
        elif name.startswith("heading ") and name[8:].isdecimal():
            levels[style_id] = int(name[8:])
        elif outline.isdecimal() and int(outline) < 9:
            levels[style_id] = int(outline) + 1
        parents[style_id] = _value(style.find(f"{W}basedOn"))
    for style_id in parents:
        ancestor, hops = style_id, 0
        while ancestor and ancestor not in levels and hops < 20:
            ancestor, hops = parents.get(ancestor, ""), hops + 1
        if ancestor in levels:
            levels[style_id] = levels[ancestor]
    return levels


def _docx_blocks(parent: Any, levels: dict[str, int], page: TextBuilder) -> None:
    for element in parent:
        if element.tag == f"{W}p":
            text = _docx_text(element)
            style = _value(element.find(f"{W}pPr/{W}pStyle"))
            if style in levels and text.strip():
                page.heading(text, level=levels[style])
            elif element.find(f"{W}pPr/{W}numPr") is not None:
                page.block(f"- {text}" if text.strip() else "")
            else:
                page.block(text)
        elif element.tag == f"{W}tbl":
            page.block("\n".join(_docx_row(row) for row in element.iter(f"{W}tr")))
        elif element.tag in (f"{W}sdt", f"{W}sdtContent", f"{W}customXml", f"{W}ins"):
            _docx_blocks(element, levels, page)


def _docx_row(row: Any) -> str:
    cells = (cell for cell in row if cell.tag == f"{W}tc")
    return " | ".join(" ".join(_docx_text(cell, "\n").split()) for cell in cells)


_DOCX_SKIPPED = frozenset(
    (f"{W}del", f"{W}moveFrom", f"{W}pPr", f"{W}rPr", f"{W}instrText", f"{MC}Fallback")
)
_DOCX_CHARACTERS = {f"{W}tab": "\t", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "-"}


def _docx_text(element: Any, after_paragraph: str = "") -> str:
    parts: list[str] = []
    for child in element:
        if child.tag in _DOCX_SKIPPED or _is_hidden_run(child):
            continue
        if child.tag in (f"{W}t", f"{M}t"):
            parts.append(child.text or "")
        elif child.tag in _DOCX_CHARACTERS:
            parts.append(_DOCX_CHARACTERS[child.tag])
        else:
            parts.append(_docx_text(child, after_paragraph))
            if child.tag == f"{W}p":
                parts.append(after_paragraph)
    return "".join(parts)


def _is_hidden_run(element: Any) -> bool:
    if element.tag != f"{W}r":
        return False
    vanish = element.find(f"{W}rPr/{W}vanish")
    return vanish is not None and vanish.get(f"{W}val") not in ("0", "false", "off")


def _value(element: Any) -> str:
    return "" if element is None else str(element.get(f"{W}val") or "")
