"""A stop at any moment ends the run once, and never the engine."""

import asyncio
from pathlib import Path

from tests.support import EchoTool, FunctionProvider, ask, bench, call, replies, results, say


async def test_a_stop_at_any_early_moment_is_recorded(tmp_path: Path):
    async with bench(tmp_path, FunctionProvider(lambda _: say("late"), delay_s=60)) as b:
        ids: list[str] = []
        for turns in range(40):
            row = await b.service.start(ask())
            for _ in range(turns):
                await asyncio.sleep(0)
            await b.service.cancel(row.id)
            async with asyncio.timeout(60):
                row = await b.service.wait(row.id)
            assert (row.status, row.reason) == ("cancelled", "cancelled_by_user")
            ids.append(row.id)
        assert (await b.service.verify()).problems == ()
    async with bench(tmp_path, replies(say("x"))) as b:
        assert await b.engine.recover() == 0
        for id in ids:
            assert (await b.service.row(id)).status == "cancelled"


async def test_stopping_twice_and_thrice_is_stopping_once(tmp_path: Path):
    tool = EchoTool(delay_s=60)
    async with bench(tmp_path, replies(say("", call("echo")), say("x")), tools=[tool]) as b:
        row = await b.service.start(ask())
        async with asyncio.timeout(60):
            while not tool.calls:
                await asyncio.sleep(0.01)
        async with asyncio.TaskGroup() as group:
            for _ in range(5):
                group.create_task(b.service.cancel(row.id))
        row = await b.service.wait(row.id)
        assert row.status == "cancelled"
        events = await b.service.events(row.id)
        assert [event.type for event in events].count("run_finished") == 1
        assert (await b.service.cancel(row.id)).status == "cancelled"


async def test_a_stop_beside_the_end_leaves_one_end(tmp_path: Path):
    provider = FunctionProvider(
        lambda view: say("done") if results(view) else say("", call("echo", text="x"))
    )
    async with bench(tmp_path, provider, tools=[EchoTool()]) as b:
        for turns in range(0, 60, 2):
            row = await b.service.start(ask())
            await asyncio.sleep(turns / 2000)
            await b.service.cancel(row.id)
            async with asyncio.timeout(60):
                row = await b.service.wait(row.id)
            assert row.status in ("cancelled", "complete")
            events = await b.service.events(row.id)
            assert [event.type for event in events].count("run_finished") == 1
            assert events[-1].type == "run_finished"
