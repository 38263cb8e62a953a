"""B5: research needs no terminal or image library, not even a stub; its progress goes to stderr."""

import subprocess
import sys

import pytest

from inglenook.cli.render import Progress

LOAD = """
import sys
import inglenook.cli.research, inglenook.research.sub_agent, inglenook.research.web_research
print(*sorted({"rich", "PIL", "requests"} & sys.modules.keys()))
"""


def test_none_of_them_is_loaded():
    done = subprocess.run(
        [sys.executable, "-c", LOAD], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == ""


def test_progress_leaves_stdout_to_the_report(capsys: pytest.CaptureFixture[str]):
    call = {"id": "c", "name": "web_search", "arguments": {"query": "otters"}}
    Progress().child_event({"type": "tool_started", "call": call})
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "    Search: otters\n")
