"""B123: nobody answered in time is not "the user rejected"; it is still not sent, and a late click
gets a clear answer."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from inglenook.errors import Conflict
from inglenook.events import ApprovalDecided, ToolFinished
from inglenook.messages import ToolCall
from tests.sending import SearchTool, VisitTool, Wire
from tests.support import ask, bench, call, replies, say

CALLS = [
    call("web_search", "c", query="otters"),
    call("visit_webpage", "c", url="https://made.up/"),
]


@pytest.mark.parametrize("asked", CALLS)
@pytest.mark.parametrize("seconds", [0, 1, 86_400])
async def test_no_word_in_time_is_timed_out_and_not_denied(
    tmp_path: Path, asked: ToolCall, seconds: int
) -> None:
    time = [datetime.now(UTC)]
    wire = Wire()
    model = replies(say("", asked), say("I could not look."))
    web = [SearchTool(wire), VisitTool(wire)]
    async with bench(tmp_path, model, web=web, approval_clock=lambda: time[0]) as b:
        run = await b.run(ask("?", web=True, approvals={"web_search": "ask"}))
        assert run["status"] == "waiting"
        time[0] += timedelta(seconds=3600 + seconds)
        await b.engine.recover()
        assert (await b.service.wait(run["id"])).status == "complete"
        events = await b.service.events(run["id"])
        with pytest.raises(Conflict, match="timed_out") as late:
            await b.service.decide(run["id"], "c", "approve")
        assert "denied" not in str(late.value)
    [decided] = [event for event in events if isinstance(event, ApprovalDecided)]
    [finished] = [event for event in events if isinstance(event, ToolFinished)]
    assert (decided.decision, decided.by) == ("timed_out", None)
    assert finished.result.startswith("timed_out")
    assert "denied" not in finished.result
    assert "user does not want" not in finished.result
    assert (finished.is_error, finished.network, wire.sent) == (True, False, [])


async def test_a_word_just_in_time_counts(tmp_path: Path) -> None:
    time = [datetime.now(UTC)]
    wire = Wire()
    model = replies(say("", CALLS[0]), say("done"))
    async with bench(tmp_path, model, web=[SearchTool(wire)], approval_clock=lambda: time[0]) as b:
        run = await b.run(ask("?", web=True, approvals={"web_search": "ask"}))
        time[0] += timedelta(seconds=3599)
        await b.engine.recover()
        await b.service.decide(run["id"], "c", "approve")
        assert (await b.service.wait(run["id"])).status == "complete"
    assert wire.bodies == ["q=otters"]
