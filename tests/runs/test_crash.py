"""kill -9 at every event boundary of a run: nothing is lost, no finished call runs twice."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from inglenook.agent.loop import OUTCOME_UNKNOWN
from inglenook.events import ToolFinished, ToolStarted, decode
from inglenook.store.base import StoredEvent
from inglenook.store.sqlite import SqliteStore
from tests.runs.crash_script import BOUNDARIES, script_bench, work_log
from tests.support import ask

SCRIPT = Path(__file__).with_name("crash_script.py")


def run_script(home: Path, *, kill_after: int) -> int:
    """Run the script in a process of its own that kills itself after `kill_after` stored events."""
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(home), str(kill_after)],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode


@pytest.mark.parametrize("kill_after", range(1, BOUNDARIES + 1))
async def test_a_killed_run_goes_on_where_it_stood(tmp_path: Path, kill_after: int):
    assert run_script(tmp_path, kill_after=kill_after) == -signal.SIGKILL
    store = SqliteStore(tmp_path)
    [row], _ = await store.list_runs()
    before = await store.read(row.id)
    await store.close()
    assert len(before) >= kill_after, "what was seen as stored is there"

    async with script_bench(tmp_path) as b:
        assert await b.engine.recover() <= 1
        [item] = (await b.service.list_runs())["items"]
        row = await b.service.wait(item["id"])
        assert (row.status, row.reason) == ("complete", None)
        run = await b.service.get(row.id)
        assert run["answer"] == "all done"
        after = await b.service.stored_events(row.id)
        assert [e.json() for e in after[: len(before)]] == [e.json() for e in before]
        assert (await b.service.verify()).problems == ()
        assert await b.replay(row.id) == "all done"
    assert_no_finished_call_ran_twice(after, work_log(tmp_path))


def assert_no_finished_call_ran_twice(events: Sequence[StoredEvent], executed: list[str]) -> None:
    finished: dict[str, ToolFinished] = {}
    writes: set[str] = set()
    for event in (decode(stored.payload or b"") for stored in events):
        if isinstance(event, ToolStarted) and event.effect == "write":
            writes.add(event.call.id)
        if isinstance(event, ToolFinished):
            assert event.call.id not in finished, "one result a call"
            finished[event.call.id] = event
    for call_id, result in finished.items():
        times = executed.count(call_id)
        if call_id in writes:
            assert times <= 1, "a write is never repeated"
            if result.result == OUTCOME_UNKNOWN:
                assert result.is_error
            else:
                assert times == 1
        else:
            assert times in (1, 2), "a read that did not finish may run again"


async def test_a_cancelled_shutdown_leaves_the_run_for_the_next_start(tmp_path: Path):
    async with script_bench(tmp_path, slow=True) as b:
        row = await b.service.start(ask("go"))
    # leaving the engine stopped the task without ending the run
    async with script_bench(tmp_path) as b:
        assert (await b.service.row(row.id)).finished_at is None
        assert await b.engine.recover() == 1
        assert (await b.service.wait(row.id)).status == "complete"


async def test_runs_of_a_living_process_are_not_taken(tmp_path: Path):
    async with script_bench(tmp_path, slow=True) as first:
        row = await first.service.start(ask("go"))
        async with asyncio.timeout(60):
            while (await first.service.row(row.id)).owner is None:
                await asyncio.sleep(0.01)
        async with script_bench(tmp_path) as second:
            assert await second.engine.recover() == 0
            await second.service.cancel(row.id)  # reaches the holder through the run's inbox
            assert (await second.service.wait(row.id)).status == "cancelled"
