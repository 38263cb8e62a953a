"""How search engines are doing: what each last gave, and until when one that failed rests.

Kept in the memory of the process: another start asks anew. A failure that repeats is given longer.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from inglenook.web.base import SearchOutcome

HealthState = Literal["ok", "blocked", "markup_changed", "unreachable"]
FIRST_REST_S: Mapping[str, int] = {"unreachable": 30, "markup_changed": 300, "blocked": 900}
"""Doubled by each further failure in a row. A server may be back at once; a page keeps its form for
days; who is taken for a robot is taken for one longer by asking again."""
LONGEST_REST_S: Mapping[str, int] = {"unreachable": 900, "markup_changed": 7200, "blocked": 14_400}
LONGEST_TOLD_REST_S = 86_400
"""Where the service itself says when it will answer again, such as after a month's quota."""


@dataclass(frozen=True, kw_only=True)
class EngineHealth:
    state: HealthState = "ok"
    since: datetime | None = None
    """When it came into this state; None: it was not asked yet."""
    retry_at: datetime | None = None
    """It rests until then, and is not asked; None where it is well."""
    detail: str = ""
    """What happened last, where it failed."""
    failures: int = 0
    """In a row."""


def utc_now() -> datetime:
    return datetime.now(UTC)


class Health:
    """The health of engines by name."""

    def __init__(self, clock: Callable[[], datetime] = utc_now) -> None:
        self._clock = clock
        self._engines: dict[str, EngineHealth] = {}

    def of(self, engine: str) -> EngineHealth:
        return self._engines.get(engine, EngineHealth())

    def is_resting(self, engine: str) -> bool:
        retry_at = self.of(engine).retry_at
        return retry_at is not None and self._clock() < retry_at

    def record(self, found: SearchOutcome) -> None:
        """Any answer that could be read makes an engine well, one without results too."""
        before, now = self.of(found.engine), self._clock()
        if found.outcome in ("ok", "no_results"):
            since = before.since if before.state == "ok" else None
            self._engines[found.engine] = EngineHealth(since=since or now)
            return
        since = before.since if before.state == found.outcome else None
        # what was on its way when the engine began to rest is no further failure
        is_late = self.is_resting(found.engine)
        failures = before.failures if is_late else before.failures + 1
        retry_at = now + timedelta(seconds=rest_s(found, failures))
        self._engines[found.engine] = EngineHealth(
            state=found.outcome,
            since=since or now,
            retry_at=max(retry_at, before.retry_at or retry_at),
            detail=found.detail,
            failures=failures,
        )


def rest_s(found: SearchOutcome, failures: int) -> float:
    """How long an engine is left alone after the last of so many failures in a row."""
    if found.retry_after_s is not None:
        return min(found.retry_after_s, LONGEST_TOLD_REST_S)
    doubled = FIRST_REST_S[found.outcome] * 2 ** min(failures - 1, 16)
    return min(doubled, LONGEST_REST_S[found.outcome])
