"""B039: stop means stop: no further tool starts, what ran is cancelled, within 3 s."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from inglenook.events import ToolStarted
from inglenook.messages import ToolOutput
from inglenook.run_context import RunContext
from tests.support import (
    EchoTool,
    FunctionProvider,
    TextArguments,
    ask,
    bench,
    call,
    replies,
    say,
    types,
)


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.01)


class StuckTool(EchoTool):
    """Answers its first call, and no other."""

    async def run(self, arguments: TextArguments, run: RunContext) -> ToolOutput:
        output = await super().run(arguments, run)
        if len(self.calls) > 1:
            await asyncio.Event().wait()
        return output


async def test_cancel_after_the_first_of_five_writes_starts_no_other(tmp_path: Path):
    tool = StuckTool("write", effect="write")
    batch = say("", *(call("write", f"c{n}", text=str(n)) for n in range(5)))
    async with bench(tmp_path, replies(batch, say("done")), tools=[tool]) as b:
        row = await b.service.start(ask())
        await until(lambda: len(tool.calls) >= 2)
        await b.service.cancel(row.id)
        async with asyncio.timeout(60):
            row = await b.service.wait(row.id)
        assert (row.status, row.reason) == ("cancelled", "cancelled_by_user")
        assert tool.calls == ["0", "1"]
        events = await b.service.events(row.id)
        assert types(events)[-1] == "run_finished"
        assert sum(isinstance(e, ToolStarted) for e in events) == 2


async def test_cancel_while_the_model_works_stops_the_model(tmp_path: Path):
    provider = FunctionProvider(lambda _: say("late"), delay_s=60)
    async with bench(tmp_path, provider) as b:
        row = await b.service.start(ask())
        await until(lambda: provider.views)
        await b.service.cancel(row.id)
        row = await b.service.wait(row.id)
        assert row.status == "cancelled"
        assert provider.closed == 1


async def test_a_run_that_was_stopped_stays_stopped_after_a_restart(tmp_path: Path):

    async with bench(tmp_path, FunctionProvider(lambda _: say("x"), delay_s=60)) as b:
        row = await b.service.start(ask())
        await b.service.cancel(row.id)
        assert (await b.service.wait(row.id)).status == "cancelled"
    async with bench(tmp_path, replies(say("x"))) as b:
        assert await b.engine.recover() == 0
        assert (await b.service.row(row.id)).status == "cancelled"
