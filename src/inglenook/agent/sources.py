"""Which of the things a run's tools showed does its answer stand on?"""

import re
from collections.abc import Iterable
from dataclasses import replace

from inglenook.messages import Source

MARKER = re.compile(r"\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]")


def cited_sources(answer: str, shown: Iterable[Source]) -> tuple[Source, ...]:
    """Everything that was shown, once, those that the answer names first and marked `cited`.

    Named means by marker, `[2]` or `[1, 3]`, or by title. `supported` is not judged here.
    """
    unique = {source.n: source for source in shown}
    numbers = {int(n) for group in MARKER.findall(answer) for n in group.split(",")}
    text = answer.lower()
    marked = [
        replace(source, cited=source.n in numbers or source.title.lower() in text)
        for source in unique.values()
    ]
    return tuple(sorted(marked, key=lambda source: (not source.cited, source.n)))
