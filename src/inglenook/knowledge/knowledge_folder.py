"""Where knowledge bases lie in the home: `<home>/knowledge/<id>/`; and what may be a name.

Making and removing are single renames, so that a crash leaves a whole knowledge base or none.
"""

import re
import secrets
import shutil
import threading
import unicodedata
from collections.abc import Sequence
from pathlib import Path, PureWindowsPath

from inglenook.errors import InvalidRequest, NotFound, StoreError
from inglenook.knowledge.base import Label
from inglenook.knowledge.file_names import MAX_FILE_NAME_CHARS
from inglenook.knowledge.index import Index

MAX_NAME_CHARS = 100
_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,60}")


class KnowledgeFolder:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._changing = threading.Lock()
        """What is being made looks like what a crash left."""

    def ids(self) -> Sequence[str]:
        if not self._path.is_dir():
            return []
        return sorted(e.name for e in self._path.iterdir() if _ID.fullmatch(e.name))

    def holds(self, knowledge_id: str) -> bool:
        return bool(_ID.fullmatch(knowledge_id)) and (self._path / knowledge_id).is_dir()

    def open(self, knowledge_id: str) -> Index:
        """
        Raises:
            NotFound: No such knowledge base.
            StoreError: It is there and cannot be read.
        """
        return Index(self._existing(knowledge_id))

    def make(self, name: str, label: Label) -> str:
        """
        Raises:
            StoreError: The home cannot be written.
        """
        knowledge_id = _new_id(name)
        unfinished = self._path / f".new-{knowledge_id}"
        try:
            with self._changing:
                Index.create(unfinished, name, label)
                unfinished.rename(self._path / knowledge_id)
        except OSError as error:
            raise StoreError(
                f"knowledge base {name!r} cannot be made in {self._path}: {error.strerror}. "
                "Check that the folder belongs to you and has space."
            ) from error
        return knowledge_id

    def discard(self, knowledge_id: str) -> None:
        """Delete a knowledge base that nobody has open any more.

        Raises:
            NotFound: No such knowledge base.
            StoreError: The home cannot be written.
        """
        folder = self._existing(knowledge_id)
        try:
            folder.rename(self._path / f".removed-{knowledge_id}")
        except OSError as error:
            raise StoreError(f"{folder} cannot be removed: {error.strerror}") from error
        self.tidy()

    def _existing(self, knowledge_id: str) -> Path:
        # the pattern leaves no separator, dot or other alphabet to reach another folder with
        if not self.holds(knowledge_id):
            raise NotFound(
                f"there is no knowledge base {knowledge_id[:MAX_NAME_CHARS]!r}",
                field="knowledge",
                hint="`inglenook kb list` shows what there is.",
            )
        return self._path / knowledge_id

    def tidy(self) -> None:
        """Delete what a crash left of knowledge bases that were being made or removed."""
        with self._changing:
            for pattern in (".removed-*", ".new-*"):
                for leftover in self._path.glob(pattern):
                    shutil.rmtree(leftover, ignore_errors=True)


def _new_id(name: str) -> str:
    ascii_name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", ascii_name).strip("-")[:40].strip("-") or "knowledge"
    return f"{slug}-{secrets.token_hex(3)}"


def name_key(name: str) -> str:
    return unicodedata.normalize("NFKC", name).strip().casefold()


def checked_name(name: str) -> str:
    name = unicodedata.normalize("NFC", name).strip()
    if not 1 <= len(name) <= MAX_NAME_CHARS or not name.isprintable():
        raise InvalidRequest(
            f"{name[:MAX_NAME_CHARS]!r} cannot be a name: 1 to {MAX_NAME_CHARS} printable "
            "characters are wanted",
            field="name",
        )
    return name


def checked_file_name(filename: str) -> str:
    """The name with its relative path; of a path from a root or upwards, which some browsers
    send, its last part alone."""
    normal = unicodedata.normalize("NFC", filename)
    path = PureWindowsPath(normal)  # it takes both kinds of slash
    name = path.name if path.anchor or ".." in path.parts else path.as_posix()
    if not name.isprintable() or not 1 <= len(name) <= MAX_FILE_NAME_CHARS or name in (".", ".."):
        raise InvalidRequest(
            f"{filename[:MAX_FILE_NAME_CHARS]!r} cannot be a file's name: 1 to "
            f"{MAX_FILE_NAME_CHARS} printable characters are wanted",
            field="file",
        )
    return name
