"""Runs in a store of their own, for what is tested about it."""

from datetime import UTC, datetime

from inglenook.events import RunEvent, RunFinished, RunStarted, Versions
from inglenook.run_request import RunPermissions
from inglenook.store.base import Committed, RunLog, RunRow, StoredEvent
from inglenook.store.sqlite import SqliteStore
from tests.support import ask


def row(id: str = "run_1") -> RunRow:
    return RunRow(
        id=id,
        session=None,
        parent=None,
        user=None,
        title="t",
        model="m",
        strategy="assistant@1",
        status="queued",
        reason=None,
        explanation=None,
        created_at=datetime.now(UTC),
        finished_at=None,
        owner=None,
        epoch=0,
        lease_until=None,
    )


def started() -> RunStarted:
    return RunStarted(
        request=ask(),
        model="m",
        versions=Versions(strategy="assistant@1", scheduler="s", context="c"),
        permissions=RunPermissions(),
        today="2031-02-03",
    )


def ignore(_: StoredEvent) -> None: ...


async def claimed(
    store: SqliteStore, row: RunRow, owner: str = "me", *, committed: Committed = ignore
) -> RunLog:
    claim = await store.claim(row.id, owner, committed, epoch=row.epoch)
    assert claim is not None
    return claim.log


FINISHED = RunFinished(status="complete", explanation="Done.", answer="yes")


async def finished_run(store: SqliteStore, id: str, *events: RunEvent) -> None:
    log = await claimed(store, await store.create_run(row(id), started()))
    for event in (*events, FINISHED):
        log.append(event)
    await log.settle()
