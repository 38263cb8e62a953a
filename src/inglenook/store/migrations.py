"""The database's schema as numbered steps; each runs once, in its own transaction."""

import sqlite3
from collections.abc import Callable

from inglenook.errors import StoreError


def _001_runs_and_events(db: sqlite3.Connection) -> None:
    db.execute(
        """CREATE TABLE runs (
            id TEXT PRIMARY KEY, session TEXT, parent TEXT, user TEXT, title TEXT NOT NULL,
            model TEXT NOT NULL, strategy TEXT NOT NULL, status TEXT NOT NULL, reason TEXT,
            explanation TEXT, created_at TEXT NOT NULL, finished_at TEXT,
            owner TEXT, epoch INTEGER NOT NULL DEFAULT 0, lease_until TEXT,
            idempotency_key TEXT
        ) WITHOUT ROWID"""
    )
    db.execute("CREATE INDEX runs_by_age ON runs (created_at DESC, id DESC) WHERE parent IS NULL")
    db.execute("CREATE INDEX runs_open ON runs (status) WHERE status IN ('queued', 'running')")
    db.execute("CREATE UNIQUE INDEX runs_by_key ON runs (ifnull(user, ''), idempotency_key)")
    db.execute(
        """CREATE TABLE events (
            run_id TEXT NOT NULL, seq INTEGER NOT NULL, at TEXT NOT NULL, type TEXT NOT NULL,
            digest BLOB NOT NULL, mac BLOB NOT NULL, payload BLOB,
            PRIMARY KEY (run_id, seq)
        )"""
    )
    db.execute(
        """CREATE TABLE seals (
            n INTEGER PRIMARY KEY, run_id TEXT NOT NULL, seq INTEGER NOT NULL, mac BLOB NOT NULL
        )"""
    )
    db.execute(
        """CREATE TABLE inbox (
            id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL, kind TEXT NOT NULL,
            payload TEXT NOT NULL
        )"""
    )


def _002_labels_and_approvals(db: sqlite3.Connection) -> None:
    db.execute("ALTER TABLE runs ADD COLUMN labels TEXT NOT NULL DEFAULT '[]'")
    db.execute("CREATE INDEX runs_by_session ON runs (session) WHERE session IS NOT NULL")
    db.execute(
        """CREATE TABLE approvals (
            run_id TEXT NOT NULL, call_id TEXT NOT NULL, root_id TEXT NOT NULL,
            request TEXT NOT NULL, status TEXT NOT NULL, sha256 TEXT NOT NULL,
            created_at TEXT NOT NULL, expires_at TEXT NOT NULL, decided_at TEXT,
            arguments TEXT, by TEXT,
            PRIMARY KEY (run_id, call_id)
        ) WITHOUT ROWID"""
    )
    db.execute("CREATE INDEX approvals_by_root ON approvals (root_id)")
    db.execute("CREATE INDEX approvals_open ON approvals (expires_at) WHERE status = 'pending'")


def _003_cache(db: sqlite3.Connection) -> None:
    db.execute(
        """CREATE TABLE cache (
            id INTEGER PRIMARY KEY, kind TEXT NOT NULL, key BLOB NOT NULL, value BLOB NOT NULL,
            size INTEGER NOT NULL, fetched_at TEXT NOT NULL, labels TEXT NOT NULL,
            UNIQUE (kind, key)
        )"""
    )
    db.execute("CREATE INDEX cache_by_age ON cache (fetched_at, size)")


def _004_cached_reports(db: sqlite3.Connection) -> None:
    db.execute("ALTER TABLE cache ADD COLUMN family BLOB")
    db.execute("CREATE INDEX cache_by_family ON cache (kind, family) WHERE family IS NOT NULL")
    db.execute(
        """CREATE TABLE cache_embeddings (
            kind TEXT NOT NULL, key BLOB NOT NULL, embedding_model TEXT NOT NULL,
            text_hash BLOB NOT NULL, dim INTEGER NOT NULL, vector BLOB NOT NULL,
            created_at TEXT NOT NULL,
            PRIMARY KEY (kind, key, embedding_model)
        )"""
    )
    db.execute(
        """CREATE TRIGGER cache_forgets_vectors AFTER DELETE ON cache BEGIN
            DELETE FROM cache_embeddings WHERE kind = old.kind AND key = old.key;
        END"""
    )


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (
    _001_runs_and_events,
    _002_labels_and_approvals,
    _003_cache,
    _004_cached_reports,
)


def migrate(db: sqlite3.Connection) -> None:
    """Bring the database to this version's schema.

    Raises:
        StoreError: The database is newer than this program.
    """
    version = int(db.execute("PRAGMA user_version").fetchone()[0])
    if version > len(MIGRATIONS):
        raise StoreError(
            f"the home's database has schema {version}, this version knows {len(MIGRATIONS)}; "
            "start it with the newer version that wrote it"
        )
    for number in range(version, len(MIGRATIONS)):
        db.execute("BEGIN IMMEDIATE")
        if int(db.execute("PRAGMA user_version").fetchone()[0]) == number:  # another process?
            MIGRATIONS[number](db)
            db.execute(f"PRAGMA user_version = {number + 1}")
        db.execute("COMMIT")
