"""Does the home take writes? Asked of the disk itself: an idle database has nothing to write."""

import os
import secrets
from pathlib import Path

from inglenook.errors import StoreError

PROBE_BYTES = 64 << 10
"""More than a run's first events and its row need."""


def check_room(home: Path) -> None:
    """Write a file of `PROBE_BYTES` and remove it.

    Raises:
        StoreError: It could not be written; why, and what to do.
    """
    path = home / f".room-{os.getpid()}-{secrets.token_hex(4)}"
    try:
        try:
            path.write_bytes(bytes(PROBE_BYTES))
        finally:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(
            f"the home {str(home)!r} takes no writes: {error.strerror or error}; free some space, "
            "or check the folder's owner and mode"
        ) from error
