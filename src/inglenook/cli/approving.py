"""Asking at the terminal whether a call may leave: the exact request, then accept, change, reject.

Nothing is sent by default: an empty answer rejects, and whoever leaves leaves the call waiting.
"""

import signal
import sys
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from inglenook.cli.client import RunClient
from inglenook.cli.exact_text import exact, shown_host
from inglenook.cli.render import Progress
from inglenook.errors import Conflict, InvalidRequest
from inglenook.runs.approval_inbox import Verdict

Item = Mapping[str, Any]
"""An approval, as API section 4 shows it."""
Ask = Callable[[str], str]
"""Shows a prompt and returns the line that a person types; raises EOFError where there is none."""


def is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


async def ask_about(item: Item, client: RunClient, progress: Progress, ask: Ask) -> bool:
    """Have a person decide on one call; False if they left it undecided."""
    call: Mapping[str, Any] = item["call"]
    progress.line(f"  Tool: {exact(call['name'])}", "bold")
    show(item, progress)
    arguments: dict[str, Any] | None = None
    while True:
        try:
            answer = ask("    [a]ccept, [c]hange or [R]eject? ").strip().lower()
            if answer in ("c", "change"):
                arguments = await _changed(item, arguments, client, progress, ask)
                continue
        except EOFError:
            progress.line("  … not decided", "amber")
            return False
        if answer in ("a", "accept"):
            verdict = "approve" if arguments is None else "edit"
            await _decide(item, verdict, arguments, client, progress)
            return True
        if answer in ("", "r", "reject"):
            await _decide(item, "deny", None, client, progress)
            return True
        progress.line("    type a to send it, c to change it, r or nothing to reject it", "dim")


def show(item: Item, progress: Progress) -> None:
    """What would be sent, as it would be, and for a call that waits why."""
    progress.line(f"    {exact(item['preview'])}")
    for n, request in enumerate(item["requests"]):
        head = "▲ " if n == 0 else "  or, where that fails: "
        line = f"{request['method']} {exact(request['url'])}"
        progress.line(f"    {head}{line}  to {shown_host(request['url'])}", "amber")
        if request["body"]:
            progress.line(f"      {exact(request['body'])}", "amber")
    if reason := item.get("reason"):
        progress.line(f"    why you are asked: {exact(reason)}", "dim")


def with_text(call: Mapping[str, Any], text: str) -> dict[str, Any]:
    """The call's arguments with `text` in place of what is sent: its query or its address.

    Raises:
        InvalidRequest: The call has no argument that a text could stand for.
    """
    arguments: dict[str, Any] = dict(call["arguments"])
    name = next((name for name in ("query", "url") if name in arguments), None)
    if name is None:
        raise InvalidRequest(
            f"{call['name']!r} has no text to change; approve or deny it, or send all of its "
            "arguments over the API"
        )
    return arguments | {name: text}


async def _changed(
    item: Item,
    arguments: dict[str, Any] | None,
    client: RunClient,
    progress: Progress,
    ask: Ask,
) -> dict[str, Any] | None:
    """Other arguments for the call, shown as they would be sent; those before where they cannot be.

    Raises:
        EOFError: Nobody types any more.
    """
    text = ask("    send instead: ").strip()
    if not text:
        return arguments
    try:
        changed = with_text(item["call"], text)
        seen = await client.preview_edit(item["run_id"], item["call"]["id"], changed)
    except InvalidRequest as error:
        progress.line(f"    {error}", "red")
        return arguments
    show(seen, progress)
    return changed


async def _decide(
    item: Item,
    verdict: Verdict,
    arguments: dict[str, Any] | None,
    client: RunClient,
    progress: Progress,
) -> None:
    try:
        await client.decide(item["run_id"], item["call"]["id"], verdict, arguments)
    except Conflict as error:
        progress.line(f"  {error}", "amber")


def typed(prompt: str) -> str:
    """A line from the terminal. Ctrl-C raises KeyboardInterrupt at once, as no loop is running on
    while a person thinks."""
    sys.stderr.write(prompt)
    sys.stderr.flush()
    with _interruptible():
        line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.rstrip("\n")


@contextmanager
def _interruptible() -> Generator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def commands(items: Sequence[Item]) -> list[str]:
    """What to type for each call that waits."""
    return [
        f"inglenook runs approve {item['run_id']} {exact(item['call']['id'])}" for item in items
    ]
