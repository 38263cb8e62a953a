"""Approvals in the store: asked once, decided once, and never pending when nobody waits."""

import asyncio
import json
import os
import signal
import sys
from collections import Counter
from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from inglenook.errors import Conflict, NotFound
from inglenook.events import RunFinished
from inglenook.store.base import AlreadyDecided, ApprovalRow, ApprovalStatus
from inglenook.store.sqlite import SqliteStore
from tests.store.rows import FINISHED, claimed, finished_run, row, started

NOW = datetime(2031, 2, 3, 12, tzinfo=UTC)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[SqliteStore, None]:
    store = SqliteStore(tmp_path)
    yield store
    await store.close()


def question(run_id: str = "run_1", call_id: str = "call_1", root_id: str = "run_1") -> ApprovalRow:
    return ApprovalRow(
        run_id=run_id,
        call_id=call_id,
        root_id=root_id,
        request={"call": {"name": "web_search", "arguments": {"query": "ö \ud800 'q"}}, "n": [1]},
        sha256="abc",
        created_at=NOW,
        expires_at=NOW + timedelta(hours=1),
    )


async def asked(store: SqliteStore, id: str = "run_1", user: str | None = None) -> ApprovalRow:
    await store.create_run(replace(row(id), user=user), started())
    return await store.ask_approval(question(id, root_id=id))


async def test_a_question_comes_back_as_it_was_asked(store: SqliteStore):
    stored = await asked(store)
    assert stored == question()
    assert await store.get_approval("run_1", "call_1") == question()
    assert await store.get_approval("run_1", "call_2") is None


async def test_a_question_that_is_asked_again_stands_as_it_was_decided(store: SqliteStore):
    await asked(store)
    decided = await store.decide_approval(
        "run_1", "call_1", status="edited", arguments={"query": "x"}, by="ada", now=NOW
    )
    assert (decided.status, decided.arguments, decided.by) == ("edited", {"query": "x"}, "ada")
    assert decided.decided_at == NOW
    assert await store.ask_approval(question()) == decided


@pytest.mark.parametrize("status", ["approved", "edited", "denied", "timed_out", "expired"])
async def test_what_was_decided_stays_and_is_told_to_who_comes_later(
    store: SqliteStore, status: ApprovalStatus
):
    await asked(store)
    first = await store.decide_approval("run_1", "call_1", status=status, by="ada", now=NOW)
    for other in ("approved", "denied", "timed_out"):
        with pytest.raises(AlreadyDecided, match=f"'call_1' .* is {status} already") as error:
            await store.decide_approval("run_1", "call_1", status=other, by="eve", now=NOW)
        assert error.value.row == first
        assert isinstance(error.value, Conflict)
    assert await store.get_approval("run_1", "call_1") == first


async def test_after_its_time_a_call_can_only_time_out(store: SqliteStore):
    late = (await asked(store)).expires_at
    for status in ("approved", "edited", "denied"):
        with pytest.raises(AlreadyDecided, match="ran out at 2031-02-03T13:00:00") as error:
            await store.decide_approval("run_1", "call_1", status=status, now=late)
        assert error.value.row.status == "pending"
    timed_out = await store.decide_approval("run_1", "call_1", status="timed_out", now=late)
    assert timed_out.status == "timed_out"


async def test_a_call_that_nobody_asked_about_cannot_be_decided(store: SqliteStore):
    await asked(store)
    with pytest.raises(NotFound, match="'call_2'"):
        await store.decide_approval("run_1", "call_2", status="approved", now=NOW)


async def test_those_whose_time_ran_out_are_due_and_no_others(store: SqliteStore):
    for n, minutes in enumerate((30, 10, 20)):
        await store.create_run(row(f"run_{n}"), started())
        asked = replace(question(f"run_{n}"), expires_at=NOW + timedelta(minutes=minutes))
        await store.ask_approval(asked)
    await store.decide_approval("run_2", "call_1", status="denied", now=NOW)
    due = await store.due_approvals(NOW + timedelta(minutes=20))
    assert [each.run_id for each in due] == ["run_1"]
    later = await store.due_approvals(NOW + timedelta(days=1))
    assert [each.run_id for each in later] == ["run_1", "run_0"]


async def test_lists_are_by_status_by_family_and_by_the_top_runs_user(store: SqliteStore):
    await asked(store, "run_a", user="ada")
    await asked(store, "run_b", user="bob")
    await store.create_run(replace(row("run_c"), parent="run_a"), started())
    await store.ask_approval(question("run_c", root_id="run_a"))
    await store.decide_approval("run_a", "call_1", status="approved", now=NOW)

    async def ids(status: ApprovalStatus | None = None, **by: str) -> list[str]:
        return [each.run_id for each in await store.list_approvals(status, **by)]

    assert await ids() == ["run_a", "run_b", "run_c"]
    assert await ids("pending") == ["run_b", "run_c"]
    assert await ids(user="ada") == ["run_a", "run_c"]
    assert await ids("pending", user="eve") == []
    assert await ids("approved", root_id="run_a") == ["run_a"]


async def test_what_is_pending_expires_with_its_run_and_its_parents(store: SqliteStore):
    log = await claimed(store, await store.create_run(row("run_1"), started()))
    await store.create_run(replace(row("run_2"), parent="run_1"), started())
    await asked(store, "run_3")
    for run_id, call_id in (("run_1", "a"), ("run_1", "b"), ("run_2", "c")):
        await store.ask_approval(question(run_id, call_id))
    await store.decide_approval("run_1", "a", status="approved", now=NOW)
    log.append(RunFinished(status="cancelled", reason="cancelled_by_user", explanation="Stop."))
    await log.settle()
    found = {each.call_id: each for each in await store.list_approvals()}
    statuses = {call: each.status for call, each in found.items()}
    assert statuses == {"a": "approved", "b": "expired", "c": "expired", "call_1": "pending"}
    assert found["b"].decided_at is not None


async def test_a_run_that_has_ended_can_ask_nobody(store: SqliteStore):
    await finished_run(store, "run_1")
    assert (await store.ask_approval(question())).status == "expired"
    with pytest.raises(AlreadyDecided):
        await store.decide_approval("run_1", "call_1", status="approved", now=NOW)


async def test_of_a_hundred_decisions_at_once_exactly_one_is_taken(store: SqliteStore):
    await asked(store)

    async def decide(n: int) -> str:
        status: ApprovalStatus = ("approved", "edited", "denied", "timed_out")[n % 4]
        try:
            row = await store.decide_approval("run_1", "call_1", status=status, by=str(n), now=NOW)
        except AlreadyDecided as error:
            return f"lost to {error.row.by}"
        return f"won as {row.by}"

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(decide(n)) for n in range(100)]
    told = Counter(task.result() for task in tasks)
    stored = await store.get_approval("run_1", "call_1")
    assert stored is not None
    assert told == {f"won as {stored.by}": 1, f"lost to {stored.by}": 99}


DECIDER = """
import asyncio, json, sys
from datetime import datetime
from pathlib import Path
from inglenook.store.base import AlreadyDecided
from inglenook.store.sqlite import SqliteStore

async def main(home, by, now, calls):
    store = SqliteStore(Path(home))
    print("ready", flush=True)
    sys.stdin.readline()
    won = []
    for n in range(int(calls)):
        try:
            await store.decide_approval(
                "run_1", str(n), status="approved", by=by, now=datetime.fromisoformat(now)
            )
            won.append(n)
        except AlreadyDecided:
            pass
    print(json.dumps(won), flush=True)
    sys.stdin.readline()

asyncio.run(main(*sys.argv[1:]))
"""


async def decider(home: Path, by: str, calls: int) -> asyncio.subprocess.Process:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", DECIDER, str(home), by, NOW.isoformat(), str(calls),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    assert await process.stdout.readline() == b"ready\n"
    return process


async def won_by(process: asyncio.subprocess.Process) -> list[int]:
    assert process.stdout is not None
    return json.loads(await process.stdout.readline())


def go(process: asyncio.subprocess.Process) -> None:
    assert process.stdin is not None
    process.stdin.write(b"\n")


async def test_two_processes_decide_no_call_twice(tmp_path: Path, store: SqliteStore):
    await store.create_run(row(), started())
    for n in range(30):
        await store.ask_approval(question(call_id=str(n)))
    deciders = [await decider(tmp_path, by, 30) for by in ("one", "two")]
    for each in deciders:
        go(each)
    one, two = [await won_by(each) for each in deciders]
    for each in deciders:
        go(each)
        await each.wait()
    assert sorted(one + two) == list(range(30))
    by = {int(each.call_id): each.by for each in await store.list_approvals("approved")}
    assert by == {**dict.fromkeys(one, "one"), **dict.fromkeys(two, "two")}


async def test_a_decision_is_there_after_its_process_was_killed(tmp_path: Path, store: SqliteStore):
    await store.create_run(row(), started())
    await store.ask_approval(question(call_id="0"))
    process = await decider(tmp_path, "killed", 1)
    go(process)
    assert await won_by(process) == [0]
    os.kill(process.pid, signal.SIGKILL)
    await process.wait()
    found = await store.get_approval("run_1", "0")
    assert found is not None
    assert (found.status, found.by) == ("approved", "killed")


async def test_questions_and_decisions_are_on_the_disk_itself(store: SqliteStore):
    statements: list[str] = []
    await store.create_run(row(), started())
    await store._writer.call(  # pyright: ignore[reportPrivateUsage]
        lambda db: db.set_trace_callback(statements.append), sync=False
    )
    await store.ask_approval(question())
    assert "PRAGMA synchronous = FULL" in statements
    await store.create_run(row("run_2"), started())
    statements.clear()
    await store.decide_approval("run_1", "call_1", status="denied", now=NOW)
    assert "PRAGMA synchronous = FULL" in statements


async def test_erasing_a_run_takes_what_was_to_be_sent_and_leaves_that_it_was_decided(
    tmp_path: Path, store: SqliteStore
):
    canary = "CANARY-51c0"
    log = await claimed(store, await store.create_run(row(), started()))
    await store.create_run(replace(row("run_2"), parent="run_1"), started())
    for run_id in ("run_1", "run_2"):
        await store.ask_approval(replace(question(run_id), request={"query": canary}))
    await store.decide_approval(
        "run_1", "call_1", status="edited", arguments={"query": canary}, by="ada", now=NOW
    )
    log.append(FINISHED)
    await log.settle()
    await store.erase("run_1")
    mine, childs = await store.list_approvals(root_id="run_1")
    assert (mine.status, mine.by, mine.request, mine.arguments) == ("edited", "ada", {}, None)
    assert (childs.status, childs.request, childs.sha256) == ("expired", {}, "")
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert canary.encode() not in path.read_bytes(), path
