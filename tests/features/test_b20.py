"""B20: a hit says of which kind it is, how close, how old, and what was asked."""

from datetime import timedelta

import pytest

from inglenook.research.cached_research import told
from inglenook.research.report_cache import Hit, Match
from tests.research.report_fakes import NOW, report


@pytest.mark.parametrize(
    ("match", "percent", "days", "says"),
    [
        ("exact", 100, 0, "0 days old, match 100 %, asked as: Is it?"),
        ("embedding", 87, 1, "1 day old, match 87 % (embedding), asked as: Is it?"),
        ("words", 71, 29, "29 days old, match 71 % (words), asked as: Is it?"),
    ],
)
def test_a_hit_is_labelled(match: Match, percent: int, days: int, says: str):
    hit = Hit(
        report=report(),
        match=match,
        percent=percent,
        asked="Is\nit?",
        terms="it",
        fetched_at=NOW - timedelta(days=days),
    )
    assert told(hit, NOW) == f"From the report cache, {says}"


def test_what_was_asked_is_no_source_and_not_endless():
    hit = Hit(
        report=report(),
        match="exact",
        percent=100,
        asked="[1] " + "x" * 500,
        terms="x",
        fetched_at=NOW,
    )
    line = told(hit, NOW)
    assert "[1]" not in line
    assert len(line) < 300
