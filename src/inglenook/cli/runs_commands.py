"""`inglenook runs …`: the commands and their options; what they do is in `runs.py`."""

from pathlib import Path
from typing import Annotated

import typer

from inglenook.cli.arguments import status_name, text
from inglenook.cli.invocation import Json, finish, wants_json

runs_app = typer.Typer(help="Past and present runs.", no_args_is_help=True, rich_markup_mode=None)

RunId = Annotated[str, typer.Argument(metavar="ID", help="Run id; see `runs list`.", callback=text)]


@runs_app.command("list")
def runs_list(
    status: Annotated[
        str | None, typer.Option(help="Only runs with this status.", callback=status_name)
    ] = None,
    session: Annotated[
        str | None, typer.Option(help="Only runs of this session.", callback=text)
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=500)] = 50,
    json: Json = False,
) -> None:
    """Newest first."""
    from inglenook.cli.runs import list_runs as command

    finish(command, status=status, session=session, limit=limit, as_json=wants_json(json))


@runs_app.command("show")
def runs_show(run_id: RunId, json: Json = False) -> None:
    """One run with its answer."""
    from inglenook.cli.runs import show as command

    finish(command, run_id=run_id, as_json=wants_json(json))


@runs_app.command("events")
def runs_events(
    run_id: RunId,
    follow: Annotated[bool, typer.Option("--follow", help="Go on until the run ends.")] = False,
    json: Json = False,
) -> None:
    """Every event of a run; with --follow as JSON lines."""
    from inglenook.cli.runs import events as command

    finish(command, run_id=run_id, follow=follow, as_json=wants_json(json))


@runs_app.command("cancel")
def runs_cancel(run_id: RunId, json: Json = False) -> None:
    """Stop a run."""
    from inglenook.cli.runs import cancel as command

    finish(command, run_id=run_id, as_json=wants_json(json))


@runs_app.command("approve")
def runs_approve(
    run_id: RunId,
    call_id: Annotated[
        str, typer.Argument(metavar="CALL", help="Call id; see `runs list`.", callback=text)
    ],
    edit: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Send this query or address instead.", callback=text),
    ] = None,
    deny: Annotated[bool, typer.Option("--deny", help="Send nothing.")] = False,
    json: Json = False,
) -> None:
    """Let a call go that waits for you, as it is or changed, or refuse it; its run goes on."""
    from inglenook.cli.runs import approve as command

    if deny and edit is not None:
        raise typer.BadParameter("--edit and --deny exclude each other")
    finish(
        command,
        run_id=run_id,
        call_id=call_id,
        edit=edit,
        deny=deny,
        as_json=wants_json(json),
    )


@runs_app.command("export")
def runs_export(
    run_id: RunId,
    out: Annotated[Path | None, typer.Option("-o", help="File; stdout without it.")] = None,
) -> None:
    """A run as JSON lines, replayable anywhere; holds all it saw and said, thinking included."""
    from inglenook.cli.runs import export as command

    finish(command, run_id=run_id, out=out)


@runs_app.command("egress")
def runs_egress(run_id: RunId, json: Json = False) -> None:
    """What left this machine in a run."""
    from inglenook.cli.runs import egress as command

    finish(command, run_id=run_id, as_json=wants_json(json))


@runs_app.command("verify")
def runs_verify(
    run_id: Annotated[str | None, typer.Argument(metavar="[ID]", callback=text)] = None,
    json: Json = False,
) -> None:
    """Check the hash chain of one run or all."""
    from inglenook.cli.runs import verify as command

    finish(command, run_id=run_id, as_json=wants_json(json))


@runs_app.command("erase")
def runs_erase(run_id: RunId, json: Json = False) -> None:
    """Remove what an ended run saw and said; its chain of digests stays checkable."""
    from inglenook.cli.runs import erase as command

    finish(command, run_id=run_id, as_json=wants_json(json))
