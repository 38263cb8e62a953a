"""What goes wrong, on a terminal: one sentence and the next action, never a traceback of ours."""

import logging
from typing import TextIO, cast

import typer

from inglenook.cli.render import plain
from inglenook.errors import ConfigError, CredentialNeeded, InvalidRequest, RuntimeFault


def first_of(fault: Exception) -> RuntimeFault:
    """Itself, or the first of a group that holds nothing else, in whatever groups of its own."""
    while isinstance(fault, ExceptionGroup):
        fault = cast("ExceptionGroup[Exception]", fault).exceptions[0]
    assert isinstance(fault, RuntimeFault)
    return fault


def say(error: RuntimeFault) -> int:
    """Print what went wrong and what to do; the exit code."""
    typer.echo(plain(f"inglenook: {error}"), err=True)
    hint = error.hint if isinstance(error, InvalidRequest) else None
    if isinstance(error, CredentialNeeded):
        hint = "Set INGLENOOK_OPEN_WEBUI_KEY to it; it is sent with this command and kept nowhere."
    if hint:
        typer.echo(plain(f"  → {hint}"), err=True)
    return 2 if isinstance(error, ConfigError) else 1


class PlainLog(logging.StreamHandler[TextIO]):
    """Warnings go to the terminal too, and hold what servers and documents say."""

    def format(self, record: logging.LogRecord) -> str:
        return plain(super().format(record))
