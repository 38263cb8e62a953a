"""N15: an approval is pending, approved, edited, denied, timed_out or expired, and says which."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.api.serving import serve
from tests.sending import SearchTool, Wire
from tests.support import FunctionProvider, bench, call, results, say

BODY = {
    "model": "m",
    "messages": [{"role": "user", "content": "?"}],
    "web": True,
    "approvals": {"web_search": "ask"},
}
DECISIONS: dict[str, dict[str, Any]] = {
    "approved": {"decision": "approve"},
    "edited": {"decision": "edit", "arguments": {"query": "seals"}},
    "denied": {"decision": "deny"},
}


def model() -> FunctionProvider:
    return FunctionProvider(
        lambda view: (
            say("done") if results(view) else say("", call("web_search", "c", query="otters"))
        )
    )


@pytest.mark.parametrize("state", ["pending", *DECISIONS, "timed_out", "expired"])
async def test_every_state_is_told_over_the_api(tmp_path: Path, state: str) -> None:
    time = [datetime.now(UTC)]
    wire = Wire()
    async with (
        bench(tmp_path, model(), web=[SearchTool(wire)], approval_clock=lambda: time[0]) as b,
        serve(b) as client,
    ):
        run = (await client.post("/api/runs?wait=true", BODY)).json
        assert (run["status"], run["reason"]) == ("waiting", "approval")
        place = f"/api/runs/{run['id']}/approvals/c"
        if state in DECISIONS:
            answer = await client.post(place, DECISIONS[state])
            assert (answer.status, answer.json["status"]) == (200, state)
        elif state == "timed_out":
            time[0] += timedelta(hours=2)
            await b.engine.recover()
        elif state == "expired":
            await client.post(f"/api/runs/{run['id']}/cancel", {})
        if state != "pending":
            await b.service.wait(run["id"])
            late = await client.post(place, {"decision": "approve"})
            assert late.status == 409
            assert state in late.json["error"]["message"]
        [item] = (await client.get(f"/api/approvals?status={state}")).json["items"]
    assert (item["run_id"], item["status"]) == (run["id"], state)
    assert (item["decided_at"] is None) is (state == "pending")
    assert wire.bodies == {"approved": ["q=otters"], "edited": ["q=seals"]}.get(state, [])
