"""B11: where its user wants to see queries, each one waits for accept, change or reject, whether
the run answers or researches."""

from pathlib import Path
from typing import Any

import pytest

from tests.sending import SearchTool, Wire
from tests.support import Bench, FunctionProvider, ask, bench, call, results, say

STRATEGIES = ["assistant", "research"]


def curious(view: Any) -> Any:
    """Two searches, one after the other, then the answer."""
    n = results(view)
    if n < 2:
        return say("", call("web_search", f"c{n}", query=f"question {n}"))
    return say("Otters swim [1].")


async def begun(b: Bench, strategy: str) -> str:
    request = ask("?", web=True, approvals={"web_search": "ask"}, strategy=strategy)
    row = await b.service.start(request)
    assert (await b.service.wait(row.id)).status == "waiting"
    return row.id


async def decided(b: Bench, run_id: str, verdict: Any, **more: Any) -> str:
    [item] = await b.service.approvals("pending")
    await b.service.decide(run_id, item["call"]["id"], verdict, **more)
    return (await b.service.wait(run_id)).status


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_each_query_waits_for_its_own_word(tmp_path: Path, strategy: str) -> None:
    wire = Wire()
    async with bench(tmp_path, FunctionProvider(curious), web=[SearchTool(wire)]) as b:
        run_id = await begun(b, strategy)
        assert wire.sent == []
        assert await decided(b, run_id, "approve") == "waiting"
        assert wire.bodies == ["q=question+0"]
        assert await decided(b, run_id, "edit", arguments={"query": "other"}) == "complete"
    assert wire.bodies == ["q=question+0", "q=other"]


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_a_rejected_query_is_not_sent_and_the_run_goes_on(
    tmp_path: Path, strategy: str
) -> None:
    wire = Wire()
    async with bench(tmp_path, FunctionProvider(curious), web=[SearchTool(wire)]) as b:
        run_id = await begun(b, strategy)
        assert await decided(b, run_id, "deny") == "waiting"
        assert await decided(b, run_id, "approve") == "complete"
    assert wire.bodies == ["q=question+1"]


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_nobody_is_asked_by_default(tmp_path: Path, strategy: str) -> None:
    wire = Wire()
    async with bench(tmp_path, FunctionProvider(curious), web=[SearchTool(wire)]) as b:
        run = await b.run(web=True, strategy=strategy)
        assert await b.service.approvals() == []
    assert (run["status"], len(wire.sent)) == ("complete", 2)
