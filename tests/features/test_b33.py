"""B33: a rejected query comes back to the model as an error with the code USER_STOPPED; a decision
may carry a changed query."""

from pathlib import Path

from tests.cli.test_approving import asked_at_terminal
from tests.sending import SearchTool, Wire
from tests.support import bench, call, replies, say


async def test_the_model_reads_that_its_user_stopped_the_query(tmp_path: Path) -> None:
    model = replies(say("", call("web_search", "c", query="otters")), say("I do not know."))
    wire = Wire()
    async with bench(tmp_path, model, web=[SearchTool(wire)]) as b:
        run = await b.run(web=True, approvals={"web_search": "ask"})
        await b.service.decide(run["id"], "c", "deny")
        row = await b.service.wait(run["id"])
    told = model.views[-1][-1].text
    assert told.startswith("denied")
    assert "USER_STOPPED" in told
    assert "Do not ask for it again" in told
    assert (row.status, wire.sent) == ("complete", [])


async def test_a_changed_query_is_sent_instead(tmp_path: Path) -> None:
    run, _, wire = await asked_at_terminal(tmp_path, "c", "seals", "a")
    assert (run["status"], wire.bodies) == ("complete", ["q=seals"])
