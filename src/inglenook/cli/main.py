"""The command line: commands and their options, nothing else.

Here and in the two groups' own files each body imports its command's module, so that `--help` and
completion load no more than these files; everywhere else imports stand at the top.
"""

import sys
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from inglenook.cli.arguments import (
    no_deep,
    no_workspace,
    period,
    report_file,
    step_count,
    strategy_name,
    text,
)
from inglenook.cli.complaints import say
from inglenook.cli.invocation import OPTIONS, Json, finish, wants_json
from inglenook.cli.kb_commands import kb_app
from inglenook.cli.runs_commands import runs_app
from inglenook.errors import RuntimeFault

app = typer.Typer(
    name="inglenook",
    help="Self-hosted agent runtime. Nothing leaves unseen, done means shown, nothing is lost.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    add_completion=True,
)
models_app = typer.Typer(help="Models on offer.", no_args_is_help=True, rich_markup_mode=None)
config_app = typer.Typer(help="Configuration.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(kb_app, name="kb")
app.add_typer(runs_app, name="runs")
app.add_typer(models_app, name="models")
app.add_typer(config_app, name="config")


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
    finish(command, flags=flags, open_page=not no_open, sample=sample)


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
    web: Annotated[
        bool, typer.Option("--web", help="Allow searching and reading the web.")
    ] = False,
    workspace: Annotated[
        bool, typer.Option("--workspace", help="Not in this version.", callback=no_workspace)
    ] = False,
    strategy: Annotated[
        str, typer.Option(help="assistant or research.", callback=strategy_name)
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
    finish(command, question=asked, as_json=wants_json(json))


@app.command()
def research(
    question: Annotated[
        str, typer.Argument(help="What to find out; - reads it from stdin.", callback=text)
    ],
    deep: Annotated[
        bool, typer.Option("--deep", help="Not in this version.", callback=no_deep)
    ] = False,
    ask: Annotated[bool, typer.Option("--ask", help="Approve each query at the terminal.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Write the report to FILE.md or FILE.txt.", callback=report_file
        ),
    ] = None,
    recency: Annotated[
        str | None,
        typer.Option(help="Only results of the last day, week, month or year.", callback=period),
    ] = None,
    model: Model = None,
    max_tokens: Annotated[
        int | None, typer.Option("--max-tokens", help="Of each reply of the model.", min=1)
    ] = None,
    json: Json = False,
) -> None:
    """Research a question on the web, which this command allows: the report goes to stdout."""
    from inglenook.cli.research import Research
    from inglenook.cli.research import research as command

    asked = Research(
        question=sys.stdin.read() if question == "-" else question,
        model=model,
        asks=ask,
        recency=recency,
        out=out,
        max_tokens=max_tokens,
    )
    finish(command, asked=asked, as_json=wants_json(json))


@app.command()
def replay(
    source: Annotated[str, typer.Argument(metavar="ID_OR_FILE", help="Run id, export file or -.")],
    json: Json = False,
) -> None:
    """Run a recorded run again without network; exit 0 only if it is identical."""
    from inglenook.cli.replay import replay as command

    finish(command, source=source, as_json=wants_json(json))


@app.command()
def doctor(json: Json = False) -> None:
    """Check the installation: one line a check, each with its fix."""
    from inglenook.cli.doctor import doctor as command

    finish(command, as_json=wants_json(json))


@models_app.command("list")
def models_list(json: Json = False) -> None:
    """Models with their abilities."""
    from inglenook.cli.models import list_models as command

    finish(command, as_json=wants_json(json))


@models_app.command("pull")
def models_pull(
    name: Annotated[
        str, typer.Argument(help="Only `demo` is fetched by Inglenook.", callback=text)
    ] = "demo",
) -> None:
    """Fetch the demo model (1.1 GB) for use without a network."""
    from inglenook.cli.models import pull as command

    finish(command, name=name)


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

    finish(command, as_json=wants_json(json))


def run() -> None:
    """The `inglenook` program."""
    if sys.argv[1:] == ["--version"]:
        sys.stdout.write(version("inglenook") + "\n")
        return
    app()


if __name__ == "__main__":
    run()
