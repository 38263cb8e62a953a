"""A browser's cookie database, read from a copy: the browser may be writing to it meanwhile."""

import shutil
import sqlite3
import tempfile
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

from inglenook.errors import ConfigError


def stamp_of(database: Path) -> tuple[tuple[int, int], ...]:
    """Raises:
    OSError: There is none.
    """
    return tuple(
        (status.st_mtime_ns, status.st_size)
        for file in (database, _wal(database))
        if file == database or file.exists()
        for status in (file.stat(),)
    )


@contextmanager
def copied(database: Path) -> Generator[sqlite3.Connection]:
    """The copy is gone afterwards. The log of what is not yet in the database comes along, so a
    cookie that was just set is there.

    Raises:
        OSError, sqlite3.Error: It cannot be copied or read.
    """
    with tempfile.TemporaryDirectory(prefix="inglenook-cookies-") as folder:
        copy = Path(folder) / "cookies.sqlite"
        shutil.copyfile(database, copy)
        if _wal(database).exists():
            shutil.copyfile(_wal(database), _wal(copy))
        with closing(sqlite3.connect(copy)) as connection:
            yield connection


def newest(home: Path, patterns: tuple[str, ...], browser: str) -> Path:
    """The database of the profile that was used last.

    Raises:
        ConfigError: There is no profile.
    """
    found = [path for pattern in patterns for path in home.glob(pattern)]
    if not found:
        raise ConfigError(
            f"web.cookies: no {browser} profile was found below {str(home)!r}; "
            'set it to "off" or use the browser once.'
        )
    return max(found, key=lambda path: path.stat().st_mtime_ns)


def _wal(database: Path) -> Path:
    return database.with_name(database.name + "-wal")
