"""Text of a PowerPoint presentation: one section a slide, with its tables and notes."""

from typing import Any

from inglenook.documents.ooxml import A, P, Package, R, open_package
from inglenook.documents.text_builder import Heading, TextBuilder


def read_pptx(data: bytes) -> tuple[str, list[Heading]]:
    with open_package(data, "PowerPoint presentation") as package:
        page = TextBuilder()
        main = package.main("ppt/presentation.xml")
        parts = package.targets(main)
        for number, entry in enumerate(package.xml(main).iter(f"{P}sldId"), start=1):
            _, slide = parts[str(entry.get(f"{R}id"))]
            _pptx_slide(package, slide, number, page)
        return page.text(), page.headings


def _pptx_slide(package: Package, name: str, number: int, page: TextBuilder) -> None:
    slide = package.xml(name)
    titles: list[str] = []
    blocks: list[str] = []
    for shape in slide.iter(f"{P}sp", f"{A}tbl"):
        if shape.tag == f"{A}tbl":
            rows = shape.iter(f"{A}tr")
            blocks.append("\n".join(" | ".join(_pptx_text(c, " ") for c in row) for row in rows))
            continue
        holder = shape.find(f"{P}nvSpPr/{P}nvPr/{P}ph")
        is_title = holder is not None and holder.get("type") in ("title", "ctrTitle")
        (titles if is_title else blocks).append(_pptx_text(shape, "\n"))
    page.heading(f"Slide {number}: {' '.join(titles)}".rstrip(": "), level=2)
    for block in blocks:
        page.block(block)
    for kind, part in package.targets(name).values():
        if kind == "notesSlide" and part in package:
            page.block(_pptx_notes(package.xml(part)))


def _pptx_notes(notes: Any) -> str:
    for shape in notes.iter(f"{P}sp"):
        holder = shape.find(f"{P}nvSpPr/{P}nvPr/{P}ph")
        if holder is not None and holder.get("type") == "body":
            text = _pptx_text(shape, "\n")
            return f"Notes: {text}" if text.strip() else ""
    return ""


def _pptx_text(element: Any, between: str) -> str:
    paragraphs: list[str] = []
    for paragraph in element.iter(f"{A}p"):
        runs = (
            "\n" if e.tag == f"{A}br" else e.text or "" for e in paragraph.iter(f"{A}t", f"{A}br")
        )
        paragraphs.append("".join(runs))
    return between.join(text for text in paragraphs if text.strip())
