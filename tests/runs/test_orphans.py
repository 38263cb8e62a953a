"""What a run leaves behind when it ends early, and what a bad run does to the others."""

import asyncio
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest

from inglenook.agent.delegate import ChildAgent
from inglenook.events import ChildStarted
from inglenook.messages import Message
from inglenook.run_request import RequestLimits
from tests.support import Bench, EchoTool, FunctionProvider, ask, bench, call, replies, results, say

SCOUT = {"scout": ChildAgent(description="looks", strategy="assistant", model=None, steps=4)}


def family(view: Sequence[Message]) -> Message:
    if any(m.role == "user" and m.text == "task" for m in view):
        return say("seen") if results(view) else say("", call("look", text="x"))
    return say("done") if results(view) else say("", call("delegate", agent="scout", task="task"))


async def child_of(b: Bench, run_id: str) -> str:
    events = await b.service.events(run_id)
    return next(e.child_run_id for e in events if isinstance(e, ChildStarted))


async def called(tool: EchoTool) -> None:
    async with asyncio.timeout(60):
        while not tool.calls:
            await asyncio.sleep(0.01)


async def test_a_parent_out_of_time_takes_its_child_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    tool = EchoTool("look", go=asyncio.Event())
    async with bench(tmp_path, FunctionProvider(family), tools=[tool], agents=SCOUT) as b:
        row = await b.service.start(ask(limits=RequestLimits(seconds=900)))
        await called(tool)
        loop = asyncio.get_running_loop()
        now = loop.time
        monkeypatch.setattr(loop, "time", lambda: now() + 1000)
        assert (await b.service.wait(row.id)).reason == "time_limit"
        child = await b.service.row(await child_of(b, row.id))
        assert (child.status, child.reason) == ("incomplete", "interrupted")


async def test_a_child_can_be_stopped_alone(tmp_path: Path):
    tool = EchoTool("look", delay_s=60)
    async with bench(tmp_path, FunctionProvider(family), tools=[tool], agents=SCOUT) as b:
        row = await b.service.start(ask())
        await called(tool)
        child = await child_of(b, row.id)
        await b.service.cancel(child)
        assert (await b.service.row(child)).status == "cancelled"
        await b.service.cancel(row.id)
        assert (await b.service.wait(row.id)).status == "cancelled"
        assert (await b.service.verify()).problems == ()


async def test_erasing_a_run_erases_its_children(tmp_path: Path):
    async with bench(
        tmp_path, FunctionProvider(family), tools=[EchoTool("look")], agents=SCOUT
    ) as b:
        run = await b.run()
        child = await child_of(b, run["id"])
        await b.service.erase(run["id"])
        assert await b.service.events(child) == []
        assert (await b.service.verify()).problems == ()


async def test_a_run_that_cannot_be_read_leaves_the_others_alone(tmp_path: Path):
    slow = FunctionProvider(lambda _: say("x"), delay_s=60)
    async with bench(tmp_path, slow) as b:
        row = await b.service.start(ask())
        async with asyncio.timeout(60):
            while not slow.views:
                await asyncio.sleep(0.01)
    db = sqlite3.connect(tmp_path / "inglenook.db", isolation_level=None)
    db.execute("UPDATE events SET payload = ? WHERE seq = 1", (b'{"type":"of_the_future"}',))
    async with bench(tmp_path, replies(say("fine"))) as b:
        assert await b.engine.recover() == 1
        await b.engine.join(row.id)
        assert (await b.run())["answer"] == "fine"
        assert (await b.service.row(row.id)).finished_at is None


async def test_identical_calls_of_one_reply_replay(tmp_path: Path):
    batch = say("", *(call("echo", f"c{n}", text="same") for n in range(5)))
    async with bench(tmp_path, replies(batch, batch, say("done")), tools=[EchoTool()]) as b:
        run = await b.run()
        assert run["reason"] == "repetition"
        await b.replay(run["id"])


async def test_a_changed_step_setting_does_not_change_a_run_that_began(tmp_path: Path):
    slow = FunctionProvider(lambda _: say("x"), delay_s=60)
    async with bench(tmp_path, slow, tools=[EchoTool()], limits=RequestLimits(steps=3)) as b:
        row = await b.service.start(ask())
        async with asyncio.timeout(60):
            while not slow.views:
                await asyncio.sleep(0.01)
    provider = FunctionProvider(
        lambda view: say("", call("echo", f"c{results(view)}", text=str(results(view))))
    )
    async with bench(tmp_path, provider, tools=[EchoTool()], limits=RequestLimits(steps=9)) as b:
        await b.engine.recover()
        assert (await b.service.wait(row.id)).reason == "step_limit"
        assert (await b.service.get(row.id))["usage"]["steps"] == 3
        await b.replay(row.id)
