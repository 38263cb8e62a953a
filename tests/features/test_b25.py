"""B25: research, cache and approvals have the documented ranges and defaults; all are off or mild.

One past each end is refused with the key's name and the limit.
"""

from pathlib import Path

import pytest

from inglenook.errors import ConfigError
from inglenook.settings.load import load
from inglenook.settings.sections import Settings

RANGES = [
    ("research.steps", 15, 1, 50),
    ("research.breadth", 4, 1, 10),
    ("research.max_rounds", 3, 0, 6),
    ("research.depth", 2, 1, 4),
    ("research.concurrency", 2, 1, 5),
    ("research.max_sub_queries", 14, 1, 40),
    ("research.quality_threshold", 7, 1, 10),
    ("research.sub_agent_steps", 0, 0, 50),
    ("cache.max_mb", 50, 0, 500),
    ("cache.validity_days", 30, 1, 30),
    ("cache.embedding_percent", 75, 0, 100),
    ("cache.jaccard_percent", 60, 0, 100),
    ("cache.min_overlap", 8, 0, 50),
]


def value_of(settings: Settings, dotted: str) -> object:
    section, key = dotted.split(".")
    return getattr(getattr(settings, section), key)


@pytest.mark.parametrize(("dotted", "default", "least", "most"), RANGES)
def test_a_setting_has_its_range_and_default(
    tmp_path: Path, dotted: str, default: int, least: int, most: int
):
    section, key = dotted.split(".")
    file = tmp_path / "c.toml"
    assert value_of(load(environment={}).settings, dotted) == default
    for value in (least, most):
        file.write_text(f"[{section}]\n{key} = {value}\n")
        assert value_of(load(config=file, environment={}).settings, dotted) == value
    for value, limit in ((least - 1, least), (most + 1, most)):
        file.write_text(f"[{section}]\n{key} = {value}\n")
        with pytest.raises(ConfigError, match=rf"{dotted} = {value}: .* {limit}"):
            load(config=file, environment={})


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "1e12"])
@pytest.mark.parametrize("dotted", ["research.timeout_s", "approvals.timeout_s"])
def test_a_timeout_is_a_time_that_ends(dotted: str, text: str):
    section, key = dotted.upper().split(".")
    with pytest.raises(ConfigError, match=dotted):
        load(environment={f"INGLENOOK_{section}__{key}": text})


def test_nobody_is_asked_nothing_is_kept_and_no_browser_runs_unless_it_is_set():
    settings = load(environment={}).settings
    assert settings.research.timeout_s == 120
    assert (settings.cache.enabled, settings.cache.max_bytes) == (False, 0)
    assert (settings.web.browser, settings.web.cookies) == ("off", "off")
    assert settings.web.allow_private_addresses is False
    assert (settings.approvals.web_search, settings.approvals.confidential) == ("allow", "ask")
    assert settings.knowledge.private == "confidential"


def test_a_budget_of_zero_is_a_cache_that_is_off(tmp_path: Path):
    file = tmp_path / "c.toml"
    for text, budget in (("enabled = true", 50_000_000), ("enabled = true\nmax_mb = 0", 0)):
        file.write_text(f"[cache]\n{text}\n")
        assert load(config=file, environment={}).settings.cache.max_bytes == budget
