"""How values stand in SQLite's columns: times as text that sorts, text without lone surrogates."""

import time
from datetime import UTC, datetime
from functools import lru_cache


def stamp(at: datetime) -> str:
    """RFC 3339 in UTC with milliseconds: sorts as text."""
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def now() -> str:
    """As `stamp`, for this moment; each event asks, so the second's part is kept."""
    seconds, milliseconds = divmod(time.time_ns() // 1_000_000, 1000)
    return f"{_second(seconds)}.{milliseconds:03d}Z"


@lru_cache(maxsize=1)
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def storable(text: str) -> str:
    """`text` as a column takes it: SQLite's text is UTF-8, which has no lone surrogates."""
    return text.encode(errors="replace").decode()
