"""The SQLite file of one knowledge base: schema, connections, and its failures in our words.

One connection writes and one reads (WAL), each used by one thread at a time.
"""

import sqlite3
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from inglenook.errors import StoreError

VERSION = 1
BUSY_TIMEOUT_S = 10.0

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE roots (path TEXT PRIMARY KEY) WITHOUT ROWID;  -- folders that were added
CREATE TABLE files (
    id TEXT PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,   -- absolute, or "upload:<name>"
    name TEXT NOT NULL,          -- as people and models see it
    size_bytes INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    sha256 BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    file_id TEXT NOT NULL,
    start INTEGER NOT NULL,      -- offset in the document's text; chunks overlap
    heading TEXT NOT NULL,
    text TEXT NOT NULL,
    row INTEGER                  -- in the vector file; NULL: not embedded yet
);
CREATE INDEX chunks_of_file ON chunks (file_id, start);
CREATE INDEX chunks_pending ON chunks (id) WHERE row IS NULL;
CREATE VIRTUAL TABLE chunk_terms USING fts5 (terms, tokenize = "ascii");  -- terms.py splits
CREATE VIRTUAL TABLE term_counts USING fts5vocab (chunk_terms, row);
"""


class IndexDatabase:
    """Closed by `close`; using it afterwards is a StoreError."""

    def __init__(self, path: Path, label: str) -> None:
        """`label` names the knowledge base in errors.

        Raises:
            StoreError: No database of this program's, or one of a later version.
        """
        self._path = path
        self._label = label
        self._write_lock = threading.Lock()
        self._read_lock = threading.Lock()
        self._writer: sqlite3.Connection | None = None
        with self.translated():
            self._reader = self._connect()
            try:
                self._reader.execute("PRAGMA query_only = ON")
                (version,) = self._reader.execute("PRAGMA user_version").fetchone()
            except sqlite3.Error:
                self._reader.close()
                raise
        if version != VERSION:
            self._reader.close()
            raise StoreError(
                f"knowledge base {label!r} has format {version}, this program reads {VERSION}: "
                "update the program, or remove the base and add its files again"
            )

    @classmethod
    def create(cls, path: Path, meta: Mapping[str, str]) -> None:
        with _translated(path.parent.name):
            connection = sqlite3.connect(path, isolation_level=None)
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {VERSION};")
                connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
                connection.execute("COMMIT")
            finally:
                connection.close()

    @contextmanager
    def reading(self) -> Generator[sqlite3.Connection]:
        with self._read_lock, self.translated():
            yield self._reader

    @contextmanager
    def writing(self) -> Generator[sqlite3.Connection]:
        """One transaction: all of the block, or nothing of it."""
        with self._write_lock, self.translated():
            writer = self._open_writer()
            writer.execute("BEGIN IMMEDIATE")
            try:
                yield writer
            except BaseException:
                if writer.in_transaction:
                    writer.execute("ROLLBACK")
                raise
            writer.execute("COMMIT")

    def checkpoint(self) -> bool:
        """Empty the write-ahead log of old page images; False if a reader is in the way."""
        with self._write_lock, self.translated():
            (busy, _, _) = self._open_writer().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            return not busy

    def close(self) -> None:
        with self._write_lock, self._read_lock:
            if self._writer is not None:
                self._writer.close()
            self._reader.close()

    @contextmanager
    def translated(self) -> Generator[None]:
        with _translated(self._label):
            yield

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(
            f"{self._path.as_uri()}?mode=rw",
            uri=True,
            timeout=BUSY_TIMEOUT_S,
            isolation_level=None,
            check_same_thread=False,
        )

    def _open_writer(self) -> sqlite3.Connection:
        if self._writer is None:
            writer = self._connect()
            writer.execute("PRAGMA synchronous = NORMAL")
            # deleted text is overwritten, in the file and not only in the index to it
            writer.execute("PRAGMA secure_delete = ON")
            writer.execute("PRAGMA temp_store = MEMORY")
            self._writer = writer
        return self._writer


def read_meta(connection: sqlite3.Connection) -> dict[str, str]:
    """`name`, `label`; `embedder` and `dimensions` once there are vectors; `unpurged`."""
    return dict(connection.execute("SELECT key, value FROM meta"))


@contextmanager
def _translated(label: str) -> Generator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(f"knowledge base {label!r}: {error}. {_advice(str(error))}") from error


def _advice(problem: str) -> str:
    if "full" in problem:
        return "Free some disk space and try again; nothing of what was there is lost."
    if "locked" in problem or "busy" in problem:
        return "Another process is using it; try again when that is done."
    if "closed" in problem:
        return "It was removed or the program is stopping."
    if "readonly" in problem or "unable to open" in problem:
        return "Check that its folder exists and belongs to you."
    return "If this repeats, remove the base and add its files again."
