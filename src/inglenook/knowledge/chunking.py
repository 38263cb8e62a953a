"""Cut a document's text into chunks of bounded size that together hold all of it.

Pure: text and heading positions in, offsets out. Sizes suit a 512-token embedding model.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from inglenook.documents.text_builder import Heading
from inglenook.knowledge.terms import UNSPACED

TARGET_CHARS = 1200
"""Longest chunk of alphabetic text: about 300 tokens, well inside the embedder's 512."""
TARGET_CJK_CHARS = 500
"""The same for text written in ideographs, of which each is most of a token."""
OVERLAP_CHARS = 120
"""Repeated at the head of the next chunk where a paragraph had to be cut."""
MIN_SECTION_CHARS = 200
"""A shorter section joins the next one: a bare heading answers nothing."""
MAX_HEADING_CHARS = 160

_BREAKS = (
    re.compile(r"\n\s*\n"),
    re.compile(r"\n"),
    re.compile(r"[.!?…]['\")\]]*\s+|[。！？；]['”’」』）]*"),
    re.compile(r"\s+|[，、]"),
)
"""Where a cut hurts least, best first: paragraph, line, sentence, word."""
_UNSPACED = re.compile(f"[{UNSPACED}]")
_ATX = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


@dataclass(frozen=True, kw_only=True)
class Chunk:
    start: int
    end: int
    """`text[start:end]`; the next chunk starts at or before `end`."""
    heading: str
    """Titles of the sections around it, outermost first, joined by ` › `; may be empty."""


def markdown_headings(text: str) -> list[Heading]:
    """The `#` headings of Markdown text, those inside code fences aside.

    Source: https://spec.commonmark.org/0.31.2/#atx-headings
    """
    found: list[Heading] = []
    fence = ""
    offset = 0
    for line in text.splitlines(keepends=True):
        bare = line.rstrip("\r\n")
        mark = _FENCE.match(bare)
        if fence:
            if mark and mark[1].startswith(fence) and not bare[mark.end() :].strip():
                fence = ""
        elif mark:
            fence = mark[1]
        elif (head := _ATX.match(bare)) and head[2]:
            found.append(Heading(start=offset, level=len(head[1]), title=head[2]))
        offset += len(line)
    return found


def chunk(text: str, headings: Sequence[Heading] = ()) -> list[Chunk]:
    """Chunks in order, covering `text` without a gap; none for blank text.

    `headings` are in order of `start`. A chunk never holds the start of a section together with
    the end of another, unless the first is too short to stand alone.
    """
    if not text.strip():
        return []
    chunks: list[Chunk] = []
    for start, end, heading in _sections(text, headings):
        chunks += [
            Chunk(start=first, end=last, heading=heading) for first, last in _cut(text, start, end)
        ]
    return chunks


def _sections(text: str, headings: Sequence[Heading]) -> Iterator[tuple[int, int, str]]:
    """`(start, end, heading path)`; short ones are joined to what follows."""
    start = 0
    path: list[Heading] = []
    label = ""
    for heading in headings:
        if len(text[start : heading.start].strip()) >= MIN_SECTION_CHARS:
            yield start, heading.start, label
            start = heading.start
        path = [*(outer for outer in path if outer.level < heading.level), heading]
        label = _label(path)
    yield start, len(text), label


def _label(path: Sequence[Heading]) -> str:
    titles = [" ".join(heading.title.split()) for heading in path]
    label = " › ".join(title for title in titles if title)
    # the innermost title says most about the text below it
    return label if len(label) <= MAX_HEADING_CHARS else "… " + label[2 - MAX_HEADING_CHARS :]


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Parts of about equal size: a short remainder would match queries by chance."""
    while True:
        limit = _limit(text, start, end)
        parts = -(-(end - start) // limit)
        if parts <= 1:
            yield start, end
            return
        even = start + -(-(end - start) // parts)
        stop, at_paragraph = _best_break(text, start, even, start + limit)
        yield start, stop
        start = stop if at_paragraph else _overlap_start(text, start, stop)


def _limit(text: str, start: int, end: int) -> int:
    window = text[start : min(end, start + TARGET_CHARS)]
    share = sum(1 for _ in _UNSPACED.finditer(window)) / max(1, len(window))
    return round(TARGET_CHARS - (TARGET_CHARS - TARGET_CJK_CHARS) * min(1.0, share * 1.25))


def _best_break(text: str, start: int, wanted: int, high: int) -> tuple[int, bool]:
    """The best kind of cut near `wanted`, at most `high`, and whether a paragraph ends there."""
    low = start + (wanted - start) // 2
    reach = (wanted - start) // 4
    for rank, pattern in enumerate(_BREAKS):
        ends = [match.end() for match in pattern.finditer(text, low, high)]
        best = min(ends, key=lambda end: abs(end - wanted), default=None)
        if best is not None and (abs(best - wanted) <= reach or rank == len(_BREAKS) - 1):
            return best, rank == 0
    return wanted, False


def _overlap_start(text: str, start: int, stop: int) -> int:
    """Where the next chunk begins: at a sentence or word in the last `OVERLAP_CHARS`."""
    low = max(start + 1, stop - OVERLAP_CHARS)
    for pattern in _BREAKS[2:]:
        ends = [m.end() for m in pattern.finditer(text, low, stop) if m.end() < stop]
        if ends:
            return ends[0]
    return stop
