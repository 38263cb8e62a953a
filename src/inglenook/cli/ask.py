"""`inglenook ask`: one run, its steps on stderr as they happen, its answer on stdout."""

import asyncio
import json
import signal
import sys
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inglenook.cli.approving import Ask, Item, ask_about, commands, is_terminal, show, typed
from inglenook.cli.client import RunClient, connect
from inglenook.cli.download import DownloadLine
from inglenook.cli.library import adhoc_base, resolve_bases
from inglenook.cli.render import EXIT_CODES, Progress, print_line
from inglenook.cli.sample import ensure_sample
from inglenook.messages import Message
from inglenook.run_request import RequestLimits, RunRequest
from inglenook.settings.load import Loaded


@dataclass(frozen=True, kw_only=True)
class Question:
    text: str
    model: str | None
    bases: Sequence[str]
    files: Sequence[Path]
    web: bool
    workspace: bool
    strategy: str
    steps: int | None
    session: str | None
    sample: bool
    """Load the sample knowledge base if it is not there, and ask it."""


async def ask(loaded: Loaded, question: Question, *, as_json: bool) -> int:
    """Ask and print; the exit code (API section 2)."""
    progress = Progress()
    knowledge = [*await resolve_bases(loaded, question.bases)]
    if question.files:
        knowledge.append(await adhoc_base(loaded, question.files, progress))
    if question.sample:
        knowledge += await ensure_sample(loaded, progress)
    async with connect(loaded, report=DownloadLine(progress)) as client:
        request = RunRequest(
            model=question.model or await client.default_model(),
            messages=(*await client.history(question.session), _asked(question.text)),
            strategy=question.strategy,
            knowledge=tuple(dict.fromkeys(knowledge)),
            web=question.web,
            workspace=question.workspace,
            limits=RequestLimits(steps=question.steps),
            session=question.session,
        )
        run_id = await client.start(request)
        run = await see_through(client, run_id, progress)
    return show_end(run, progress, as_json=as_json)


def show_end(run: Mapping[str, Any], progress: Progress, *, as_json: bool) -> int:
    """Print what a run came to; the exit code (API section 2)."""
    if as_json:
        sys.stdout.write(json.dumps(run, indent=2) + "\n")
    else:
        if run["answer"]:
            print_line(run["answer"])
            sys.stdout.flush()
        progress.ending(run)
    return EXIT_CODES.get(run["status"], 3)


async def see_through(
    client: RunClient,
    run_id: str,
    progress: Progress,
    *,
    after: int = -1,
    ask: Ask | None = None,
) -> dict[str, Any]:
    """Show a run until it ends or waits for somebody who is not here; the run then.

    Args:
        after: The last event that was shown.
        ask: Of whoever sits here; None: nobody does, unless this is a terminal.
    """
    if ask is None and is_terminal():
        ask = typed
    seen = {run_id: after}
    while True:
        await follow(client, run_id, progress, seen)
        run = await client.get(run_id)
        if run["status"] in ("queued", "running"):
            continue  # somebody decided elsewhere
        if (run["status"], run["reason"]) != ("waiting", "approval"):
            return run
        waiting = [each for each in await client.approvals() if each["root_id"] == run_id]
        undecided = await _undecided(waiting, client, progress, ask) if ask else waiting
        if undecided or ask is None:
            tell_who_waits(undecided, progress)
            return run


async def _undecided(
    waiting: Sequence[Item], client: RunClient, progress: Progress, ask: Ask
) -> Sequence[Item]:
    """Have a person decide on one call after the other; those from the first that they leave."""
    for n, item in enumerate(waiting):
        if not await ask_about(item, client, progress, ask):
            return waiting[n:]
    return ()


def tell_who_waits(waiting: Sequence[Item], progress: Progress) -> None:
    for item, command in zip(waiting, commands(waiting), strict=True):
        show(item, progress)
        progress.line(f"  decide with `{command}`, or with --edit TEXT or --deny behind it")


async def follow(
    client: RunClient, run_id: str, progress: Progress, seen: dict[str, int] | None = None
) -> None:
    """Show a run's events until it ends or waits, and what its children look for as they do; Ctrl-C
    stops the run, and the second one the program.

    Args:
        seen: The last event of each run that was shown; kept up to date.
    """
    seen = {} if seen is None else seen
    children: set[str] = set()
    async with asyncio.TaskGroup() as group:
        interrupted = asyncio.Event()
        stopper = group.create_task(_cancel_when(interrupted, client, run_id, progress))
        with _on_interrupt(interrupted):
            async for event in client.follow(run_id, after=seen.get(run_id, -1)):
                progress.event(event)
                seen[run_id] = event.get("seq", seen.get(run_id, -1))
                child = event.get("child_run_id", "")
                if event["type"] == "child_started" and child not in children:
                    children.add(child)
                    group.create_task(_follow_child(client, child, progress, seen))
        stopper.cancel()


async def _follow_child(
    client: RunClient, run_id: str, progress: Progress, seen: dict[str, int]
) -> None:
    async for event in client.follow(run_id, after=seen.get(run_id, -1)):
        progress.child_event(event)
        seen[run_id] = event.get("seq", seen.get(run_id, -1))


async def _cancel_when(
    interrupted: asyncio.Event, client: RunClient, run_id: str, progress: Progress
) -> None:
    await interrupted.wait()
    progress.line("  … stopping (Ctrl-C again to leave at once)", "amber")
    await client.cancel(run_id)


@contextmanager
def _on_interrupt(event: asyncio.Event) -> Generator[None]:
    if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()

    def interrupt() -> None:
        loop.remove_signal_handler(signal.SIGINT)  # the next one ends the program
        event.set()

    loop.add_signal_handler(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)


def _asked(text: str) -> Message:
    return Message(role="user", text=text)
