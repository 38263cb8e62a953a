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
    """
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
    if is_plain and (matches := _close(name, documents)):
        return _only(name, matches)
    raise _out_of_scope(name, documents)


def _close(name: str, documents: Sequence[Document]) -> Sequence[Document]:
    """Those whose name holds `name`, else the nearest; a number in it must be the same number."""
    wanted, numbers = _stem(name), _numbers(name)
    possible = [d for d in documents if not numbers or _numbers(d.name) == numbers]
    if len(wanted) >= MIN_PART_CHARS and (
        holding := [document for document in possible if wanted in _stem(document.name)]
    ):
        return holding
    scored = sorted(((_similarity(wanted, d), d) for d in possible), key=lambda pair: -pair[0])
    best = scored[0][0] if scored else 0.0
    return [d for score, d in scored if score >= _CLOSE and best - score < _LEAD]


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
    if not documents:
        return ToolError("The selected knowledge bases hold no documents.")
    wanted = _stem(name)
    near = sorted(documents, key=lambda document: -_similarity(wanted, document))
    listed = "\n".join(f"- {document.name}" for document in near[:MAX_LISTED])
    return ToolError(
        f"There is no document {name[:200]!r} in this run's scope of {len(documents)} documents. "
        f"In scope are, for example:\n{listed}"
    )
