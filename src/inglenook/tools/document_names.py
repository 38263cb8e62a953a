"""Which document in scope does a name mean? Exact first, then close; never a silent guess."""

import difflib
import re
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

from inglenook.errors import ToolError
from inglenook.knowledge.base import Document

MAX_LISTED = 10
MIN_PART_CHARS = 4
"""A shorter part of a name is in too many names."""
_CLOSE = 0.75
"""Least similarity (difflib) of a name that is taken for another."""
_LEAD = 0.08
"""By which the closest must beat the next one."""


def find_document(name: str, documents: Sequence[Document]) -> Document:
    """Takes up to a second among thousands of documents: for a thread of its own.

    Raises:
        ToolError: None in scope has this name, or several have it; lists what is in scope.
    """
    for document in documents:
        if document.id == name.strip():
            return document
    # a path stands for itself (`../a.md` is not `a.md`), and so does a name with control characters
    is_plain = name.isprintable() and not any(part in name for part in ("/", "\\", ".."))
    for key in _PLAIN_KEYS if is_plain else _STRICT_KEYS:
        wanted = key(name)
        if matches := [
            document for document in documents if wanted and key(document.name) == wanted
        ]:
            return _only(name, matches)
    if is_plain and (matches := _holding(name, documents)):
        return _only(name, matches)
    scored = _scored(name, documents)
    if is_plain and (matches := _closest(name, scored)):
        return _only(name, matches)
    raise _out_of_scope(name, [document for _, document in scored])


def _holding(name: str, documents: Sequence[Document]) -> list[Document]:
    """Those whose name holds `name`."""
    wanted = _stem(name)
    if len(wanted) < MIN_PART_CHARS:
        return []
    return [d for d in documents if wanted in _stem(d.name) and _may_be(name, d)]


def _scored(name: str, documents: Sequence[Document]) -> list[tuple[float, Document]]:
    """Each with its similarity to `name`, the nearest first."""
    wanted = _stem(name)
    return sorted(((_similarity(wanted, d), d) for d in documents), key=lambda pair: -pair[0])


def _closest(name: str, scored: Sequence[tuple[float, Document]]) -> list[Document]:
    """The nearest, and those that are as near."""
    possible = [pair for pair in scored if _may_be(name, pair[1])]
    best = possible[0][0] if possible else 0.0
    return [d for score, d in possible if score >= _CLOSE and best - score < _LEAD]


def _may_be(name: str, document: Document) -> bool:
    """A number in `name` must be the same number in the document's."""
    numbers = _numbers(name)
    return not numbers or _numbers(document.name) == numbers


def _similarity(wanted: str, document: Document) -> float:
    return difflib.SequenceMatcher(None, wanted, _stem(document.name)).ratio()


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold().strip()


def _base_name(name: str) -> str:
    return PurePosixPath(_folded(name)).name


def _stem(name: str) -> str:
    """`Employee_Handbook.pdf` to `employee handbook`."""
    return " ".join(re.findall(r"[^\W_]+", PurePosixPath(_base_name(name)).stem))


def _numbers(name: str) -> list[str]:
    return re.findall(r"\d+", _stem(name))


_STRICT_KEYS: tuple[Callable[[str], str], ...] = (str, _folded)
_PLAIN_KEYS: tuple[Callable[[str], str], ...] = (str, _folded, _base_name, _stem)


def _only(name: str, matches: Sequence[Document]) -> Document:
    """
    Raises:
        ToolError: There is more than one.
    """
    if len(matches) == 1:
        return matches[0]
    listed = "\n".join(
        f"- {d.name} in knowledge base {d.knowledge_name!r} ({d.knowledge_id}): file id {d.id}"
        for d in matches[:MAX_LISTED]
    )
    more = len(matches) - MAX_LISTED
    rest = f"\n(and {more} more)" if more > 0 else ""
    raise ToolError(
        f"{name!r} may mean {len(matches)} documents. Give the file id of one of them as the "
        f"name:\n{listed}{rest}"
    )


def _out_of_scope(name: str, documents: Sequence[Document]) -> ToolError:
    """`documents`: the nearest first."""
    if not documents:
        return ToolError("The selected knowledge bases hold no documents.")
    listed = "\n".join(f"- {document.name}" for document in documents[:MAX_LISTED])
    return ToolError(
        f"There is no document {name[:200]!r} in this run's scope of {len(documents)} documents. "
        f"In scope are, for example:\n{listed}"
    )
