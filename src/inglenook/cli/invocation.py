"""One invocation of the program: what stands before the command, and how a command ends.

Everything heavy is imported when a command runs, so that `--help` and completion load none of it.
"""

import logging
import sys
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from inglenook.cli.complaints import PlainLog, first_of, say
from inglenook.errors import RuntimeFault


class Options:
    """What stands before the command, for all of them."""

    config: Path | None = None
    json: bool = False


OPTIONS = Options()

Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")]


def wants_json(own: bool) -> bool:
    """`--json` before the command counts like the command's own."""
    return own or OPTIONS.json


def finish(
    command: Callable[..., Coroutine[None, None, int]],
    *,
    flags: Mapping[str, Any] | None = None,
    **options: Any,
) -> None:
    """Load the settings, run the command, exit with its code."""
    import asyncio

    from inglenook.settings.load import load

    given = {key: value for key, value in (flags or {}).items() if value is not None}
    logging.basicConfig(format="%(message)s", handlers=[PlainLog()])
    try:
        loaded = load(config=OPTIONS.config, flags=given)
        code = asyncio.run(command(loaded, **options))
    except RuntimeFault as error:
        raise typer.Exit(say(error)) from None
    except ExceptionGroup as group:
        faults, others = group.split(RuntimeFault)
        if faults is None or others is not None:
            raise
        raise typer.Exit(say(first_of(faults))) from None
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    except BrokenPipeError:
        sys.stderr.close()
        raise typer.Exit(0) from None
    raise typer.Exit(code)
