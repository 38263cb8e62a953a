"""C10: reads and read-only children overlap, writes are serialised, a child cannot delegate."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from inglenook.agent.delegate import ChildAgent
from inglenook.events import (
    ChildFinished,
    ChildStarted,
    EgressStarted,
    PromptBuilt,
    RunStarted,
    ToolFinished,
)
from inglenook.messages import Message, ToolOutput
from inglenook.run_context import RunContext
from tests.support import EchoTool, FunctionProvider, TextArguments, ask, bench, call, results, say

SCOUT = {"scout": ChildAgent(description="looks", strategy="assistant", model=None, steps=4)}


class MeetingTool(EchoTool):
    """Answers a call only when another one has come: two that run one after the other never end."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._both = asyncio.Barrier(2)

    async def run(self, arguments: TextArguments, run: RunContext) -> ToolOutput:
        await self._both.wait()
        return await super().run(arguments, run)


def is_child(view: Sequence[Message]) -> bool:
    return any(m.role == "user" and m.text.startswith("task") for m in view)


def family(view: Sequence[Message]) -> Message:
    """A parent that hands out two tasks at once, and children that each look and report."""
    if is_child(view):
        task = next(m.text for m in view if m.role == "user")
        return say(f"report on {task}") if results(view) else say("", call("look", text=task))
    if results(view) == 0:
        return say(
            "",
            call("delegate", "d1", agent="scout", task="task 1"),
            call("delegate", "d2", agent="scout", task="task 2"),
        )
    return say("both reported")


async def test_read_only_children_run_side_by_side_with_read_only_tools(tmp_path: Path):
    look, change = MeetingTool("look"), EchoTool("change", effect="write")
    provider = FunctionProvider(family)
    async with bench(tmp_path, provider, tools=[look, change], agents=SCOUT) as b:
        async with asyncio.timeout(60):
            run = await b.run()
        assert (run["status"], run["answer"]) == ("complete", "both reported")
        events = await b.service.events(run["id"])
        results_ = [e.result for e in events if isinstance(e, ToolFinished)]
        assert sorted(results_) == ["report on task 1", "report on task 2"]
        for started in [e for e in events if isinstance(e, ChildStarted)]:
            child = await b.service.events(started.child_run_id)
            [prompt] = [e for e in child if isinstance(e, PromptBuilt)]
            assert prompt.tools == ("look", "read_result"), "no writes and no delegate"
            [head] = [e for e in child if isinstance(e, RunStarted)]
            assert head.parent == run["id"]
            assert head.permissions.delegate is False


async def test_a_child_that_delegates_is_blocked(tmp_path: Path):
    def script(view: Sequence[Message]) -> Message:
        if is_child(view):
            again = call("delegate", "deep", agent="scout", task="task 9")
            return say("could not") if results(view) else say("", again)
        first = call("delegate", "d1", agent="scout", task="task 1")
        return say("ok") if results(view) else say("", first)

    async with bench(tmp_path, FunctionProvider(script), agents=SCOUT) as b:
        run = await b.run()
        [started] = [e for e in await b.service.events(run["id"]) if isinstance(e, ChildStarted)]
        child = await b.service.events(started.child_run_id)
        [blocked] = [e for e in child if isinstance(e, ToolFinished)]
        assert blocked.blocked
        assert not [e for e in child if isinstance(e, ChildStarted)]


async def test_stopping_the_parent_stops_its_children(tmp_path: Path):
    look = EchoTool("look", delay_s=60)
    async with bench(tmp_path, FunctionProvider(family), tools=[look], agents=SCOUT) as b:
        row = await b.service.start(ask())
        async with asyncio.timeout(60):
            while len(look.calls) < 2:
                await asyncio.sleep(0.01)
        await b.service.cancel(row.id)
        assert (await b.service.wait(row.id)).status == "cancelled"
        started = [e for e in await b.service.events(row.id) if isinstance(e, ChildStarted)]
        assert len(started) == 2
        for event in started:
            assert (await b.service.row(event.child_run_id)).status == "cancelled"


async def test_a_resumed_parent_finds_its_child_again(tmp_path: Path):
    tool = EchoTool("look", delay_s=60)
    async with bench(tmp_path, FunctionProvider(family), tools=[tool], agents=SCOUT) as b:
        row = await b.service.start(ask())
        async with asyncio.timeout(60):
            while len(tool.calls) < 2:
                await asyncio.sleep(0.01)
    # the process ended in the middle of both children
    async with bench(
        tmp_path, FunctionProvider(family), tools=[EchoTool("look")], agents=SCOUT
    ) as b:
        assert await b.engine.recover() == 1, "children are their parent's to find"
        assert (await b.service.wait(row.id)).status == "complete"
        events = await b.service.events(row.id)
        assert len({e.child_run_id for e in events if isinstance(e, ChildStarted)}) == 2
        assert [e.status for e in events if isinstance(e, ChildFinished)] == ["complete"] * 2


async def test_an_unknown_specialist_is_named(tmp_path: Path):
    def script(view: Sequence[Message]) -> Message:
        wrong = call("delegate", agent="ghost", task="task 1")
        return say("ok") if results(view) else say("", wrong)

    async with bench(tmp_path, FunctionProvider(script), agents=SCOUT) as b:
        run = await b.run()
        [event] = [e for e in await b.service.events(run["id"]) if isinstance(e, ToolFinished)]
        assert "'ghost'" in event.result
        assert "scout" in event.result


async def test_what_a_child_sent_counts_as_its_parents(tmp_path: Path):
    web = LeavingTool()

    def script(view: Sequence[Message]) -> Message:
        if is_child(view):
            return say("found") if results(view) else say("", call("web_search", text="q"))
        first = call("delegate", "d1", agent="scout", task="task 1")
        return say("ok") if results(view) else say("", first)

    provider = FunctionProvider(script)
    async with bench(tmp_path, provider, web=[web], agents=SCOUT) as b:
        run = await b.run(web=True)
        assert run["egress"] == {"requests": 1, "bytes_out": 7, "bytes_in": 0}
        [entry] = await b.service.egress(run["id"])
        assert (entry["host"], entry["run_id"] != run["id"]) == ("search.test", True)
        [card] = [e for e in await b.service.events(run["id"]) if isinstance(e, ToolFinished)]
        assert card.network, "the card of the call that made it leave says so"


class LeavingTool(EchoTool):
    """Records a request that it does not send."""

    def __init__(self) -> None:
        super().__init__("web_search", open_world=True)

    async def run(self, arguments: TextArguments, run: RunContext) -> ToolOutput:
        run.sink.emit(
            EgressStarted(
                n=run.egress.next(),
                method="GET",
                host="search.test",
                path="/",
                bytes_out=7,
                why="web_search",
                permission="web",
            )
        )
        return await super().run(arguments, run)
