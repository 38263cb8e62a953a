"""The `inbox` table: what others write to a run, until the holder of its lease takes it."""

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from inglenook.store.base import InboxItem, InboxKind


def insert(
    db: sqlite3.Connection, run_id: str, kind: InboxKind, payload: dict[str, object]
) -> None:
    db.execute(
        "INSERT INTO inbox (run_id, kind, payload) SELECT ?, ?, ?"
        " WHERE EXISTS (SELECT 1 FROM runs WHERE id = ? AND finished_at IS NULL)",
        (run_id, kind, json.dumps(payload), run_id),
    )


def ids_of(db: sqlite3.Connection, run_ids: Sequence[str]) -> list[int]:
    wanted = set(run_ids)
    waiting = db.execute("SELECT id, run_id FROM inbox ORDER BY id")
    return [id for id, run_id in waiting if run_id in wanted]


def take(db: sqlite3.Connection, ids: Sequence[int]) -> list[InboxItem]:
    found: list[tuple[Any, ...]] = []
    for id in ids:
        found += db.execute(
            "DELETE FROM inbox WHERE id = ? RETURNING id, run_id, kind, payload", (id,)
        ).fetchall()
    return [
        InboxItem(id=id, run_id=run_id, kind=kind, payload=json.loads(payload))
        for id, run_id, kind, payload in found
    ]
