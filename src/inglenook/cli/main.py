"""The command line: commands and their options, nothing else.

Each body imports its command's module, so that `--help` and completion load no more than this
file; everywhere else imports stand at the top.
"""

import logging
import sys
from collections.abc import Callable, Coroutine, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer

from inglenook.cli.arguments import no_workspace, status_name, step_count, strategy_name, text
from inglenook.cli.complaints import PlainLog, first_of, say
from inglenook.errors import RuntimeFault

app = typer.Typer(
    name="inglenook",
    help="Self-hosted agent runtime. Nothing leaves unseen, done means shown, nothing is lost.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    add_completion=True,
)
kb_app = typer.Typer(help="Local knowledge bases.", no_args_is_help=True, rich_markup_mode=None)
runs_app = typer.Typer(help="Past and present runs.", no_args_is_help=True, rich_markup_mode=None)
models_app = typer.Typer(help="Models on offer.", no_args_is_help=True, rich_markup_mode=None)
config_app = typer.Typer(help="Configuration.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(kb_app, name="kb")
app.add_typer(runs_app, name="runs")
app.add_typer(models_app, name="models")
app.add_typer(config_app, name="config")


class Options:
    """What stands before the command, for all of them."""

    config: Path | None = None
    json: bool = False


OPTIONS = Options()

Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")]


def _json(own: bool) -> bool:
    return own or OPTIONS.json


@app.callback()
def common(
    config: Annotated[Path | None, typer.Option(help="Configuration file.")] = None,
    json: Json = False,
) -> None:
    OPTIONS.config = config
    OPTIONS.json = json


Model = Annotated[
    str | None, typer.Option("--model", help="Model id; see `models list`.", callback=text)
]
RunId = Annotated[str, typer.Argument(metavar="ID", help="Run id; see `runs list`.", callback=text)]


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port; 0 takes a free one.")] = None,
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open the page.")] = False,
    sample: Annotated[
        bool, typer.Option("--sample", help="Load the sample knowledge base if it is missing.")
    ] = False,
) -> None:
    """Start the API and the page; unfinished runs go on."""
    from inglenook.cli.serve import serve as command

    flags = {"server.host": host, "server.port": port}
    _finish(command, flags=flags, open_page=not no_open, sample=sample)


@app.command()
def ask(
    question: Annotated[
        str, typer.Argument(help="What to ask; - reads it from stdin.", callback=text)
    ],
    model: Model = None,
    kb: Annotated[
        list[str], typer.Option("--kb", help="Knowledge base, id or name.", callback=text)
    ] = [],  # noqa: B006
    file: Annotated[list[Path], typer.Option("--file", help="Document or folder to ask.")] = [],  # noqa: B006
    web: Annotated[bool, typer.Option("--web", help="Allow web search for this run.")] = False,
    workspace: Annotated[
        bool, typer.Option("--workspace", help="Not in this version.", callback=no_workspace)
    ] = False,
    strategy: Annotated[
        str, typer.Option(help="How to work.", callback=strategy_name)
    ] = "assistant",
    steps: Annotated[
        int | None, typer.Option(help="At most this many steps, 1 to 1000.", callback=step_count)
    ] = None,
    session: Annotated[
        str | None, typer.Option(help="Continue this conversation.", callback=text)
    ] = None,
    sample: Annotated[bool, typer.Option("--sample", help="Ask the sample documents.")] = False,
    json: Json = False,
) -> None:
    """Ask one question: steps go to stderr, the answer to stdout."""
    from inglenook.cli.ask import Question
    from inglenook.cli.ask import ask as command

    asked = Question(
        text=sys.stdin.read() if question == "-" else question,
        model=model,
        bases=kb,
        files=file,
        web=web,
        workspace=workspace,
        strategy=strategy,
        steps=steps,
        session=session,
        sample=sample,
    )
    _finish(command, question=asked, as_json=_json(json))


@app.command()
def replay(
    source: Annotated[str, typer.Argument(metavar="ID_OR_FILE", help="Run id, export file or -.")],
    json: Json = False,
) -> None:
    """Run a recorded run again without network; exit 0 only if it is identical."""
    from inglenook.cli.replay import replay as command

    _finish(command, source=source, as_json=_json(json))


@app.command()
def doctor(json: Json = False) -> None:
    """Check the installation: one line a check, each with its fix."""
    from inglenook.cli.doctor import doctor as command

    _finish(command, as_json=_json(json))


@kb_app.command("add")
def kb_add(
    name: Annotated[
        str, typer.Argument(help="Name of the knowledge base; made if missing.", callback=text)
    ],
    paths: Annotated[list[Path], typer.Argument(help="Files and folders.")],
    confidential: Annotated[
        bool, typer.Option("--confidential", help="Nothing that was read from it may leave.")
    ] = False,
    json: Json = False,
) -> None:
    """Add documents; unchanged ones cost nothing, failed ones are named."""
    from inglenook.cli.kb import add as command

    _finish(command, name=name, paths=paths, confidential=confidential, as_json=_json(json))


@kb_app.command("list")
def kb_list(json: Json = False) -> None:
    """Show the knowledge bases."""
    from inglenook.cli.kb import list_bases as command

    _finish(command, as_json=_json(json))


@kb_app.command("search")
def kb_search(
    name: Annotated[str, typer.Argument(help="Knowledge base, id or name.", callback=text)],
    query: Annotated[str, typer.Argument(help="What to look for.", callback=text)],
    k: Annotated[int, typer.Option("-k", min=1, max=50, help="How many passages.")] = 5,
    json: Json = False,
) -> None:
    """Search one knowledge base."""
    from inglenook.cli.kb import search as command

    _finish(command, name=name, query=query, k=k, as_json=_json(json))


@kb_app.command("files")
def kb_files(
    name: Annotated[str, typer.Argument(help="Knowledge base, id or name.", callback=text)],
    json: Json = False,
) -> None:
    """Show the documents of one knowledge base."""
    from inglenook.cli.kb import files as command

    _finish(command, name=name, as_json=_json(json))


@kb_app.command("remove")
def kb_remove(
    name: Annotated[str, typer.Argument(help="Knowledge base, id or name.", callback=text)],
    json: Json = False,
) -> None:
    """Delete a knowledge base; the documents themselves stay where they are."""
    from inglenook.cli.kb import remove as command

    _finish(command, name=name, as_json=_json(json))


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

    _finish(command, status=status, session=session, limit=limit, as_json=_json(json))


@runs_app.command("show")
def runs_show(run_id: RunId, json: Json = False) -> None:
    """One run with its answer."""
    from inglenook.cli.runs import show as command

    _finish(command, run_id=run_id, as_json=_json(json))


@runs_app.command("events")
def runs_events(
    run_id: RunId,
    follow: Annotated[bool, typer.Option("--follow", help="Go on until the run ends.")] = False,
    json: Json = False,
) -> None:
    """Every event of a run; with --follow as JSON lines."""
    from inglenook.cli.runs import events as command

    _finish(command, run_id=run_id, follow=follow, as_json=_json(json))


@runs_app.command("cancel")
def runs_cancel(run_id: RunId, json: Json = False) -> None:
    """Stop a run."""
    from inglenook.cli.runs import cancel as command

    _finish(command, run_id=run_id, as_json=_json(json))


@runs_app.command("export")
def runs_export(
    run_id: RunId,
    out: Annotated[Path | None, typer.Option("-o", help="File; stdout without it.")] = None,
) -> None:
    """A run as JSON lines, replayable anywhere; holds all it saw and said, thinking included."""
    from inglenook.cli.runs import export as command

    _finish(command, run_id=run_id, out=out)


@runs_app.command("egress")
def runs_egress(run_id: RunId, json: Json = False) -> None:
    """What left this machine in a run."""
    from inglenook.cli.runs import egress as command

    _finish(command, run_id=run_id, as_json=_json(json))


@runs_app.command("verify")
def runs_verify(
    run_id: Annotated[str | None, typer.Argument(metavar="[ID]", callback=text)] = None,
    json: Json = False,
) -> None:
    """Check the hash chain of one run or all."""
    from inglenook.cli.runs import verify as command

    _finish(command, run_id=run_id, as_json=_json(json))


@runs_app.command("erase")
def runs_erase(run_id: RunId, json: Json = False) -> None:
    """Remove what an ended run saw and said; its chain of digests stays checkable."""
    from inglenook.cli.runs import erase as command

    _finish(command, run_id=run_id, as_json=_json(json))


@models_app.command("list")
def models_list(json: Json = False) -> None:
    """Models with their abilities."""
    from inglenook.cli.models import list_models as command

    _finish(command, as_json=_json(json))


@models_app.command("pull")
def models_pull(
    name: Annotated[
        str, typer.Argument(help="Only `demo` is fetched by Inglenook.", callback=text)
    ] = "demo",
) -> None:
    """Fetch the demo model (1.1 GB) for use without a network."""
    from inglenook.cli.models import pull as command

    _finish(command, name=name)


@config_app.command("init")
def config_init() -> None:
    """Write a commented inglenook.toml into this folder."""
    from inglenook.cli.config import init as command

    try:
        code = command()
    except RuntimeFault as error:
        raise typer.Exit(say(error)) from None
    raise typer.Exit(code)


@config_app.command("show")
def config_show(json: Json = False) -> None:
    """Each value and where it came from."""
    from inglenook.cli.config import show as command

    _finish(command, as_json=_json(json))


def _finish(
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


def run() -> None:
    """The `inglenook` program."""
    if sys.argv[1:] == ["--version"]:
        sys.stdout.write(version("inglenook") + "\n")
        return
    app()


if __name__ == "__main__":
    run()
