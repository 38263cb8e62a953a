"""Locks between processes on one machine, released by the system when their holder dies."""

import contextlib
import os
import secrets
import sys
from pathlib import Path

from inglenook.errors import StoreError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


SERVER_LOCK = "lock"
"""In the home; its server holds it."""


class FileLock:
    """An exclusive lock on a file; held until `release` or the end of the process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def acquire(self) -> bool:
        """Take the lock if it is free; never waits.

        Raises:
            OSError: Its file or folder cannot be made.
        """
        if self._descriptor is not None:
            return True
        self._path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if sys.platform == "win32":
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            else:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        return True

    def is_held(self) -> bool:
        """Somebody holds the lock, this object or another, in this process or elsewhere.

        Raises:
            OSError: Its file cannot be opened.
        """
        if self._descriptor is not None:
            return True
        if not self._path.exists():
            return False
        is_free = self.acquire()
        self.release()
        return not is_free

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def unusable(home: Path, error: OSError) -> str:
    return (
        f"the home {str(home)!r} cannot be used: {error.strerror or error} "
        f"({error.filename!r}); check its owner and mode, or set INGLENOOK_HOME to a folder that "
        "you may write"
    )


class Owners:
    """Names of the processes that work on a home, and whether each still lives.

    A killed process leaves its leases behind; its freed lock tells at once that they are void.
    """

    def __init__(self, home: Path) -> None:
        """
        Raises:
            StoreError: The home cannot be written.
        """
        self._folder = home / "owners"
        self._server = FileLock(home / SERVER_LOCK)
        self.id = f"{os.getpid()}-{secrets.token_hex(4)}"
        self._lock = FileLock(self._path(self.id))
        try:
            self._lock.acquire()
        except OSError as error:
            raise StoreError(unusable(home, error)) from error

    def is_alive(self, owner: str) -> bool:
        if owner == self.id:
            return True
        path = self._path(owner)
        if not path.exists():
            return False
        lock = FileLock(path)
        try:
            if not lock.acquire():
                return True
        except OSError:
            return True  # it cannot be told; its lease runs out by itself
        with contextlib.suppress(OSError):
            path.unlink()
        lock.release()
        return False

    def has_server(self) -> bool:
        """A server runs for this home, and takes up what others left unfinished."""
        try:
            return self._server.is_held()
        except OSError:
            return True  # it cannot be told

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._path(self.id).unlink()
        self._lock.release()

    def _path(self, owner: str) -> Path:
        return self._folder / f"{owner}.lock"
