"""The `cache` table: what was found on the web, kept for a while and up to a size.

Age counts from the fetch, whoever used an entry since. A key may hold a user's words, so that only
its digest is stored.
"""

import hashlib
import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime

from inglenook.messages import Label
from inglenook.store.base import CacheEntry
from inglenook.store.columns import stamp


def find(db: sqlite3.Connection, kind: str, key: str, since: datetime) -> CacheEntry | None:
    found = db.execute(
        "SELECT value, fetched_at, labels FROM cache"
        " WHERE kind = ? AND key = ? AND fetched_at >= ?",
        (kind, _digest(key), stamp(since)),
    ).fetchone()
    if found is None:
        return None
    value, fetched_at, labels = found
    return CacheEntry(
        value=value, fetched_at=datetime.fromisoformat(fetched_at), labels=tuple(json.loads(labels))
    )


def put(
    db: sqlite3.Connection,
    kind: str,
    key: str,
    value: bytes,
    *,
    fetched_at: datetime,
    labels: Sequence[Label],
) -> None:
    db.execute(
        "INSERT OR REPLACE INTO cache (kind, key, value, size, fetched_at, labels)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (kind, _digest(key), value, len(value), stamp(fetched_at), json.dumps(sorted(labels))),
    )


def shrink(db: sqlite3.Connection, *, max_bytes: int, since: datetime) -> None:
    """Remove what was fetched before `since`, then the oldest until `max_bytes` hold the rest."""
    db.execute("DELETE FROM cache WHERE fetched_at < ?", (stamp(since),))
    db.execute(
        "DELETE FROM cache WHERE id IN (SELECT id FROM"
        " (SELECT id, sum(size) OVER (ORDER BY fetched_at DESC, id DESC) AS so_far FROM cache)"
        " WHERE so_far > ?)",
        (max_bytes,),
    )


def clear(db: sqlite3.Connection) -> int:
    """How many entries there were."""
    return db.execute("DELETE FROM cache").rowcount


def erase_of_run(db: sqlite3.Connection, run_id: str) -> None:
    """Remove whatever was fetched while a run went on; others may lose a copy, never more."""
    db.execute(
        "DELETE FROM cache WHERE fetched_at >= (SELECT created_at FROM runs WHERE id = ?1)"
        " AND fetched_at <= (SELECT ifnull(finished_at, '9') FROM runs WHERE id = ?1)",
        (run_id,),
    )


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode(errors="surrogatepass")).digest()
