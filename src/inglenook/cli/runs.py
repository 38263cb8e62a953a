"""`inglenook runs …`: list, show, follow, decide, stop, export, check."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from inglenook.bootstrap.runtime import open_runtime
from inglenook.cli.approving import commands, with_text
from inglenook.cli.ask import see_through, tell_who_waits
from inglenook.cli.client import RunClient, connect
from inglenook.cli.exact_text import exact
from inglenook.cli.render import EXIT_CODES, Progress, counted, one_line, print_line
from inglenook.errors import Conflict, InvalidRequest, NotFound
from inglenook.events import ENDED, Status
from inglenook.runs.approval_inbox import Verdict
from inglenook.settings.load import Loaded

GLYPHS = {
    "queued": "·",
    "running": "▸",
    "waiting": "◐",
    "complete": "●",
    "incomplete": "○",
    "cancelled": "✕",
    "failed": "✕",
}


def _print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, indent=2) + "\n")


async def list_runs(
    loaded: Loaded, *, status: Status | None, session: str | None, limit: int, as_json: bool
) -> int:
    async with open_runtime(loaded) as runtime:
        page = await runtime.runs.list_runs(status=status, session=session, limit=limit)
        waiting = await runtime.runs.approvals("pending")
    if as_json:
        _print_json(page)
        return 0
    for run in page["items"]:
        print_line(
            f"{GLYPHS[run['status']]} {run['id']}  {run['created_at'][:16]}  "
            f"{run['status']:<10}  {one_line(run['title'], 60)}"
        )
        for item in waiting:
            if item["root_id"] == run["id"]:
                print_line(f"    waits for you: {exact(item['preview'])}")
                print_line(f"    why you are asked: {exact(item['reason'])}")
                print_line(f"    {commands([item])[0]}")
    if not page["items"]:
        Progress().line("no runs yet; `inglenook ask` makes one", "dim")
    return 0


async def show(loaded: Loaded, run_id: str, *, as_json: bool) -> int:
    async with open_runtime(loaded) as runtime:
        run = await runtime.runs.get(run_id)
        question = (await runtime.runs.row(run_id)).title
        waiting = await runtime.runs.approvals("pending")
    if as_json:
        _print_json(run)
        return EXIT_CODES.get(run["status"], 0)
    progress = Progress(sys.stdout)
    progress.line(f"{GLYPHS[run['status']]} {one_line(question)}", "bold")
    if run["answer"]:
        print_line(run["answer"])
    progress.ending(run)
    tell_who_waits([each for each in waiting if each["root_id"] == run_id], progress)
    return EXIT_CODES.get(run["status"], 0)


async def events(loaded: Loaded, run_id: str, *, follow: bool, as_json: bool) -> int:
    if follow:
        async with connect(loaded) as client:
            async for event in client.follow(run_id):
                sys.stdout.write(json.dumps(event) + "\n")
                sys.stdout.flush()
        return 0
    async with open_runtime(loaded) as runtime:
        stored = await runtime.runs.stored_events(run_id)
    if as_json:
        # encoded again: in ASCII no character of a stored text can act on a terminal
        _print_json([json.loads(event.json()) for event in stored])
    else:
        for event in stored:
            print_line(f"{event.seq:>5}  {event.at}  {event.json().decode()}")
    return 0


async def cancel(loaded: Loaded, run_id: str, *, as_json: bool) -> int:
    async with connect(loaded) as client:
        await client.cancel(run_id)
        run = await client.get(run_id)
    if as_json:
        _print_json({"id": run["id"], "status": run["status"]})
    else:
        Progress().line(_after_stop(run))
    return 0


async def approve(
    loaded: Loaded, run_id: str, call_id: str, *, edit: str | None, deny: bool, as_json: bool
) -> int:
    """Decide on a call that waits. Without a server the run goes on in this process, to its end."""
    progress = Progress()
    async with connect(loaded) as client:
        item = await _waiting_call(client, run_id, call_id)
        arguments = None if edit is None else with_text(item["call"], edit)
        verdict: Verdict = "deny" if deny else "approve" if arguments is None else "edit"
        seen = await client.last_event(item["root_id"])  # before anything can come of the decision
        decided = await client.decide(run_id, call_id, verdict, arguments)
        told = exact(decided["preview"] if edit is None else edit)
        progress.line(f"  {decided['status']}: {told}", "dim")
        run = await see_through(client, item["root_id"], progress, after=seen)
    if as_json:
        _print_json(run)
    else:
        if run["answer"]:
            print_line(run["answer"])
        progress.ending(run)
    return EXIT_CODES.get(run["status"], 0)


async def _waiting_call(client: RunClient, run_id: str, call_id: str) -> dict[str, Any]:
    """
    Raises:
        Conflict: It does not wait any more; says what became of it.
        NotFound: Nobody was asked about it.
    """
    for item in await client.approvals(None):
        if (item["run_id"], item["call"]["id"]) != (run_id, call_id):
            continue
        if item["status"] != "pending":
            raise Conflict(
                f"call {call_id!r} of run {run_id!r} is not pending any more: it is "
                f"{item['status']}; a call is decided once."
            )
        return item
    raise NotFound(
        f"run {run_id!r} has no call {call_id!r} that was to be approved",
        hint="`inglenook runs list` shows those that wait.",
    )


def _after_stop(run: Mapping[str, Any]) -> str:
    if run["status"] == "cancelled":
        return "stopped"
    if run["status"] in ENDED:
        return f"there was nothing to stop: the run had ended ({run['status']})"
    return "asked to stop; the run ends within seconds"


async def export(loaded: Loaded, run_id: str, out: Path | None) -> int:
    async with open_runtime(loaded) as runtime:
        data = await runtime.runs.export(run_id)
    if out is None:
        sys.stdout.write(data.decode("utf-8"))
        return 0
    try:
        out.write_bytes(data)
    except OSError as error:
        raise InvalidRequest(f"cannot write {str(out)!r}: {error}") from error
    return 0


async def egress(loaded: Loaded, run_id: str, *, as_json: bool) -> int:
    async with open_runtime(loaded) as runtime:
        ledger = await runtime.runs.egress(run_id)
    if as_json:
        _print_json(ledger)
        return 0
    for entry in ledger:
        print_line(_request_line(entry))
    if all(entry["sent"] is False for entry in ledger):
        print_line("nothing left this machine")
    return 0


def _request_line(entry: Mapping[str, Any]) -> str:
    if entry["sent"] is False:
        glyph, fate = "✕", "not sent: there was no connection"
    elif entry["bytes_in"] is None:
        glyph, fate = "▲", f"{entry['bytes_out']} B out, its end is not known"
    else:
        glyph, fate = "▲", f"{entry['bytes_out']} B out, {entry['bytes_in']} B in"
    return (
        f"{glyph} {entry['method']} {entry['host']}{one_line(entry['path'])}  {fate}  "
        f"{one_line(entry['why'])}  ({entry['permission']})"
    )


async def verify(loaded: Loaded, run_id: str | None, *, as_json: bool) -> int:
    async with open_runtime(loaded) as runtime:
        report = await runtime.runs.verify(run_id)
    if as_json:
        _print_json(
            {
                "runs": report.runs,
                "events": report.events,
                "erased": report.erased,
                "problems": list(report.problems),
            }
        )
    else:
        for problem in report.problems:
            print_line(f"✕ {problem}")
        problems = counted(len(report.problems), "problem")
        verdict = problems if report.problems else "the chain is whole"
        print_line(
            f"{counted(report.runs, 'run')}, {counted(report.events, 'event')} "
            f"({report.erased} erased): {verdict}"
        )
    return 1 if report.problems else 0


async def erase(loaded: Loaded, run_id: str, *, as_json: bool) -> int:
    async with open_runtime(loaded) as runtime:
        count = await runtime.runs.erase(run_id)
    if as_json:
        _print_json({"id": run_id, "erased": count})
    else:
        print_line(f"{counted(count, 'event')} erased; `runs verify` still checks their chain")
    return 0
