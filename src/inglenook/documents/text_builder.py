"""Build a document's text part by part, keeping where its headings start."""

from dataclasses import dataclass

from inglenook.documents.plain_text import clean

MAX_TEXT_CHARS = 16_000_000
"""Of one document: about 15,000 chunks, hours of embedding."""


@dataclass(frozen=True, kw_only=True)
class Heading:
    start: int
    """Offset in the text at which its section begins."""
    level: int
    title: str


class Unreadable(Exception):
    """The message says why, for people, without the file's name."""


class TextBuilder:
    def __init__(self) -> None:
        self.headings: list[Heading] = []
        self._parts: list[str] = []
        self._length = 0

    def heading(self, title: str, *, level: int, context: str = "") -> None:
        """Add a Markdown heading; `context` is added to the title in the heading path only."""
        title = " ".join(clean(title).split())
        if title:
            shown = f"{title}: {context}" if context else title
            self.headings.append(Heading(start=self._length, level=level, title=shown))
            self._add("#" * max(1, min(level, 6)) + " " + title)

    def block(self, text: str) -> None:
        """Add a paragraph, table or page.

        Raises:
            Unreadable: The document holds more text than `MAX_TEXT_CHARS`.
        """
        cleaned = clean(text)
        if cleaned.strip():
            self._add(cleaned)

    def text(self) -> str:
        return "".join(self._parts)

    def _add(self, part: str) -> None:
        self._parts += [part, "\n\n"]
        self._length += len(part) + 2
        if self._length > MAX_TEXT_CHARS:
            raise Unreadable(f"it holds more than {MAX_TEXT_CHARS:,} characters of text")
