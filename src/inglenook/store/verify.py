"""Walk the event log's keyed chain and say what was changed."""

import hmac
import sqlite3

from inglenook.events import ENDED
from inglenook.store.base import ChainReport
from inglenook.store.chain import GENESIS, link, payload_digest, seal


def verify_chain(db: sqlite3.Connection, key: bytes, run_id: str | None) -> ChainReport:
    """Check one run, or every run and the seals over all of them."""
    problems: list[str] = []
    runs = db.execute(
        "SELECT id, status FROM runs WHERE ?1 IS NULL OR id = ?1 ORDER BY id", (run_id,)
    ).fetchall()
    events = erased = 0
    ends: dict[str, tuple[int, bytes]] = {}
    for id, status in runs:
        mac, expected, last_type = GENESIS, 0, ""
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
        ends[id] = (expected - 1, mac)
        if status in ENDED and last_type != "run_finished":
            problems.append(f"{id}: is {status}, but its log has no end")
    problems += _check_seals(db, key, ends, run_id)
    return ChainReport(runs=len(runs), events=events, erased=erased, problems=tuple(problems))


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
