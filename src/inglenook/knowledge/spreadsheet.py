"""Sheets of an Excel workbook as lines of cells, `a | b | c`; hidden sheets are left out.

Source: ECMA-376 part 1, section 18 (SpreadsheetML).
"""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from inglenook.documents.ooxml import Package, R, S, open_package
from inglenook.documents.text_builder import MAX_TEXT_CHARS, Heading, TextBuilder, Unreadable

MAX_COLUMNS = 100
"""Cells beyond it are listed without their empty neighbours."""
_ROWS_PER_BLOCK = 200
_MAX_HEADER_CHARS = 120

_BUILTIN_DATES = frozenset([*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)])
_LITERAL = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]')


def read_xlsx(data: bytes) -> tuple[str, list[Heading]]:
    with open_package(data, "Excel workbook") as package:
        page = _read_workbook(package)
        return page.text(), page.headings


def _read_workbook(package: Package) -> TextBuilder:
    main = package.main("xl/workbook.xml")
    workbook = package.xml(main)
    parts = package.targets(main)
    by_kind = {kind: part for kind, part in parts.values()}
    strings = list(_shared_strings(package, by_kind.get("sharedStrings")))
    cells = _Cells(strings, _date_styles(package, by_kind.get("styles")), _epoch(workbook))
    page = TextBuilder()
    for sheet in workbook.iter(f"{S}sheet"):
        if sheet.get("state") in ("hidden", "veryHidden"):
            continue
        kind, part = parts[str(sheet.get(f"{R}id"))]
        if kind == "worksheet":
            _read_sheet(package, part, str(sheet.get("name")), cells, page)
    return page


class _Cells:
    def __init__(self, strings: list[str], date_styles: frozenset[int], epoch: datetime) -> None:
        self._strings = strings
        self._date_styles = date_styles
        self._epoch = epoch

    def text(self, cell: Any) -> str:
        kind = cell.get("t") or "n"
        if kind == "inlineStr":
            return "".join(t.text or "" for t in cell.iter(f"{S}t"))
        value = cell.findtext(f"{S}v") or ""
        if kind == "s":
            return self._strings[int(value)] if value else ""
        if kind == "b":
            return "TRUE" if value == "1" else "FALSE"
        if kind == "n" and value and int(cell.get("s") or 0) in self._date_styles:
            return self._date(value)
        return value

    def _date(self, serial: str) -> str:
        try:
            moment = self._epoch + timedelta(days=float(serial))
        except (ValueError, OverflowError):
            return serial
        if float(serial) < 1:
            return moment.strftime("%H:%M:%S")
        moment = (moment + timedelta(milliseconds=500)).replace(microsecond=0)
        return moment.isoformat(" ").removesuffix(" 00:00:00")


def _read_sheet(package: Package, part: str, name: str, cells: _Cells, page: TextBuilder) -> None:
    lines: list[str] = []
    is_first_row = True
    for row in package.rows(part, f"{S}row"):
        line = _line(row, cells)
        if not line.strip():
            continue
        if is_first_row:
            page.heading(name, level=2, context=line[:_MAX_HEADER_CHARS])
            is_first_row = False
        lines.append(line)
        if len(lines) >= _ROWS_PER_BLOCK:
            page.block("\n".join(lines))
            lines = []
    page.block("\n".join(lines))


def _line(row: Any, cells: _Cells) -> str:
    texts: list[str] = []
    for cell in row.iter(f"{S}c"):
        text = " ".join(cells.text(cell).split())
        if not text:
            continue
        column = _column(str(cell.get("r") or ""))
        if column is not None and column <= MAX_COLUMNS:
            texts += [""] * (column - 1 - len(texts))
        texts.append(text)
    return " | ".join(texts)


def _column(reference: str) -> int | None:
    """`C7` to 3."""
    number = 0
    for letter in reference.upper():
        if not "A" <= letter <= "Z":
            break
        number = number * 26 + ord(letter) - 64
    return number or None


def _shared_strings(package: Package, part: str | None) -> Iterator[str]:
    if part is None or part not in package:
        return
    total = 0
    for item in package.rows(part, f"{S}si"):
        # phonetic guides (rPh) repeat the text in kana
        texts = (t.text or "" for t in item.iter(f"{S}t") if t.getparent().tag != f"{S}rPh")
        text = "".join(texts)
        total += len(text)
        if total > MAX_TEXT_CHARS:
            raise Unreadable(f"its cells hold more than {MAX_TEXT_CHARS:,} characters of text")
        yield text


def _date_styles(package: Package, part: str | None) -> frozenset[int]:
    """Indexes of the cell formats that show a date or time."""
    if part is None or part not in package:
        return frozenset()
    styles = package.xml(part)
    dates = set(_BUILTIN_DATES)
    for format_ in styles.iter(f"{S}numFmt"):
        code = _LITERAL.sub("", str(format_.get("formatCode") or ""))
        if re.search(r"[dmyhs]", code, re.IGNORECASE):
            dates.add(int(format_.get("numFmtId")))
    formats = styles.find(f"{S}cellXfs")
    ids = [int(x.get("numFmtId") or 0) for x in formats] if formats is not None else []
    return frozenset(index for index, number in enumerate(ids) if number in dates)


def _epoch(workbook: Any) -> datetime:
    """Day 0; a day early in the 1900 system, as Excel counts a 29 February 1900 that never was."""
    properties = workbook.find(f"{S}workbookPr")
    is_1904 = properties is not None and properties.get("date1904") in ("1", "true")
    return datetime(1904, 1, 1) if is_1904 else datetime(1899, 12, 30)  # noqa: DTZ001 a cell has no zone
