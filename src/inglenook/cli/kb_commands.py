"""`inglenook kb …`: the commands and their options; what they do is in `kb.py`."""

from pathlib import Path
from typing import Annotated

import typer

from inglenook.cli.arguments import text
from inglenook.cli.invocation import Json, finish, wants_json

kb_app = typer.Typer(help="Local knowledge bases.", no_args_is_help=True, rich_markup_mode=None)


@kb_app.command("add")
def kb_add(
    name: Annotated[
        str, typer.Argument(help="Name of the knowledge base; made if missing.", callback=text)
    ],
    paths: Annotated[list[Path], typer.Argument(help="Files and folders.")],
    confidential: Annotated[
        bool,
        typer.Option(
            "--confidential", help="What was read from it leaves with your approval only."
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Add documents; unchanged ones cost nothing, failed ones are named."""
    from inglenook.cli.kb import add as command

    finish(command, name=name, paths=paths, confidential=confidential, as_json=wants_json(json))


@kb_app.command("list")
def kb_list(json: Json = False) -> None:
    """Show the knowledge bases."""
    from inglenook.cli.kb import list_bases as command

    finish(command, as_json=wants_json(json))


@kb_app.command("search")
def kb_search(
    name: Annotated[str, typer.Argument(help="Knowledge base, id or name.", callback=text)],
    query: Annotated[str, typer.Argument(help="What to look for.", callback=text)],
    k: Annotated[int, typer.Option("-k", min=1, max=50, help="How many passages.")] = 5,
    json: Json = False,
) -> None:
    """Search one knowledge base."""
    from inglenook.cli.kb import search as command

    finish(command, name=name, query=query, k=k, as_json=wants_json(json))


@kb_app.command("files")
def kb_files(
    name: Annotated[str, typer.Argument(help="Knowledge base, id or name.", callback=text)],
    json: Json = False,
) -> None:
    """Show the documents of one knowledge base."""
    from inglenook.cli.kb import files as command

    finish(command, name=name, as_json=wants_json(json))


@kb_app.command("remove")
def kb_remove(
    name: Annotated[str, typer.Argument(help="Knowledge base, id or name.", callback=text)],
    json: Json = False,
) -> None:
    """Delete a knowledge base; the documents themselves stay where they are."""
    from inglenook.cli.kb import remove as command

    finish(command, name=name, as_json=wants_json(json))
