"""What an argument of the command line must be, beyond its type; a wrong one exits with 2."""

from pathlib import Path

import typer

STATUSES = ("queued", "running", "waiting", "complete", "incomplete", "cancelled", "failed")
"""`inglenook.events.Status`, which `--help` should not have to load pydantic for."""

STRATEGIES = ("assistant", "research")
"""As the keys of `inglenook.agent.strategies.STRATEGIES`, for the same reason."""

PERIODS = ("day", "week", "month", "year")
"""`inglenook.web.base.Recency`, for the same reason."""

REPORT_ENDINGS = (".md", ".txt")

MAX_STEPS = 1000
"""As `RequestLimits.steps`."""


def text(given: str | list[str] | None) -> str | list[str] | None:
    """What is no text on the command line cannot be a name, an id or a question."""
    for value in [given] if isinstance(given, str) else given or []:
        try:
            value.encode()
        except UnicodeEncodeError:
            raise typer.BadParameter(f"{value!r} is not UTF-8 text") from None
    return given


def status_name(given: str | None) -> str | None:
    if given is not None and given not in STATUSES:
        raise typer.BadParameter(f"{given!r} is none; choose from {', '.join(STATUSES)}")
    return given


def strategy_name(given: str) -> str:
    text(given)
    if given not in STRATEGIES:
        raise typer.BadParameter(
            f"{given!r} is not in this version; choose from {', '.join(STRATEGIES)}"
        )
    return given


def no_workspace(given: bool) -> bool:
    if given:
        raise typer.BadParameter("workspaces are not in this version; leave it out")
    return given


def no_deep(given: bool) -> bool:
    if given:
        raise typer.BadParameter("deep research is not in this version; leave it out")
    return given


def period(given: str | None) -> str | None:
    if given is not None and given not in PERIODS:
        raise typer.BadParameter(f"{given!r} is none; choose from {', '.join(PERIODS)}")
    return given


def report_file(given: Path | None) -> Path | None:
    """Before anything is researched: a report that cannot be written is found out too late."""
    if given is None:
        return None
    if given.suffix.lower() not in REPORT_ENDINGS:
        raise typer.BadParameter(
            f"{str(given)!r}: this version writes {' and '.join(REPORT_ENDINGS)} files"
        )
    if given.is_dir() or not given.parent.is_dir():
        raise typer.BadParameter(f"{str(given)!r} cannot be written: there is no such folder")
    return given


def step_count(given: int | None) -> int | None:
    if given is not None and not 1 <= given <= MAX_STEPS:
        raise typer.BadParameter(f"{given} is not in the range 1 to {MAX_STEPS}")
    return given
