"""`inglenook research`: one question, researched on the web; the report on stdout or in a file.

The command is the permission: such a run may search and read pages, and it says so as it does.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inglenook.cli.ask import see_through, show_end
from inglenook.cli.client import connect
from inglenook.cli.download import DownloadLine
from inglenook.cli.render import Progress
from inglenook.errors import RuntimeFault
from inglenook.messages import Message
from inglenook.run_request import RequestLimits, RunRequest
from inglenook.settings.load import Loaded


@dataclass(frozen=True, kw_only=True)
class Research:
    question: str
    model: str | None
    asks: bool
    """Each query waits for its user."""
    recency: str | None
    out: Path | None
    max_tokens: int | None
    """Of each reply of the model."""


async def research(loaded: Loaded, asked: Research, *, as_json: bool) -> int:
    """Research and print; the exit code (API section 2).

    Raises:
        RuntimeFault: The report cannot be written; says where the run can be found.
    """
    progress = Progress()
    async with connect(loaded, report=DownloadLine(progress)) as client:
        run_id = await client.start(
            request_of(asked, model=asked.model or await client.default_model())
        )
        run = await see_through(client, run_id, progress)
    if asked.out is not None and run["answer"]:
        write_report(asked.out, asked.question, run)
        progress.line(f"  report written to {asked.out}", "dim")
    return show_end(run, progress, as_json=as_json)


def request_of(asked: Research, *, model: str) -> RunRequest:
    wish = (
        f'The user wants recent results only: give recency = "{asked.recency}" with every '
        "web_search, and say the date of what you cite."
    )
    return RunRequest(
        model=model,
        messages=(
            *([Message(role="system", text=wish)] if asked.recency else ()),
            Message(role="user", text=asked.question),
        ),
        strategy="research",
        web=True,
        approvals={"web_search": "ask"} if asked.asks else {},
        limits=RequestLimits(output_tokens=asked.max_tokens),
    )


def write_report(path: Path, question: str, run: Mapping[str, Any]) -> None:
    """The answer and what it cites, as Markdown or plain text by the file's ending.

    Raises:
        RuntimeFault: It cannot be written there.
    """
    is_markdown = path.suffix.lower() == ".md"
    sources = [source for source in run["sources"] if source["cited"]]
    heading = " ".join(question.split())
    parts = [f"# {heading}" if is_markdown else heading, run["answer"]]
    if run["status"] != "complete":
        parts.append(f"({run['status']}: {run['explanation']})")
    if sources:
        parts.append("## Sources" if is_markdown else "Sources")
        entries = [
            f"[{each['n']}] {each['title']} {each.get('url', '')}".strip() for each in sources
        ]
        parts.append(
            "\n".join(f"- {entry}" for entry in entries) if is_markdown else "\n".join(entries)
        )
    try:
        path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    except OSError as error:
        raise RuntimeFault(
            f"the report cannot be written to {str(path)!r}: {error.strerror or error}; it is kept "
            f"as the answer of run {run['id']}, see `inglenook runs show {run['id']}`"
        ) from error
