"""One knowledge base on disk: files, chunks, full text and vectors, in a folder of its own.

Everything here blocks and is called from worker threads; `local.py` is the asynchronous side.
A file's chunks are replaced in one transaction, so a crash leaves the old ones or the new ones.
"""

import os
import secrets
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import cast

from inglenook.errors import StoreError
from inglenook.knowledge.base import Document, KnowledgeBase, Label
from inglenook.knowledge.embedder import Vectors
from inglenook.knowledge.extract import Extracted
from inglenook.knowledge.index_db import IndexDatabase, read_meta
from inglenook.knowledge.index_search import IndexSearch
from inglenook.knowledge.terms import terms
from inglenook.knowledge.vectors import VectorFile

DATABASE_NAME = "index.sqlite3"
VECTORS_NAME = "vectors.f32"


@dataclass(frozen=True, kw_only=True)
class FileStamp:
    """What tells whether a file changed, cheapest first."""

    size_bytes: int
    mtime_ns: int
    sha256: bytes


@dataclass(frozen=True, kw_only=True)
class IndexedFile:
    id: str
    path: str
    name: str
    stamp: FileStamp


@dataclass(frozen=True, kw_only=True)
class PendingChunk:
    id: int
    text: str
    """With its headings, as it is to be embedded."""


class OtherDimensions(Exception):
    """Vectors of two lengths cannot be in one matrix."""


class Index:
    def __init__(self, folder: Path) -> None:
        """
        Raises:
            StoreError: The folder holds no readable knowledge base.
        """
        self.id = folder.name
        self._folder = folder
        self._db = IndexDatabase(folder / DATABASE_NAME, folder.name)
        self._vectors = VectorFile(folder / VECTORS_NAME)
        self.search = IndexSearch(self.id, self._db, self._vectors)
        with self._db.reading() as reader:
            meta = read_meta(reader)
        self.name = meta["name"]

    @classmethod
    def create(cls, folder: Path, name: str, label: Label) -> None:
        folder.mkdir(mode=0o700, parents=True)
        IndexDatabase.create(folder / DATABASE_NAME, {"name": name, "label": label})

    def close(self) -> None:
        self._db.close()
        self._vectors.close()

    def check_there(self) -> None:
        """
        Raises:
            StoreError: The knowledge base was removed, perhaps by another process.
        """
        if not self._folder.is_dir():
            raise StoreError(f"knowledge base {self.name!r} was removed; nothing of it is read")

    def describe(self) -> KnowledgeBase:
        with self._db.reading() as reader:
            meta = read_meta(reader)
            (files,) = reader.execute("SELECT count(*) FROM files").fetchone()
            (chunks,) = reader.execute("SELECT count(*) FROM chunks").fetchone()
            (pending,) = reader.execute("SELECT count(*) FROM chunks WHERE row IS NULL").fetchone()
        return KnowledgeBase(
            id=self.id,
            name=meta["name"],
            label=cast("Label", meta["label"]),
            files=files,
            chunks=chunks,
            embedded=chunks - pending,
        )

    def label(self) -> Label:
        with self._db.reading() as reader:
            return cast("Label", read_meta(reader)["label"])

    def set_label(self, label: Label) -> None:
        with self._db.writing() as writer:
            _set_meta(writer, "label", label)

    def documents(self) -> list[Document]:
        with self._db.reading() as reader:
            rows = reader.execute("SELECT id, name, size_bytes FROM files ORDER BY name, id")
            return [
                Document(
                    id=file_id,
                    name=name,
                    knowledge_id=self.id,
                    knowledge_name=self.name,
                    size_bytes=size,
                )
                for file_id, name, size in rows
            ]

    def files_by_path(self) -> dict[str, IndexedFile]:
        with self._db.reading() as reader:
            rows = reader.execute(
                "SELECT id, path, name, size_bytes, mtime_ns, sha256 FROM files"
            ).fetchall()
        return {
            os.fsdecode(path): IndexedFile(
                id=file_id,
                path=os.fsdecode(path),
                name=name,
                stamp=FileStamp(size_bytes=size, mtime_ns=mtime, sha256=sha256),
            )
            for file_id, path, name, size, mtime, sha256 in rows
        }

    def read(self, file_id: str) -> str | None:
        """The whole text; None if there is no such file."""
        with self._db.reading() as reader:
            found = reader.execute("SELECT 1 FROM files WHERE id = ?", (file_id,)).fetchone()
            rows = reader.execute(
                "SELECT start, text FROM chunks WHERE file_id = ? ORDER BY start", (file_id,)
            ).fetchall()
        if found is None:
            return None
        parts: list[str] = []
        position = 0
        for start, text in rows:
            parts.append(text[position - start :])
            position = start + len(text)
        return "".join(parts)

    def put(self, *, path: str, name: str, stamp: FileStamp, document: Extracted) -> str:
        """Add a file or replace all of it; its id stays the same as long as its path does."""
        stem = PurePath(name).stem
        key = _path_key(path)
        with self._db.writing() as writer:
            known = writer.execute("SELECT id FROM files WHERE path = ?", (key,)).fetchone()
            file_id = known[0] if known else f"f-{secrets.token_hex(6)}"
            freed = _delete_chunks(writer, file_id)
            writer.execute(
                "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?)",
                (file_id, key, name, stamp.size_bytes, stamp.mtime_ns, stamp.sha256),
            )
            for one in document.chunks:
                text = document.text[one.start : one.end]
                chunk_id = writer.execute(
                    "INSERT INTO chunks (file_id, start, heading, text) VALUES (?, ?, ?, ?)",
                    (file_id, one.start, one.heading, text),
                ).lastrowid
                writer.execute(
                    "INSERT INTO chunk_terms (rowid, terms) VALUES (?, ?)",
                    (chunk_id, " ".join(terms(f"{stem}\n{one.heading}\n{text}"))),
                )
        self._erase_unused(freed)
        return file_id

    def add_roots(self, roots: Iterable[str]) -> set[str]:
        """Remember folders as added; returns those that were added before."""
        with self._db.writing() as writer:
            known = {os.fsdecode(path) for (path,) in writer.execute("SELECT path FROM roots")}
            keys = [(_path_key(root),) for root in roots]
            writer.executemany("INSERT OR IGNORE INTO roots VALUES (?)", keys)
        return known.intersection(roots)

    def touch(self, file_id: str, stamp: FileStamp) -> None:
        """The file has a new time stamp and the same content."""
        with self._db.writing() as writer:
            writer.execute(
                "UPDATE files SET size_bytes = ?, mtime_ns = ? WHERE id = ?",
                (stamp.size_bytes, stamp.mtime_ns, file_id),
            )

    def delete(self, file_ids: Iterable[str]) -> None:
        freed: list[int] = []
        with self._db.writing() as writer:
            for file_id in file_ids:
                freed += _delete_chunks(writer, file_id)
                writer.execute("DELETE FROM files WHERE id = ?", (file_id,))
        self._erase_unused(freed)

    def purge(self) -> None:
        """Overwrite what deletions left behind in the full-text index, the log and the matrix."""
        with self._db.writing() as writer:
            if read_meta(writer).get("unpurged") != "yes":
                return
            # FTS5 keeps deleted rows in its segments until they are merged
            writer.execute("INSERT INTO chunk_terms (chunk_terms) VALUES ('optimize')")
            row_count = max(_used_rows(writer), default=-1) + 1
        self._erase_unused(range(row_count))
        if self._db.checkpoint():
            with self._db.writing() as writer:
                _set_meta(writer, "unpurged", "no")

    def use_embedder(self, embedder_id: str) -> None:
        """Drop the vectors of another embedder, and all if their file is not whole."""
        with self._db.reading() as reader:
            meta = read_meta(reader)
            row_count = max(_used_rows(reader), default=-1) + 1
        is_same = meta.get("embedder") == embedder_id
        if not (is_same and self._vectors.holds(row_count, int(meta.get("dimensions", 0)))):
            self.drop_vectors(embedder_id)

    def drop_vectors(self, embedder_id: str) -> None:
        """Start over with `embedder_id`."""
        with self._db.writing() as writer:
            writer.execute("UPDATE chunks SET row = NULL WHERE row IS NOT NULL")
            _set_meta(writer, "embedder", embedder_id)
            _set_meta(writer, "dimensions", "0")
        self._vectors.remove()

    def pending(self, limit: int) -> list[PendingChunk]:
        with self._db.reading() as reader:
            rows = reader.execute(
                "SELECT id, heading, text FROM chunks WHERE row IS NULL ORDER BY id LIMIT ?",
                (limit,),
            ).fetchall()
        return [
            PendingChunk(
                id=chunk_id, text=f"{heading}\n{text.strip()}" if heading else text.strip()
            )
            for chunk_id, heading, text in rows
        ]

    def store_vectors(self, chunk_ids: Sequence[int], vectors: Vectors) -> None:
        """Chunks that were deleted in the meantime are passed over.

        Raises:
            OtherDimensions: The vectors are longer or shorter than those that are there.
        """
        with self._db.writing() as writer:
            dimensions = int(read_meta(writer).get("dimensions", 0)) or vectors.shape[1]
            if dimensions != vectors.shape[1]:
                raise OtherDimensions
            alive = [
                position
                for position, chunk_id in enumerate(chunk_ids)
                if writer.execute(
                    "SELECT 1 FROM chunks WHERE id = ? AND row IS NULL", (chunk_id,)
                ).fetchone()
            ]
            rows = _free_rows(_used_rows(writer), len(alive))
            self._vectors.write(rows, vectors[alive])
            writer.executemany(
                "UPDATE chunks SET row = ? WHERE id = ?",
                [(row, chunk_ids[position]) for row, position in zip(rows, alive, strict=True)],
            )
            _set_meta(writer, "dimensions", str(dimensions))

    def _erase_unused(self, rows: Iterable[int]) -> None:
        """Zero those of `rows` that no chunk holds.

        A transaction of its own: before the one that freed them ends they must stay, and after it
        new vectors may be in them.
        """
        wanted = set(rows)
        if not wanted:
            return
        with self._db.writing() as writer:
            free = sorted(wanted - _used_rows(writer))
            self._vectors.erase(free, int(read_meta(writer).get("dimensions", 0)))


def _path_key(path: str) -> str | bytes:
    """`path` as SQLite keeps it: text, or the bytes of a path that is not UTF-8."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return os.fsencode(path)
    return path


def _set_meta(connection: sqlite3.Connection, key: str, value: str) -> None:
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))


def _delete_chunks(writer: sqlite3.Connection, file_id: str) -> list[int]:
    """Delete a file's chunks; returns the rows of the matrix that they held."""
    rows = writer.execute("SELECT id, row FROM chunks WHERE file_id = ?", (file_id,)).fetchall()
    if not rows:
        return []
    writer.executemany("DELETE FROM chunk_terms WHERE rowid = ?", [(i,) for i, _ in rows])
    writer.execute("DELETE FROM chunks WHERE file_id = ?", (file_id,))
    _set_meta(writer, "unpurged", "yes")
    return [row for _, row in rows if row is not None]


def _used_rows(connection: sqlite3.Connection) -> set[int]:
    return {row for (row,) in connection.execute("SELECT row FROM chunks WHERE row IS NOT NULL")}


def _free_rows(used: set[int], count: int) -> list[int]:
    """The lowest rows that no chunk holds."""
    free: list[int] = []
    row = 0
    while len(free) < count:
        if row not in used:
            free.append(row)
        row += 1
    return free
