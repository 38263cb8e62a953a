"""kill -9 while a research child works: its parent finds it again, nothing is searched twice."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from inglenook.events import ChildStarted, ToolFinished
from tests.research.crash_script import CHILD_EVENTS, script_bench

SCRIPT = Path(__file__).with_name("crash_script.py")


@pytest.mark.parametrize("kill_after", [*range(2, CHILD_EVENTS, 4), CHILD_EVENTS])
async def test_a_killed_parent_finds_its_child_again(tmp_path: Path, kill_after: int):
    root = Path(__file__).parents[2]
    died = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path), str(kill_after)],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert died.returncode == -signal.SIGKILL, died.stderr
    searched = searches(tmp_path)
    async with script_bench(tmp_path) as b:
        [parent] = (await b.service.list_runs())["items"]
        events = await b.service.events(parent["id"])
        [child] = [e.child_run_id for e in events if isinstance(e, ChildStarted)]
        finished = {
            str(event.call.arguments.get("query"))
            for event in await b.service.events(child)
            if isinstance(event, ToolFinished)
        }
        assert await b.engine.recover() == 1, "the child is its parent's to find"
        assert (await b.service.wait(parent["id"])).status == "complete"
        after = await b.service.events(parent["id"])
        assert {e.child_run_id for e in after if isinstance(e, ChildStarted)} == {child}
        assert (await b.service.row(child)).status == "complete"
        assert (await b.service.verify()).problems == ()
        assert await b.replay(child) == "Found [1]."
    for query in ("one", "two"):
        again = searches(tmp_path).count(query) - searched.count(query)
        assert again == (0 if query in finished else 1)


def searches(home: Path) -> list[str]:
    path = home / "searches.log"
    return path.read_text().split() if path.exists() else []
