"""The event log's promises: order, durability, one writer, a chain that shows every change."""

import contextlib
import errno
import os
import sqlite3
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from inglenook.errors import LeaseLost, StoreError
from inglenook.events import (
    ModelReplied,
    StepStarted,
    ToolFinished,
    decode,
)
from inglenook.messages import Message, ToolCall
from inglenook.store.base import StoredEvent
from inglenook.store.sqlite import SqliteStore
from tests.store.rows import FINISHED, claimed, finished_run, ignore, row, started


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[SqliteStore, None]:
    store = SqliteStore(tmp_path)
    yield store
    await store.close()


def database(tmp_path: Path) -> sqlite3.Connection:
    return sqlite3.connect(tmp_path / "inglenook.db", isolation_level=None)


async def test_events_come_back_numbered_without_gaps_and_equal(store: SqliteStore):
    seen: list[StoredEvent] = []
    first = await store.create_run(row(), started())
    log = await claimed(store, first, committed=seen.append)
    events = [StepStarted(step=n, remaining=9) for n in range(1, 51)]
    for event in events:
        log.append(event)
    await log.settle()
    stored = await store.read("run_1")
    assert [event.seq for event in stored] == list(range(51))
    assert [decode(event.payload or b"") for event in stored[1:]] == events
    assert [event.seq for event in seen] == list(range(1, 51))


@pytest.mark.parametrize("text", ["a\0b", "\ud800 lone", "é漢😀", "\u2028", "x" * 2_000_000])
async def test_any_text_round_trips(store: SqliteStore, text: str):
    event = ToolFinished(call=ToolCall(id="1", name="t", arguments={"a": text}), result=text)
    await finished_run(store, "run_1", event)
    assert decode((await store.read("run_1"))[1].payload or b"") == event


async def test_an_older_lease_can_append_nothing(store: SqliteStore):
    first = await store.create_run(row(), started())
    zombie = await claimed(store, first, "zombie")
    current = await store.get_run("run_1")
    assert current is not None
    heir = await claimed(store, current, "heir")
    heir.append(StepStarted(step=1, remaining=1))
    await heir.settle()
    zombie.append(StepStarted(step=99, remaining=1))
    with pytest.raises(LeaseLost):
        await zombie.settle()
    with pytest.raises(LeaseLost):
        zombie.append(FINISHED)
    assert len(await store.read("run_1")) == 2


async def test_of_two_claims_on_one_epoch_only_one_wins(store: SqliteStore):
    first = await store.create_run(row(), started())
    await claimed(store, first, "one")
    with pytest.raises(LeaseLost):
        await claimed(store, first, "two")


async def test_a_claim_brings_what_the_log_holds(store: SqliteStore):
    log = await claimed(store, await store.create_run(row(), started()))
    log.append(StepStarted(step=1, remaining=9))
    await log.settle()
    claim = await store.claim("run_1", "heir", ignore)
    assert claim is not None
    assert [event.type for event in claim.events] == ["run_started", "step_started"]
    assert (claim.row.status, claim.row.owner, claim.log.epoch) == ("running", "me", 2)


async def test_an_ended_run_or_none_cannot_be_claimed(store: SqliteStore):
    await finished_run(store, "run_1")
    assert await store.claim("run_1", "me", ignore) is None
    assert await store.claim("run_2", "me", ignore) is None


async def test_a_released_run_is_nobodys_and_says_why_until_it_is_taken_up(store: SqliteStore):
    log = await claimed(store, await store.create_run(row(), started()))
    await store.release("run_1", log.epoch, "The model is away.")
    [free] = await store.unfinished_runs()
    assert (free.status, free.owner, free.explanation) == ("running", None, "The model is away.")
    await claimed(store, free, "heir")
    [held] = await store.unfinished_runs()
    assert (held.owner, held.explanation) == ("heir", None)


async def test_an_older_lease_can_release_nothing(store: SqliteStore):
    first = await store.create_run(row(), started())
    zombie = await claimed(store, first, "zombie")
    await claimed(store, replace(first, epoch=zombie.epoch), "heir")
    await store.release("run_1", zombie.epoch, "gone")
    [held] = await store.unfinished_runs()
    assert (held.owner, held.explanation) == ("heir", None)


async def test_an_idempotency_key_gives_the_first_run_again(store: SqliteStore):
    first = await store.create_run(row("run_1"), started(), idempotency_key="k")
    again = await store.create_run(row("run_2"), started(), idempotency_key="k")
    assert again.id == first.id
    assert await store.get_run("run_2") is None


async def test_the_row_follows_the_log(store: SqliteStore):
    await finished_run(store, "run_1")
    found = await store.get_run("run_1")
    assert found is not None
    assert (found.status, found.explanation, found.owner) == ("complete", "Done.", None)
    assert found.finished_at is not None


async def test_pages_of_runs_hold_each_run_once_newest_first(store: SqliteStore):
    for n in range(7):
        await store.create_run(row(f"run_{n}"), started())
    seen: list[str] = []
    cursor = None
    while True:
        rows, cursor = await store.list_runs(limit=3, cursor=cursor)
        seen += [r.id for r in rows]
        if cursor is None:
            break
    assert seen == [f"run_{n}" for n in reversed(range(7))]


async def test_inbox_items_are_taken_once_and_only_by_their_runs_holder(store: SqliteStore):
    for id in ("run_1", "run_2"):
        await store.create_run(row(id), started())
    await store.post("run_1", "cancel", {})
    await store.post("run_2", "cancel", {"why": "x"})
    assert [item.run_id for item in await store.take(["run_1"])] == ["run_1"]
    assert await store.take(["run_1"]) == []
    assert [item.payload for item in await store.take(["run_2"])] == [{"why": "x"}]


async def test_the_inbox_of_a_run_goes_with_its_end(store: SqliteStore):
    log = await claimed(store, await store.create_run(row(), started()))
    await store.post("run_1", "cancel", {})
    log.append(FINISHED)
    await log.settle()
    await store.post("run_1", "cancel", {})  # by somebody who has not seen the end
    assert await store.take(["run_1"]) == []


async def test_what_is_written_to_no_run_is_dropped(store: SqliteStore):
    await store.post("run_1", "cancel", {})
    await store.create_run(row(), started())
    assert await store.take(["run_1"]) == []


@dataclass
class CountedSync:
    """The disk's sync, counted; `error` is what it says instead."""

    calls: int = 0
    error: OSError | None = None

    def __call__(self, descriptor: int) -> None:
        self.calls += 1
        if self.error is not None:
            raise self.error
        os.fsync(descriptor)


@pytest.fixture
async def synced(tmp_path: Path) -> AsyncGenerator[tuple[SqliteStore, CountedSync], None]:
    sync = CountedSync()
    store = SqliteStore(tmp_path, fsync=sync)
    yield store, sync
    await store.close()


async def test_what_was_stored_without_a_sync_is_synced_when_somebody_asks(
    synced: tuple[SqliteStore, CountedSync],
):
    store, sync = synced
    log = await claimed(store, await store.create_run(row(), started()))
    log.append(StepStarted(step=1, remaining=9))
    await log.settle()
    assert sync.calls == 0
    await log.settle(sync=True)
    assert sync.calls == 1, "the commit lay in the system's memory alone"
    await log.settle(sync=True)
    assert sync.calls == 1, "nothing came since"


async def test_a_run_that_another_process_wrote_is_synced_too(
    tmp_path: Path, synced: tuple[SqliteStore, CountedSync]
):
    store, sync = synced
    other = SqliteStore(tmp_path)
    await other.create_run(row(), started())
    log = await claimed(store, row())
    await log.settle(sync=True)
    assert sync.calls == 1
    await other.close()


async def test_a_commit_that_is_synced_itself_takes_those_before_along(
    synced: tuple[SqliteStore, CountedSync],
):
    store, sync = synced
    log = await claimed(store, await store.create_run(row(), started()))
    log.append(StepStarted(step=1, remaining=9))
    await log.settle(sync=True)
    await log.settle(sync=True)
    assert sync.calls == 0


async def test_a_sync_that_fails_is_an_error_and_no_success(
    synced: tuple[SqliteStore, CountedSync],
):
    store, sync = synced
    log = await claimed(store, await store.create_run(row(), started()))
    sync.error = OSError(errno.EIO, "Input/output error")
    with pytest.raises(StoreError, match=r"cannot be synced .*Input/output error"):
        await log.settle(sync=True)
    with pytest.raises(StoreError):
        log.append(FINISHED)


async def test_an_untouched_log_verifies(store: SqliteStore):
    for n in range(3):
        await finished_run(store, f"run_{n}", StepStarted(step=1, remaining=0))
    report = await store.verify()
    assert (report.runs, report.events, report.problems) == (3, 9, ())


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE events SET payload = replace(payload, 'yes', 'no') WHERE type = 'run_finished'",
        "UPDATE events SET at = '2000-01-01T00:00:00.000Z' WHERE seq = 1",
        "UPDATE events SET type = 'step_started' WHERE type = 'run_finished'",
        "DELETE FROM events WHERE seq = 1",
        "DELETE FROM events WHERE seq = 2",
        "DELETE FROM events WHERE seq = 0",
        "DELETE FROM events; DELETE FROM runs",
        "DELETE FROM events WHERE seq = 2; UPDATE runs SET status = 'running'",
        "UPDATE events SET seq = 9 WHERE seq = 2",
        "UPDATE seals SET seq = 1",
        "DELETE FROM seals",
    ],
)
async def test_every_change_to_the_log_is_found(tmp_path: Path, store: SqliteStore, change: str):
    await finished_run(store, "run_1", StepStarted(step=1, remaining=0))
    database(tmp_path).executescript(change)
    assert (await store.verify()).problems


async def test_erasing_removes_the_text_from_the_disk_and_the_chain_still_holds(
    tmp_path: Path, store: SqliteStore
):
    canary = "CANARY-7f3a"
    reply = ModelReplied(step=1, ordinal=0, message=Message(role="assistant", text=canary))
    await finished_run(store, "run_1", reply)
    assert await store.erase("run_1") == 3
    report = await store.verify()
    assert (report.erased, report.problems) == (3, ())
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert canary.encode() not in path.read_bytes(), path
    [_, erased, _] = await store.read("run_1")
    assert erased.payload is None
    assert b'"erased":true' in erased.json()


async def test_a_full_disk_is_named_and_loses_nothing_that_was_stored(
    tmp_path: Path, store: SqliteStore
):
    log = await claimed(store, await store.create_run(row(), started()))
    log.append(StepStarted(step=1, remaining=1))
    await log.settle()
    pages = await store._writer.call(  # pyright: ignore[reportPrivateUsage]
        lambda db: db.execute(
            f"PRAGMA max_page_count = {db.execute('PRAGMA page_count').fetchone()[0]}"
        ).fetchone()
    )
    assert pages
    log.append(ToolFinished(call=ToolCall(id="1", name="t", arguments={}), result="x" * 10**6))
    with pytest.raises(StoreError, match=r"disk cannot take more .*free some space"):
        await log.settle()
    assert [event.type for event in await store.read("run_1")] == ["run_started", "step_started"]
    assert (await store.verify()).problems == ()


async def test_a_database_held_by_another_program_is_named(
    tmp_path: Path, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
):
    await store._writer.call(  # pyright: ignore[reportPrivateUsage]
        lambda db: db.execute("PRAGMA busy_timeout = 50")
    )
    other = database(tmp_path)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreError, match="held by another program"):
        await store.create_run(row(), started())
    other.execute("ROLLBACK")
    await store.create_run(row(), started())


async def test_a_newer_database_is_refused(tmp_path: Path):
    await SqliteStore(tmp_path).close()
    database(tmp_path).execute("PRAGMA user_version = 999")
    with pytest.raises(StoreError, match="newer version"):
        SqliteStore(tmp_path)


async def test_one_commit_holds_what_many_runs_append_together(store: SqliteStore):
    logs = [
        await claimed(store, await store.create_run(row(f"run_{n}"), started())) for n in range(20)
    ]
    statements: list[str] = []
    await store._writer.call(  # pyright: ignore[reportPrivateUsage]
        lambda db: db.set_trace_callback(statements.append)
    )
    statements.clear()  # that call's own commit
    for log in logs:
        log.append(StepStarted(step=1, remaining=1))
    for log in logs:
        await log.settle()
    assert sum(statement.startswith("INSERT") for statement in statements) == 20
    assert statements.count("COMMIT") == 1


async def test_a_write_that_cannot_be_stored_fails_alone(store: SqliteStore):
    log = await claimed(store, await store.create_run(row(), started()))
    log.append(StepStarted(step=1, remaining=1))
    bad = row("run_bad")
    object.__setattr__(bad, "model", object())  # no column takes this
    store.flush()
    with pytest.raises(StoreError, match="cannot be stored|failed"):
        await store.create_run(bad, started())
    log.append(StepStarted(step=2, remaining=0))
    await log.settle()
    assert [event.seq for event in await store.read("run_1")] == [0, 1, 2]
    assert (await store.verify()).problems == ()


@pytest.mark.parametrize("field", ["title", "session", "user", "model"])
async def test_lone_surrogates_in_a_row_end_as_an_error_or_a_replacement(
    store: SqliteStore, field: str
):
    odd = row()
    object.__setattr__(odd, field, "\ud800")
    with contextlib.suppress(StoreError):
        await store.create_run(odd, started())
    await store.create_run(row("run_2"), started())
    assert await store.get_run("run_2") is not None
