"""Walk the event log's keyed chain and say what was changed."""

import hmac
import json
import sqlite3
from collections.abc import Sequence

from inglenook.events import ENDED
from inglenook.store.base import ChainReport
from inglenook.store.chain import GENESIS, link, payload_digest, seal
from inglenook.store.columns import storable


def verify_chain(db: sqlite3.Connection, key: bytes, run_id: str | None) -> ChainReport:
    """Check one run, or every run and the seals over all of them, as they stand at one moment."""
    db.execute("BEGIN")
    try:
        return _verify(db, key, run_id)
    finally:
        db.execute("COMMIT")


def _verify(db: sqlite3.Connection, key: bytes, run_id: str | None) -> ChainReport:
    problems: list[str] = []
    runs = db.execute(
        "SELECT id, status, reason, explanation, model FROM runs"
        " WHERE ?1 IS NULL OR id = ?1 ORDER BY id",
        (run_id,),
    ).fetchall()
    events = erased = 0
    ends: dict[str, tuple[int, bytes]] = {}
    for id, *card in runs:
        mac, expected, last_type = GENESIS, 0, ""
        first: bytes | None = None
        last: bytes | None = None
        rows = db.execute(
            "SELECT seq, at, type, digest, mac, payload FROM events WHERE run_id = ? ORDER BY seq",
            (id,),
        )
        for seq, at, type, digest, stored_mac, payload in rows:
            events += 1
            if seq != expected:
                problems.append(f"{id}: event {expected} is missing")
                expected = seq
            if payload is None:
                erased += 1
            elif not _is_intact(key, payload, digest):
                problems.append(f"{id}: the payload of event {seq} was changed")
            mac = link(key, mac, id, seq, at, type, digest)
            if not hmac.compare_digest(mac, stored_mac):
                problems.append(f"{id}: the header of event {seq}, or one before it, was changed")
                mac = stored_mac  # go on from what is there, so that each change is named once
            expected, last_type = expected + 1, type
            first, last = (payload if seq == 0 else first), payload
        ends[id] = (expected - 1, mac)
        problems += _check_card(id, card, first, last, last_type)
    problems += _check_seals(db, key, ends, run_id)
    return ChainReport(runs=len(runs), events=events, erased=erased, problems=tuple(problems))


def _check_card(
    id: str, card: Sequence[str | None], first: bytes | None, last: bytes | None, last_type: str
) -> list[str]:
    """The run's index card against its log, as far as the log was not erased."""
    status, reason, explanation, model = card
    if (status in ENDED) != (last_type == "run_finished"):
        return [f"{id}: is {status}, but its log ends with {last_type or 'nothing'}"]
    told = {"model": (model, first)}
    if status in ENDED:
        told |= {
            "status": (status, last),
            "reason": (reason, last),
            "explanation": (explanation, last),
        }
    problems: list[str] = []
    for name, (shown, payload) in told.items():
        if payload is None:
            continue  # erased
        recorded = _field(payload, name)
        if recorded is not None and storable(recorded) != shown or (recorded is None and shown):
            problems.append(f"{id}: its {name} is shown as {shown!r}, the log says {recorded!r}")
    return problems


def _field(payload: bytes, name: str) -> str | None:
    try:
        return json.loads(payload).get(name)
    except (ValueError, AttributeError):
        return None  # a changed payload, which has its own line


def _is_intact(key: bytes, payload: object, digest: bytes) -> bool:
    """False also where a tool left another type in the column than the bytes that we store."""
    return isinstance(payload, bytes) and hmac.compare_digest(payload_digest(key, payload), digest)


def _check_seals(
    db: sqlite3.Connection, key: bytes, ends: dict[str, tuple[int, bytes]], run_id: str | None
) -> list[str]:
    problems: list[str] = []
    before = GENESIS
    sealed: set[str] = set()
    for n, id, seq, mac in db.execute("SELECT n, run_id, seq, mac FROM seals ORDER BY n"):
        sealed.add(id)
        if run_id is not None and id != run_id:
            before = mac
            continue
        if id not in ends:
            problems.append(f"{id}: the whole run is missing (seal {n} names it)")
        elif ends[id][0] != seq:
            problems.append(f"{id}: ends at event {ends[id][0]}, was sealed at {seq}")
        elif not hmac.compare_digest(seal(key, before, id, seq, ends[id][1]), mac):
            problems.append(f"{id}: seal {n}, or one before it, was changed")
        before = mac
    finished = {
        id
        for (id,) in db.execute("SELECT DISTINCT run_id FROM events WHERE type = 'run_finished'")
        if run_id is None or id == run_id
    }
    problems += [f"{id}: ended, but its seal is missing" for id in sorted(finished - sealed)]
    return problems
