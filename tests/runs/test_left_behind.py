"""Nothing of a run stays in memory or in its inbox once it is over, however that came."""

import asyncio
import sqlite3
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path

import pytest

from inglenook.egress import Egress
from inglenook.errors import CredentialNeeded, StoreError
from inglenook.knowledge.base import Retriever
from inglenook.store.base import InboxItem, StoredEvent
from tests.support import (
    Bench,
    EchoTool,
    FunctionProvider,
    NoKnowledge,
    ask,
    bench,
    call,
    replies,
    say,
)

KEY = "sk-canary"


class LockedKnowledge(NoKnowledge):
    """Opens with the right key alone; what a run starts with is checked elsewhere."""

    def __init__(self) -> None:
        self.opened = 0

    async def open(
        self,
        knowledge_ids: Sequence[str],
        credential: str | None = None,
        egress: Egress | None = None,
    ) -> Retriever:
        self.opened += 1
        if self.opened > 1 and credential != "good":
            raise CredentialNeeded("the key is wrong")
        return await super().open(knowledge_ids, credential)


def fill_disk(home: Path, *, is_full: bool) -> None:
    """Have every write fail as on a full disk, or none any more."""
    database = sqlite3.connect(home / "inglenook.db", isolation_level=None)
    if is_full:
        database.execute(
            "CREATE TRIGGER full BEFORE INSERT ON events BEGIN"
            " SELECT RAISE(FAIL, 'database or disk is full'); END"
        )
    else:
        database.execute("DROP TRIGGER full")
    database.close()


def live_runs(b: Bench) -> list[str]:
    return list(b.supervisor._broadcast._live)  # pyright: ignore[reportPrivateUsage]


async def at_work(provider: FunctionProvider) -> None:
    async with asyncio.timeout(60):
        while not provider.views:
            await asyncio.sleep(0.01)


async def test_a_run_that_could_not_be_stored_leaves_no_key(tmp_path: Path):
    async with bench(tmp_path, replies(say("x"))) as b:
        fill_disk(tmp_path, is_full=True)
        with pytest.raises(StoreError):
            await b.service.start(ask(), credential=KEY)
        assert b.credentials == {}


async def test_a_repeated_start_leaves_no_second_key(tmp_path: Path):
    async with bench(tmp_path, FunctionProvider(lambda _: say("x"), delay_s=60)) as b:
        first = await b.service.start(ask(), credential=KEY, idempotency_key="k")
        await b.service.start(ask(), credential=KEY, idempotency_key="k")
        assert b.credentials == {first.id: KEY}


async def test_a_key_is_dropped_when_its_run_ends_or_is_stopped(tmp_path: Path):
    async with bench(tmp_path, replies(say("x"))) as b:
        row = await b.service.start(ask(), credential=KEY)
        await b.service.wait(row.id)
        assert b.credentials == {}
    provider = FunctionProvider(lambda _: say("late"), delay_s=60)
    async with bench(tmp_path, provider) as b:
        for turns in range(12):
            row = await b.service.start(ask(), credential=KEY)
            for _ in range(turns):
                await asyncio.sleep(0)
            await b.service.cancel(row.id)
            assert (await b.service.wait(row.id)).status == "cancelled"
            assert b.credentials == {}


async def test_a_key_that_opened_nothing_is_dropped_and_the_next_one_is_used(tmp_path: Path):
    async with bench(tmp_path, replies(say("x")), knowledge=LockedKnowledge()) as b:
        row = await b.service.start(ask(knowledge=("kb",)), credential="bad")
        assert (await b.service.wait(row.id)).status == "waiting"
        assert b.credentials == {}
        await b.service.give_credential(row.id, "good")
        assert (await b.service.wait(row.id)).status == "complete"
        assert b.credentials == {}


class HeldKnowledge(LockedKnowledge):
    """Takes no key before `is_open`, and says nothing of one before `go`."""

    def __init__(self) -> None:
        super().__init__()
        self.is_asked, self.go = asyncio.Event(), asyncio.Event()
        self.is_open = False

    async def open(
        self,
        knowledge_ids: Sequence[str],
        credential: str | None = None,
        egress: Egress | None = None,
    ) -> Retriever:
        if self.opened:
            self.is_asked.set()
            await self.go.wait()
        return await super().open(knowledge_ids, "good" if self.is_open else credential)


async def test_a_run_that_is_submitted_as_soon_as_it_waits_goes_on(tmp_path: Path):
    knowledge = HeldKnowledge()
    async with bench(tmp_path, replies(say("x")), knowledge=knowledge) as b:
        row = await b.service.start(ask(knowledge=("kb",)), credential="bad")
        async with aclosing(b.service.follow(row.id)) as frames:
            async for frame in frames:
                knowledge.go.set()  # this reader is there first, so it hears of the wait first
                if isinstance(frame, StoredEvent) and frame.type == "run_waiting":
                    break
        assert b.engine.executes(row.id), "its task has had no turn since"
        knowledge.is_open = True
        await b.engine.submit(row.id, epoch=1)
        assert (await b.service.wait(row.id)).status == "complete"


async def test_a_key_that_came_while_an_older_one_was_tried_is_kept(tmp_path: Path):
    knowledge = HeldKnowledge()
    async with bench(tmp_path, replies(say("x")), knowledge=knowledge) as b:
        row = await b.service.start(ask(knowledge=("kb",)), credential="bad")
        await knowledge.is_asked.wait()
        assert isinstance(b.credentials, dict)
        b.credentials[row.id] = "good"
        knowledge.go.set()
        assert (await b.service.wait(row.id)).status == "waiting"
        assert b.credentials == {row.id: "good"}
        await b.engine.submit(row.id, epoch=1)
        assert (await b.service.wait(row.id)).status == "complete"
        assert b.credentials == {}


async def test_a_stop_from_elsewhere_ends_a_run_that_begins_to_wait_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    knowledge = HeldKnowledge()
    async with bench(tmp_path, replies(say("x")), knowledge=knowledge) as b:
        row = await b.service.start(ask(knowledge=("kb",)), credential="bad")
        await knowledge.is_asked.wait()
        take = b.store.take

        async def take_slowly(run_ids: Sequence[str]) -> list[InboxItem]:
            if items := await take(run_ids):
                knowledge.go.set()
                await b.engine.join(row.id)
            return items

        monkeypatch.setattr(b.store, "take", take_slowly)
        await b.store.post(row.id, "cancel", {})
        async with asyncio.timeout(60):
            while (await b.service.row(row.id)).status != "cancelled":
                await asyncio.sleep(0.01)
        assert [e.type for e in await b.service.events(row.id)][-3:] == [
            "run_waiting",
            "run_resumed",
            "run_finished",
        ]


async def test_a_key_goes_with_a_run_that_another_process_took_over(tmp_path: Path):
    provider = FunctionProvider(lambda _: say("", call("echo")))
    tool = EchoTool(delay_s=60)
    async with (
        bench(tmp_path, provider, tools=[tool]) as b,
        bench(tmp_path, replies(say("x"))) as thief,
    ):
        row = await b.service.start(ask(), credential=KEY)
        async with asyncio.timeout(60):
            while not tool.calls:
                await asyncio.sleep(0.01)
        held = await b.service.row(row.id)
        assert await thief.store.claim(row.id, "thief", lambda _: None, epoch=held.epoch)
        await b.engine.cancel(row.id)
        await b.engine.join(row.id)
        assert b.credentials == {}
        assert live_runs(b) == []


async def test_a_run_that_stands_still_is_not_kept_as_live(tmp_path: Path):
    provider = FunctionProvider(lambda _: say("", call("echo")))
    go = asyncio.Event()
    tool = EchoTool(go=go)
    async with bench(tmp_path, provider, tools=[tool]) as b:
        row = await b.service.start(ask())
        async with asyncio.timeout(60):
            while not tool.calls:
                await asyncio.sleep(0.01)
        assert live_runs(b) == [row.id]
        fill_disk(tmp_path, is_full=True)
        go.set()
        await b.engine.join(row.id)
        assert (await b.service.row(row.id)).finished_at is None
        assert live_runs(b) == []


async def test_a_stop_that_could_not_be_stored_is_done_at_the_next_try(tmp_path: Path):
    provider = FunctionProvider(lambda _: say("never asked again"), delay_s=60)
    async with bench(tmp_path, provider) as b:
        row = await b.service.start(ask())
        await at_work(provider)
        fill_disk(tmp_path, is_full=True)
        await b.engine.cancel(row.id)
        await b.engine.join(row.id)
        held = await b.service.row(row.id)
        assert held.finished_at is None
        fill_disk(tmp_path, is_full=False)
        await b.engine.submit(row.id, epoch=held.epoch)
        assert (await b.service.wait(row.id)).status == "cancelled"
        assert len(provider.views) == 1


async def test_a_run_that_stood_still_goes_on_in_the_same_process(tmp_path: Path):
    provider = FunctionProvider(lambda view: say("done") if len(view) > 2 else say("", call("e")))
    go = asyncio.Event()
    tool = EchoTool("e", go=go)
    async with bench(tmp_path, provider, tools=[tool]) as b:
        row = await b.service.start(ask())
        async with asyncio.timeout(60):
            while not tool.calls:
                await asyncio.sleep(0.01)
        fill_disk(tmp_path, is_full=True)
        go.set()
        await b.engine.join(row.id)
        fill_disk(tmp_path, is_full=False)
        await b.engine.submit(row.id, epoch=(await b.service.row(row.id)).epoch)
        assert (await b.service.wait(row.id)).status == "complete"
        assert (await b.service.verify()).problems == ()
