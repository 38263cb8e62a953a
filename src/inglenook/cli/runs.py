"""`inglenook runs …`: list, show, follow, stop, export, check."""

import json
import sys
from pathlib import Path
from typing import Any

from inglenook.bootstrap import open_runtime
from inglenook.cli.client import connect
from inglenook.cli.render import EXIT_CODES, Progress, one_line, plain
from inglenook.errors import InvalidRequest
from inglenook.events import Status
from inglenook.settings import Loaded

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
    if as_json:
        _print_json(page)
        return 0
    for run in page["items"]:
        sys.stdout.write(
            f"{GLYPHS[run['status']]} {run['id']}  {run['created_at'][:16]}  "
            f"{run['status']:<10}  {one_line(run['title'], 60)}\n"
        )
    if not page["items"]:
        Progress().line("no runs yet; `inglenook ask` makes one", "dim")
    return 0


async def show(loaded: Loaded, run_id: str, *, as_json: bool) -> int:
    async with open_runtime(loaded) as runtime:
        run = await runtime.runs.get(run_id)
        question = (await runtime.runs.row(run_id)).title
    if as_json:
        _print_json(run)
        return EXIT_CODES.get(run["status"], 0)
    progress = Progress(sys.stdout)
    progress.line(f"{GLYPHS[run['status']]} {one_line(question)}", "bold")
    if run["answer"]:
        sys.stdout.write(plain(run["answer"]) + "\n")
    progress.ending(run)
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
        sys.stdout.write("[" + ",\n".join(event.json().decode() for event in stored) + "]\n")
    else:
        for event in stored:
            sys.stdout.write(f"{event.seq:>5}  {event.at}  {plain(event.json().decode())}\n")
    return 0


async def cancel(loaded: Loaded, run_id: str, *, as_json: bool) -> int:
    async with connect(loaded) as client:
        await client.cancel(run_id)
        run = await client.get(run_id)
    if as_json:
        _print_json({"id": run["id"], "status": run["status"]})
    else:
        Progress().line(f"asked to stop; it is {run['status']} now")
    return 0


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
        sys.stdout.write(
            f"▲ {entry['method']} {plain(entry['host'])}{one_line(entry['path'])}  "
            f"{entry['bytes_out']} B out, {entry['bytes_in']} B in  "
            f"{one_line(entry['why'])}  ({entry['permission']})\n"
        )
    if not ledger:
        sys.stdout.write("nothing left this machine\n")
    return 0


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
            sys.stdout.write(f"✕ {plain(problem)}\n")
        verdict = f"{len(report.problems)} problems" if report.problems else "the chain is whole"
        sys.stdout.write(
            f"{report.runs} runs, {report.events} events ({report.erased} erased): {verdict}\n"
        )
    return 1 if report.problems else 0


async def erase(loaded: Loaded, run_id: str, *, as_json: bool) -> int:
    async with open_runtime(loaded) as runtime:
        count = await runtime.runs.erase(run_id)
    if as_json:
        _print_json({"id": run_id, "erased": count})
    else:
        sys.stdout.write(f"{count} events erased; `runs verify` still checks their chain\n")
    return 0
