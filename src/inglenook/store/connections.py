"""Connections to the one database file: how each is set up, and the pool that reads."""

import asyncio
import os
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from inglenook.errors import StoreError
from inglenook.store.writer import explain

BUSY_TIMEOUT_MS = 10_000
READERS = 2
CACHE_KB = 512
"""Pages that each connection keeps. A log is written at its end and read in one go; SQLite's own
2 MB would be a third of what 64 runs at once need."""

T = TypeVar("T")


class Connections:
    def __init__(self, path: Path, *, fsync: Callable[[int], None]) -> None:
        """Opens nothing yet."""
        self._path = path
        self._fsync = fsync
        self._loop = asyncio.get_running_loop()
        self._local = threading.local()
        self._opened: list[sqlite3.Connection] = []
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="store-reader")

    def connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
        db.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA secure_delete = ON")
        db.execute(f"PRAGMA cache_size = -{CACHE_KB}")
        return db

    def sync_commits(self) -> None:
        """SQLite syncs what it commits next, and nothing that lies there already.

        Raises:
            OSError: The disk does not take it.
        """
        try:
            descriptor = os.open(f"{self._path}-wal", os.O_RDWR)
        except FileNotFoundError:
            return  # nothing was committed since the last log was taken into the database
        try:
            self._fsync(descriptor)
        finally:
            os.close(descriptor)

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """
        Raises:
            StoreError: The database cannot be read.
        """
        try:
            return await self._loop.run_in_executor(self._readers, lambda: work(self._reader()))
        except sqlite3.Error as error:
            raise StoreError(explain(error)) from error

    async def forget_old_pages(self) -> bool:
        """Take the write-ahead log into the database, or erased text would still lie on the disk;
        False where another program that reads prevents it."""
        busy, *_ = await self.read(
            lambda db: db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        )
        return not busy

    def close(self) -> None:
        self._readers.shutdown(wait=True)
        for connection in self._opened:
            connection.close()

    def _reader(self) -> sqlite3.Connection:
        if not hasattr(self._local, "db"):
            self._local.db = self.connect()
            self._opened.append(self._local.db)
        return self._local.db
