"""A run as a file: JSON Lines, each with a digest over itself and all before it.

The digests find a change by accident or by hand. Whoever recomputes them meets the next view digest
when the run is replayed; who changed the home's own log is found by `runs verify`.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator

from inglenook.errors import InvalidRequest, ReplayMismatch

_DIGEST = re.compile(rb',"digest":"([0-9a-f]{64})"\}\s*$')


def export_lines(events: Iterable[bytes]) -> bytes:
    """`events` as `StoredEvent.json` gives them; the last field of each line is its `digest`."""
    lines: list[bytes] = []
    before = ""
    for event in events:
        before = _digest(before, event)
        lines.append(event[:-1] + f',"digest":"{before}"}}\n'.encode())
    return b"".join(lines)


def checked_lines(export: bytes) -> Iterator[bytes]:
    """The events of an export, one by one.

    Raises:
        ReplayMismatch: A line was changed, or one before it is missing.
        InvalidRequest: A line is none of an export.
    """
    before = ""
    for number, line in enumerate(export.splitlines()):
        found = _DIGEST.search(line)
        if found is None:
            raise InvalidRequest(
                f"line {number + 1} is no line of `inglenook runs export`; export the run again"
            )
        event = line[: found.start()] + b"}"
        before = _digest(before, event)
        if found[1].decode() != before:
            raise ReplayMismatch(
                f"event {number} was changed after the export, or one before it is missing"
            )
        yield event


def _digest(before: str, event: bytes) -> str:
    return hashlib.sha256(before.encode() + event).hexdigest()
