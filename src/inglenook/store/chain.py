"""The keyed hash chain of the event log: what makes any later change visible.

Each event's header holds a keyed digest of its payload and a MAC over the header and the MAC
before it. The payload itself is not under the MAC, so it can be erased and the chain still holds.
"""

import contextlib
import hashlib
import os
from functools import lru_cache
from pathlib import Path

from inglenook.errors import StoreError

GENESIS = bytes(32)
"""Stands before the first event of each run."""
KEY_BYTES = 32
SHA256_BLOCK_BYTES = 64


def payload_digest(key: bytes, payload: bytes) -> bytes:
    """Keyed, so that a short payload cannot be guessed from the digest left after erasure."""
    return _mac(key, payload)


def link(
    key: bytes, before: bytes, run_id: str, seq: int, at: str, type: str, digest: bytes
) -> bytes:
    """The MAC of one event's header; 32 bytes."""
    header = f"{run_id}\n{seq}\n{at}\n{type}\n".encode()
    return _mac(key, before + header + digest)


def seal(key: bytes, before: bytes, run_id: str, seq: int, mac: bytes) -> bytes:
    """The MAC of a finished run's end, chained over all runs of the home: finds a cut tail."""
    return _mac(key, before + f"{run_id}\n{seq}\n".encode() + mac)


def _mac(key: bytes, message: bytes) -> bytes:
    """HMAC-SHA256 (RFC 2104), with the key taken in once: two MACs an event are a good part of
    what the log costs, and most of theirs was the key."""
    inner, outer = _begun(key)
    first, second = inner.copy(), outer.copy()
    first.update(message)
    second.update(first.digest())
    return second.digest()


@lru_cache(maxsize=8)
def _begun(key: bytes):  # the type of a hash has no public name
    assert len(key) <= SHA256_BLOCK_BYTES, "a longer key would have to be hashed first"
    block = key.ljust(SHA256_BLOCK_BYTES, b"\0")
    inner, outer = (bytes(byte ^ pad for byte in block) for pad in (0x36, 0x5C))
    return hashlib.sha256(inner), hashlib.sha256(outer)


def load_key(path: Path, *, may_make: bool) -> bytes:
    """The home's key, made at the first start; readable by its owner alone.

    Raises:
        StoreError: The key is missing where a log exists, or is damaged.
    """
    if path.exists():
        return _checked(path)
    if not may_make:
        raise StoreError(
            f"the home's key {str(path)!r} is missing, and with it the proof of what is stored. "
            "Restore it from a backup of the home; or move inglenook.db away to start a new log"
        )
    key = os.urandom(KEY_BYTES)
    fresh = path.with_name(f"{path.name}.{hashlib.sha256(key).hexdigest()[:8]}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(key)
        file.flush()
        os.fsync(file.fileno())
    with contextlib.suppress(FileExistsError):
        os.link(fresh, path)  # atomic, and the first of two processes wins
    fresh.unlink()
    return _checked(path)


def _checked(path: Path) -> bytes:
    key = path.read_bytes()
    if len(key) != KEY_BYTES:
        raise StoreError(
            f"the home's key {str(path)!r} has {len(key)} bytes, {KEY_BYTES} are needed: it is "
            "damaged. Restore it from a backup of the home"
        )
    return key
