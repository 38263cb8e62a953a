"""What the command line prints: progress to stderr, answers to stdout, no control characters."""

import sys
import unicodedata
from collections.abc import Mapping
from typing import Any, TextIO

from inglenook.cli.exact_text import escaped
from inglenook.research.status import status_text

PREVIEW_CHARS = 100
REJECTED = {
    "context_truncated": "the model's server read only a part of the prompt; its reply was not "
    "taken",
    "context_too_long": "the model's server refused the prompt as too long",
}


def plain(text: str) -> str:
    """Untrusted text for a terminal: escapes and other control characters become visible.

    Newlines and tabs stay; so do letters of every script.
    """
    return "".join(
        char
        if char in "\n\t" or unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co")
        else escaped(char)
        for char in text
    )


def one_line(text: str, limit: int = PREVIEW_CHARS) -> str:
    line = plain(" ".join(text.split()))
    return line if len(line) <= limit else line[: limit - 1] + "…"


def counted(n: int, thing: str) -> str:
    """`1 file`, `2 files`."""
    return f"{n} {thing}{'s' if n != 1 else ''}"


class Progress:
    """Lines about a run as it happens. Colour only on a terminal that wants it."""

    def __init__(self, stream: TextIO | None = None, *, colour: bool | None = None) -> None:
        self._stream = stream or sys.stderr
        self._colour = self._stream.isatty() if colour is None else colour
        self._asked_for_web = False
        self._strategy = ""

    def line(self, text: str, style: str = "") -> None:
        """Print `text`, whoever wrote it: the only escapes that come out are ours."""
        text = plain(text)
        code = {"dim": "2", "amber": "33", "red": "31", "bold": "1"}.get(style)
        if self._colour and code:
            text = f"\x1b[{code}m{text}\x1b[0m"
        self._stream.write(text + "\n")
        self._stream.flush()

    def event(self, event: Mapping[str, Any]) -> None:
        """One stored event (API section 4), if it says something to a person."""
        match event["type"]:
            case "run_started":
                self._asked_for_web = event["request"]["web"]
                self._strategy = event["request"].get("strategy", "")
            case "prompt_built":
                if self._asked_for_web and "web_search" not in event["tools"]:
                    self.line(f"  ! no web in this run: {why_no_web(event['system'])}", "amber")
            case "tool_started" if self._strategy == "research":
                self._looks_for(event)
            case "tool_finished":
                self._tool(event)
            case "context_compacted" | "model_replied":
                self._context(event)
            case "guardrail_objected":
                self.line(f"  ! {one_line(event['text'])}", "dim")
            case "run_waiting":
                self.line(f"  … waiting: {event['reason']}", "amber")
            case "run_resumed":
                self.line("  … resumed", "dim")
            case _:
                pass

    def child_event(self, event: Mapping[str, Any]) -> None:
        """One stored event of a child run: what it looks for and how it goes, not what it finds."""
        if event["type"] == "tool_started":
            self._looks_for(event)
        elif event["type"] == "tool_finished" and event["is_error"]:
            self.line(f"    ! {one_line(event['result'])}", "dim")
        elif event["type"] == "run_waiting":
            self.line(f"    … waiting: {event['reason']}", "amber")

    def _looks_for(self, event: Mapping[str, Any]) -> None:
        if text := status_text(event["call"]["name"], event["call"]["arguments"]):
            self.line(f"    {one_line(text)}", "dim")

    def _context(self, event: Mapping[str, Any]) -> None:
        if event["type"] == "context_compacted":
            before, after = event["before"], event["after"]
            change = f"({before:,} tokens, now about {after:,})"
            self.line(f"  ! the window was full; older messages were summed up {change}", "dim")
        elif event.get("rejected") in REJECTED:
            self.line(f"  ! {REJECTED[event['rejected']]}", "amber")

    def _tool(self, event: Mapping[str, Any]) -> None:
        call = event["call"]
        arguments = ", ".join(
            f"{one_line(k, 40)}={one_line(str(v), 60)!r}" for k, v in call["arguments"].items()
        )
        head = f"  ▸ {one_line(call['name'], 60) or '(no name)'}({arguments})"
        if event["blocked"]:
            self.line(f"{head}  ✕ blocked, nothing was sent", "red")
        elif event["network"]:
            self.line(f"{head}  ▲ leaves this machine · {event['duration_ms']} ms", "amber")
        else:
            self.line(f"{head}  local · {event['duration_ms']} ms", "dim")
        self.line(f"      {one_line(event['result'])}", "red" if event["is_error"] else "dim")

    def ending(self, run: Mapping[str, Any]) -> None:
        """The sources of the answer and the one line that sums the run up."""
        for source in run["sources"]:
            if source["cited"]:
                place = source.get("url") or source["title"]
                self.line(f"  [{source['n']}] {one_line(place)}", "dim")
        if run.get("erased"):
            self.line(f"  {run['status']} · its content was erased · {run['id']}", "dim")
            return
        usage, egress = run["usage"], run["egress"]
        left = f"{egress['bytes_out']} B left" if egress["requests"] else "nothing left"
        reason = f" ({run['reason']})" if run["reason"] else ""
        self.line(
            f"  {run['status']}{reason} · {counted(usage['steps'], 'step')} · "
            f"{counted(usage['tool_calls'], 'tool call')} · {left} this machine · {run['id']}",
            "dim",
        )
        if run["status"] != "complete":
            self.line(f"  {run['explanation'] or ''}", "red")


def why_no_web(system: str) -> str:
    """What the model is told of the missing search (`agent/strategies.py`) is told its user too."""
    told = "web_search does not exist in this run: "
    lines = [line for line in system.splitlines() if line.startswith(told)]
    return lines[0].removeprefix(told) if lines else "the run has no search tool."


def print_line(text: str) -> None:
    """A line of a command's result on stdout, whoever wrote its text."""
    sys.stdout.write(plain(text) + "\n")


EXIT_CODES = {"complete": 0, "failed": 1, "incomplete": 3, "waiting": 3, "cancelled": 4}
