"""Unfinished runs go on while a server lives, and say so where none does."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from inglenook.errors import Conflict, ProviderBusy
from inglenook.events import TextDelta
from inglenook.messages import Message
from inglenook.runs.in_process import FIRST_REST_S, MAX_REST_S, InProcessEngine
from inglenook.runs.service import LEFT_ALONE
from inglenook.store.base import RunRow
from inglenook.store.locks import SERVER_LOCK, FileLock
from tests.runs.crash_script import LoggedTool, script_bench, work_log
from tests.runs.test_crash import assert_no_finished_call_ran_twice, run_script
from tests.support import Bench, FunctionProvider, ask, bench, call, replies, results, say


@contextlib.contextmanager
def server_lock(home: Path) -> Generator[None, None, None]:
    lock = FileLock(home / SERVER_LOCK)
    assert lock.acquire()
    try:
        yield
    finally:
        lock.release()


@asynccontextmanager
async def serving(home: Path, engine: InProcessEngine) -> AsyncGenerator[Callable[[], None], None]:
    """The home's lock and `keep_recovering`; a call of what it yields ends one pause."""
    ticks: asyncio.Queue[None] = asyncio.Queue()
    with server_lock(home):
        async with asyncio.TaskGroup() as group:
            task = group.create_task(engine.keep_recovering(lambda _: ticks.get()))
            yield lambda: ticks.put_nowait(None)
            task.cancel()


async def the_run(b: Bench) -> RunRow:
    [item] = (await b.service.list_runs())["items"]
    return await b.service.row(item["id"])


async def follow_into(
    seen: list[int], b: Bench, run_id: str, tick: Callable[[], object] = int
) -> None:
    """Put the `seq` of each event that a reader sees into `seen`, until the reader's end."""
    async for frame in b.service.follow(run_id):
        tick()
        if frame is not None and not isinstance(frame, TextDelta):
            seen.append(frame.seq)


async def test_a_run_whose_process_died_goes_on_without_a_restart(tmp_path: Path):
    async with script_bench(tmp_path) as b, serving(tmp_path, b.engine) as tick:
        tick()
        await asyncio.to_thread(run_script, tmp_path, kill_after=9)
        row = await the_run(b)
        assert (row.status, b.engine.executes(row.id)) == ("running", False)
        seen: list[int] = []
        async with asyncio.timeout(60):
            await follow_into(seen, b, row.id, tick)
        assert seen == list(range(len(seen))), "the reader saw each event once"
        assert (await b.service.row(row.id)).status == "complete"
        assert (await b.service.verify()).problems == ()


async def test_of_two_that_take_up_one_run_only_one_goes_on(tmp_path: Path):
    await asyncio.to_thread(run_script, tmp_path, kill_after=12)
    async with script_bench(tmp_path) as one, script_bench(tmp_path) as two:
        row = await the_run(one)
        for b in (one, two):  # both saw it with its dead owner
            await b.engine.submit(row.id, epoch=row.epoch)
        row = await one.service.wait(row.id)
        assert row.status == "complete"
        events = await one.service.stored_events(row.id)
        assert [event.type for event in events].count("run_resumed") == 1
        assert (await one.service.verify()).problems == ()
    assert_no_finished_call_ran_twice(events, work_log(tmp_path))


async def test_a_run_of_a_dead_process_says_so_where_no_server_lives(tmp_path: Path):
    await asyncio.to_thread(run_script, tmp_path, kill_after=9)
    async with script_bench(tmp_path) as b:
        row = await the_run(b)
        shown = await b.service.get(row.id)
        assert (shown["status"], shown["explanation"]) == ("running", LEFT_ALONE)
        [listed] = (await b.service.list_runs())["items"]
        assert listed["explanation"] == LEFT_ALONE
        seen: list[int] = []
        with pytest.raises(Conflict, match="Its process ended; it goes on when"):
            await follow_into(seen, b, row.id)
        assert len(seen) == len(await b.service.stored_events(row.id)), "what there is was seen"
        with pytest.raises(Conflict):
            await b.service.wait(row.id)
        with server_lock(tmp_path):
            assert (await b.service.get(row.id))["explanation"] is None


async def test_a_run_of_a_living_process_is_not_said_to_be_left_alone(tmp_path: Path):
    async with script_bench(tmp_path, slow=True) as owner, script_bench(tmp_path) as other:
        row = await owner.service.start(ask("go"))
        assert (await owner.service.get(row.id))["explanation"] is None
        async with asyncio.timeout(60):
            while (await owner.service.row(row.id)).owner is None:
                await asyncio.sleep(0.01)
        for b in (owner, other):
            assert (await b.service.get(row.id))["explanation"] is None


@dataclass
class Away:
    """A model whose server is down until `is_back`."""

    is_back: bool = False
    asked: int = 0

    def __call__(self, view: Sequence[Message]) -> Message:
        self.asked += 1
        if not self.is_back:
            raise ProviderBusy("the model's server cannot be reached")
        return say("here again")


async def interrupted(home: Path) -> str:
    """A run whose process ended while it waited for its model; its id."""
    slow = FunctionProvider(lambda _: say("x"), delay_s=60)
    async with bench(home, slow) as b:
        row = await b.service.start(ask())
        async with asyncio.timeout(60):
            while not slow.views:
                await asyncio.sleep(0.01)
    return row.id


@asynccontextmanager
async def engine_at(b: Bench, time_s: list[float]) -> AsyncGenerator[InProcessEngine, None]:
    """A second engine whose clock is the list's only number."""
    engine = InProcessEngine(
        store=b.store, supervisor=b.supervisor, owners=b.owners, clock=lambda: time_s[0]
    )
    async with engine:
        yield engine


async def test_a_resumed_run_waits_for_a_model_that_is_down(tmp_path: Path):
    id = await interrupted(tmp_path)
    away, time_s = Away(), [0.0]
    async with (
        bench(tmp_path, FunctionProvider(away)) as b,
        engine_at(b, time_s) as engine,
    ):
        pauses: list[float] = []
        for tries in range(1, 10):
            before = time_s[0]
            while await engine.recover() == 0:
                time_s[0] += 1.0
            pauses.append(time_s[0] - before)
            await engine.join(id)
            assert away.asked == tries
            row = await b.service.row(id)
            assert (row.status, row.owner) == ("running", None)
            assert row.explanation == (
                "the model's server cannot be reached. The run is tried again."
            )
        assert pauses[:4] == [0, FIRST_REST_S, 2 * FIRST_REST_S, 4 * FIRST_REST_S]
        assert pauses[-1] == MAX_REST_S
        away.is_back = True
        time_s[0] += MAX_REST_S
        await engine.recover()
        await engine.join(id)
        run = await b.service.get(id)
        assert (run["status"], run["answer"]) == ("complete", "here again")
        assert (await b.service.verify()).problems == ()
        await b.replay(id)


async def test_a_run_that_never_was_at_work_fails_with_its_model(tmp_path: Path):
    async with bench(tmp_path, FunctionProvider(Away())) as b:
        run = await b.run()
        assert (run["status"], run["reason"]) == ("failed", "provider_error")


async def test_a_run_that_waits_for_its_model_can_be_stopped(tmp_path: Path):
    id = await interrupted(tmp_path)
    async with bench(tmp_path, FunctionProvider(Away())) as b:
        assert await b.engine.recover() == 1
        await b.engine.join(id)
        assert (await b.service.cancel(id)).status == "cancelled"
        assert await b.engine.recover() == 0


async def test_a_restarted_server_does_not_let_a_run_rest(tmp_path: Path):
    id = await interrupted(tmp_path)
    async with bench(tmp_path, FunctionProvider(Away())) as b:
        await b.engine.recover()
        await b.engine.join(id)
    async with bench(tmp_path, replies(say("here"))) as b:
        assert await b.engine.recover() == 1
        assert (await b.service.wait(id)).status == "complete"


async def test_what_its_tools_did_is_kept_while_a_run_waits_for_its_model(tmp_path: Path):

    def script(view: Sequence[Message]) -> Message:
        if results(view) and not is_back:
            raise ProviderBusy("down")
        return say("done") if results(view) else say("", call("look", "c1", text="x"))

    is_back = False
    async with script_bench(tmp_path, slow=True) as b:
        row = await b.service.start(ask("go"))
        async with asyncio.timeout(60):
            while len(await b.service.stored_events(row.id)) < 4:
                await asyncio.sleep(0.01)
    tools = [LoggedTool(tmp_path, "look", "read"), LoggedTool(tmp_path, "change", "write")]
    async with bench(tmp_path, FunctionProvider(script), tools=tools) as b:
        await b.engine.recover()
        await b.engine.join(row.id)
        assert work_log(tmp_path) == ["c1"]
        is_back = True
        await b.engine.submit(row.id, epoch=(await b.service.row(row.id)).epoch)
        assert (await b.service.wait(row.id)).status == "complete"
    assert work_log(tmp_path) == ["c1"]
