"""`inglenook replay`: run a recorded run again with every socket forbidden."""

import json
import sys
from pathlib import Path
from typing import Any

from inglenook.bootstrap.run_parts import replay_events
from inglenook.bootstrap.runtime import open_runtime
from inglenook.cli.render import plain
from inglenook.errors import InvalidRequest, ReplayMismatch, RuntimeFault
from inglenook.events import RunEvent, decode
from inglenook.runs.export import checked_lines
from inglenook.settings.load import Loaded

FORBIDDEN = frozenset(
    {
        "socket.connect",
        "socket.bind",
        "socket.sendto",
        "socket.getaddrinfo",
        "socket.gethostbyname",
        "subprocess.Popen",
        "os.system",
    }
)


class SocketsForbidden(BaseException):
    """Not an Exception: nothing on the way up may take it for a failure of its own."""


async def replay(loaded: Loaded, source: str, *, as_json: bool) -> int:
    """`source` is a run's id, a file of `runs export`, or `-` for stdin.

    Exit code 0 only if the replay is identical.
    """
    difference: str | None = None
    events: list[RunEvent] = []
    try:
        events = await _events(loaded, source)
        sys.addaudithook(_forbid)  # for the rest of this process: it cannot be taken back
        await replay_events(events)
    except ReplayMismatch as error:
        difference = str(error)
    if as_json:
        sys.stdout.write(
            json.dumps({"identical": difference is None, "difference": difference}) + "\n"
        )
    elif difference is None:
        sys.stdout.write(f"identical: {len(events)} events, no socket opened\n")
    else:
        sys.stdout.write(f"different: {plain(difference)}\n")
    return 0 if difference is None else 1


def _forbid(event: str, arguments: tuple[Any, ...]) -> None:
    if event in FORBIDDEN:
        raise SocketsForbidden(f"the replay tried {event} {arguments!r:.200}")


async def _events(loaded: Loaded, source: str) -> list[RunEvent]:
    if source == "-":
        export = sys.stdin.buffer.read()
    elif Path(source).is_file():
        export = Path(source).read_bytes()
    else:
        async with open_runtime(loaded) as runtime:
            export = await runtime.runs.export(source)
            if problems := (await runtime.runs.verify(source)).problems:
                raise ReplayMismatch(f"the home's log was changed: {problems[0]}")
    return [_event(line, seq) for seq, line in enumerate(checked_lines(export))]


def _event(line: bytes, seq: int) -> RunEvent:
    """
    Raises:
        ReplayMismatch: The line is not the event of this number: one is missing.
        InvalidRequest: It is no event at all.
    """
    try:
        fields = json.loads(line)
        if fields["seq"] != seq:
            raise ReplayMismatch(f"event {seq} is missing; the next one is {fields['seq']!r}")
        if fields.get("erased"):
            raise InvalidRequest(
                f"event {fields['seq']} was erased; a run without its content cannot be replayed"
            )
        for header in ("seq", "run_id", "at"):
            fields.pop(header, None)
        return decode(json.dumps(fields).encode())
    except RuntimeFault:
        raise
    except (ValueError, AttributeError, TypeError, KeyError, RecursionError) as error:
        raise InvalidRequest(
            f"line {seq + 1} is no event of this version; export the run again ({str(error):.200})"
        ) from error
