"""An engine that failed rests, longer with each failure in a row, and any answer makes it well."""

from datetime import UTC, datetime, timedelta

import pytest

from inglenook.web.base import Outcome, SearchOutcome
from inglenook.web.health import (
    FIRST_REST_S,
    LONGEST_REST_S,
    LONGEST_TOLD_REST_S,
    EngineHealth,
    Health,
)

NOON = datetime(2031, 2, 3, 12, tzinfo=UTC)
FAILURES: list[Outcome] = ["blocked", "markup_changed", "unreachable"]


class Clock:
    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now

    def pass_s(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


def outcome(kind: Outcome, engine: str = "e", retry_after_s: float | None = None) -> SearchOutcome:
    return SearchOutcome(
        outcome=kind, engine=engine, detail=f"It was {kind}.", retry_after_s=retry_after_s
    )


def rests_of(kind: Outcome, times: int) -> list[float]:
    """How long an engine rests after each failure, asked again as soon as it may be."""
    clock, rests = Clock(), list[float]()
    health = Health(clock)
    for _ in range(times):
        health.record(outcome(kind))
        retry_at = health.of("e").retry_at
        assert retry_at is not None
        rests.append((retry_at - clock.now).total_seconds())
        clock.now = retry_at
        assert not health.is_resting("e")
    return rests


def test_engine_that_was_never_asked_is_well() -> None:
    assert Health().of("e") == EngineHealth()
    assert not Health().is_resting("e")


@pytest.mark.parametrize("kind", FAILURES)
def test_rest_doubles_up_to_its_kinds_longest(kind: Outcome) -> None:
    rests = rests_of(kind, 20)
    first, longest = FIRST_REST_S[kind], LONGEST_REST_S[kind]
    assert rests == [min(first * 2**n, longest) for n in range(20)]


def test_blocked_rests_longest_and_unreachable_shortest() -> None:
    first = [rests_of(kind, 1)[0] for kind in FAILURES]
    last = [rests_of(kind, 20)[-1] for kind in FAILURES]
    assert first == sorted(first, reverse=True)
    assert last == sorted(last, reverse=True)
    assert len({*first}) == len({*last}) == 3


@pytest.mark.parametrize("answer", ["ok", "no_results"])
def test_any_answer_makes_it_well_and_starts_the_count_anew(answer: Outcome) -> None:
    clock = Clock()
    health = Health(clock)
    for _ in range(3):
        health.record(outcome("blocked"))
        clock.pass_s(LONGEST_REST_S["blocked"])
    health.record(outcome(answer))
    assert health.of("e") == EngineHealth(since=clock.now)
    health.record(outcome("blocked"))
    assert health.of("e").retry_at == clock.now + timedelta(seconds=FIRST_REST_S["blocked"])


def test_it_is_told_since_when_it_is_as_it_is() -> None:
    clock = Clock()
    health = Health(clock)
    health.record(outcome("ok"))
    clock.pass_s(60)
    health.record(outcome("ok"))
    assert health.of("e").since == NOON
    health.record(outcome("unreachable"))
    clock.pass_s(3600)
    health.record(outcome("unreachable"))
    assert health.of("e").since == NOON + timedelta(seconds=60)
    assert (health.of("e").state, health.of("e").failures) == ("unreachable", 2)
    health.record(outcome("ok"))
    assert (health.of("e").since, health.of("e").detail) == (clock.now, "")


def test_another_kind_of_failure_counts_on() -> None:
    clock = Clock()
    health = Health(clock)
    health.record(outcome("unreachable"))
    clock.pass_s(3600)
    health.record(outcome("blocked"))
    assert health.of("e").retry_at == clock.now + timedelta(seconds=2 * FIRST_REST_S["blocked"])
    assert health.of("e").since == clock.now


def test_searches_that_were_on_their_way_together_fail_once() -> None:
    clock = Clock()
    health = Health(clock)
    for _ in range(8):
        health.record(outcome("blocked"))
        clock.pass_s(1)
    assert health.of("e").failures == 1
    rest = timedelta(seconds=FIRST_REST_S["blocked"])
    assert health.of("e").retry_at == NOON + timedelta(seconds=7) + rest


def test_time_that_the_service_names_counts_within_a_day() -> None:
    clock = Clock()
    health = Health(clock)
    health.record(outcome("blocked", retry_after_s=1))
    clock.pass_s(1)
    assert not health.is_resting("e")
    health.record(outcome("blocked", retry_after_s=1_419_704))
    assert health.of("e").retry_at == clock.now + timedelta(seconds=LONGEST_TOLD_REST_S)


def test_engines_are_ill_by_themselves() -> None:
    health = Health(Clock())
    health.record(outcome("blocked", "a"))
    assert (health.is_resting("a"), health.is_resting("b")) == (True, False)
