"""The ledger is complete: what came through the only cable is what it says, request by request."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

from tests.e2e.browser import require
from tests.e2e.sealed_network import ENTER, cannot_be_made


def test_every_request_that_left_is_in_the_ledger_and_no_other(tmp_path: Path) -> None:
    reason = cannot_be_made()
    require(not reason, reason or "")
    done = subprocess.run(
        [*ENTER, sys.executable, "-m", "tests.e2e.ledger_scenario", str(tmp_path / "home")],
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    happened = json.loads(done.stdout)
    run, ledger = happened["run"], happened["ledger"]
    assert run["status"] == "complete"

    # Nothing but the proxy and the model server was reached, and no name was asked for.
    assert happened["seen"] == happened["exits"]

    # A tunnel shows its host alone, so its path is left out of the comparison.
    asked = [tuple(each) for each in happened["asked"]]
    tunnelled = {host for method, host, _ in asked if method == "CONNECT"}
    left = [
        ("CONNECT", entry["host"], "")
        if entry["host"] in tunnelled
        else (entry["method"], entry["host"], entry["path"])
        for entry in ledger
        if entry["sent"] is not False
    ]
    assert Counter(left) == Counter(asked)
    assert run["egress"]["requests"] == len(asked)

    # The run did what the comparison is about.
    hosts = {host for _, host, _ in asked}
    assert {"duck.example", "site.example", "broken.example", "tunnel.example"} <= hosts
    assert ("GET", "site.example", "/new?page=1") in asked
