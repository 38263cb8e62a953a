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
from inglenook.store.base import CacheEntry, CacheVector, FamilyEntry
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
    family: str | None = None,
) -> None:
    db.execute(
        "INSERT OR REPLACE INTO cache (kind, key, value, size, fetched_at, labels, family)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            kind,
            _digest(key),
            value,
            len(value),
            stamp(fetched_at),
            json.dumps(sorted(labels)),
            None if family is None else _digest(family),
        ),
    )


def of_family(
    db: sqlite3.Connection, kind: str, family: str, since: datetime, limit: int
) -> list[FamilyEntry]:
    """Newest first."""
    found = db.execute(
        "SELECT key, value, fetched_at, labels FROM cache"
        " WHERE kind = ? AND family = ? AND fetched_at >= ? ORDER BY fetched_at DESC LIMIT ?",
        (kind, _digest(family), stamp(since), limit),
    )
    return [
        FamilyEntry(
            key=key,
            value=value,
            fetched_at=datetime.fromisoformat(fetched_at),
            labels=tuple(json.loads(labels)),
        )
        for key, value, fetched_at, labels in found
    ]


def without_vector(
    db: sqlite3.Connection, kind: str, model: str, limit: int
) -> list[tuple[bytes, bytes]]:
    """Keys and values of entries that this model has not embedded, newest first."""
    return db.execute(
        "SELECT cache.key, cache.value FROM cache LEFT JOIN cache_embeddings AS e"
        " ON e.kind = cache.kind AND e.key = cache.key AND e.embedding_model = ?"
        " WHERE cache.kind = ? AND cache.family IS NOT NULL AND e.key IS NULL"
        " ORDER BY cache.fetched_at DESC LIMIT ?",
        (model, kind, limit),
    ).fetchall()


def put_vectors(
    db: sqlite3.Connection, kind: str, model: str, vectors: Sequence[CacheVector], at: str
) -> None:
    """Those of entries that are gone meanwhile are not kept."""
    db.executemany(
        "INSERT OR REPLACE INTO cache_embeddings SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7"
        " WHERE EXISTS (SELECT 1 FROM cache WHERE kind = ?1 AND key = ?2)",
        [(kind, v.key, model, v.text_hash, len(v.vector) // 4, v.vector, at) for v in vectors],
    )


def vectors_of(
    db: sqlite3.Connection, kind: str, model: str, keys: Sequence[bytes]
) -> list[CacheVector]:
    found: list[CacheVector] = []
    for key in keys:
        row = db.execute(
            "SELECT text_hash, vector FROM cache_embeddings"
            " WHERE kind = ? AND key = ? AND embedding_model = ?",
            (kind, key, model),
        ).fetchone()
        if row is not None:
            found.append(CacheVector(key=key, text_hash=row[0], vector=row[1]))
    return found


def shrink(db: sqlite3.Connection, *, max_bytes: int, since: datetime) -> None:
    """Remove what was fetched before `since`, then the oldest until `max_bytes` hold the rest."""
    db.execute("DELETE FROM cache WHERE fetched_at < ?", (stamp(since),))
    db.execute(
        "DELETE FROM cache WHERE id IN (SELECT id FROM"
        " (SELECT id, sum(size) OVER (ORDER BY fetched_at DESC, id DESC) AS so_far FROM cache)"
        " WHERE so_far > ?)",
        (max_bytes,),
    )


def erase_of_run(db: sqlite3.Connection, run_id: str) -> None:
    """Remove whatever was fetched while a run went on; others may lose a copy, never more."""
    db.execute(
        "DELETE FROM cache WHERE fetched_at >= (SELECT created_at FROM runs WHERE id = ?1)"
        " AND fetched_at <= (SELECT ifnull(finished_at, '9') FROM runs WHERE id = ?1)",
        (run_id,),
    )


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode(errors="surrogatepass")).digest()
