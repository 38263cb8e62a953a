"""Which of the things a run's tools showed does its answer stand on?"""

import re
from collections.abc import Iterable
from dataclasses import replace

from inglenook.messages import Source
from inglenook.run_context import Sources

WORD = re.compile(r"[^\W_]+")
FILE_ENDING = re.compile(r"\.\w{1,5}$")
MARKER = re.compile(r"\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]")


def cited_sources(answer: str, shown: Iterable[Source]) -> tuple[Source, ...]:
    """Everything that was shown, once, those that the answer names first and marked `cited`.

    Named means by marker, `[2]` or `[1, 3]`; where an answer has none, by title, with or without
    its file ending and with any separators. `supported` is not judged here.
    """
    unique = {source.n: source for source in shown}
    numbers = {int(n) for group in MARKER.findall(answer) for n in group.split(",")} & unique.keys()
    text = _words(answer)
    marked = [
        replace(
            source,
            cited=source.n in numbers if numbers else _words(_stem(source.title)) in text,
        )
        for source in unique.values()
    ]
    return tuple(sorted(marked, key=lambda source: (not source.cited, source.n)))


def _stem(title: str) -> str:
    return FILE_ENDING.sub("", title) or title


def _words(text: str) -> str:
    """Lower case, one space between words and around all of them: names match whole words."""
    return f" {' '.join(WORD.findall(text.lower()))} "


def renumbered(
    answer: str, sources: Iterable[Source], register: Sources
) -> tuple[str, tuple[Source, ...]]:
    """A child's answer with its markers turned into the parent's, and the sources they name."""
    taken = {
        source.n: register.add(
            kind=source.kind,
            title=source.title,
            url=source.url,
            file_id=source.file_id,
            quote=source.quote,
        )
        for source in sources
        if source.cited
    }

    def replaced(match: re.Match[str]) -> str:
        numbers = (int(n) for n in match[1].split(","))
        kept = [str(taken[n].n) for n in numbers if n in taken]
        return f"[{', '.join(kept)}]" if kept else ""

    return MARKER.sub(replaced, answer), tuple(taken.values())
