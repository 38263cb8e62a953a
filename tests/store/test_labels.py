"""What a run has read stands on its row as soon as it stands in its log."""

import sqlite3
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest

from inglenook.events import StepStarted, ToolFinished
from inglenook.messages import Label, ToolCall
from inglenook.store.migrations import MIGRATIONS
from inglenook.store.sqlite import SqliteStore
from tests.store.rows import claimed, row, started


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[SqliteStore, None]:
    store = SqliteStore(tmp_path)
    yield store
    await store.close()


def read(*labels: Label) -> ToolFinished:
    return ToolFinished(call=ToolCall(id="1", name="t", arguments={}), result="r", labels=labels)


async def labels_of(store: SqliteStore, id: str) -> tuple[Label, ...]:
    found = await store.get_run(id)
    assert found is not None
    return found.labels


async def test_the_labels_of_a_run_only_grow(store: SqliteStore):
    inherited = started().model_copy(update={"labels": ("untrusted",)})
    first = await store.create_run(row(), inherited)
    assert first.labels == ("untrusted",)
    log = await claimed(store, first)
    steps = (StepStarted(step=1, remaining=1), read(), read("private"), read("untrusted"))
    for event in steps:
        log.append(event)
        await log.settle()
    assert await labels_of(store, "run_1") == ("private", "untrusted")


async def test_a_conversation_has_read_what_its_runs_and_their_children_have(store: SqliteStore):
    runs: list[tuple[str, str | None, str, str | None, Label | None]] = [
        ("run_1", "s", "ada", None, None),
        ("run_2", "s", "ada", "run_1", "untrusted"),
        ("run_3", "s", "bob", None, "private"),
        ("run_4", "t", "ada", None, "private"),
        ("run_5", None, "ada", None, "private"),
    ]
    for id, session, user, parent, label in runs:
        new = replace(row(id), session=session, user=user, parent=parent)
        log = await claimed(store, await store.create_run(new, started()))
        if label:
            log.append(read(label))
        await log.settle()
    assert await store.session_labels("s", user="ada") == ("untrusted",)
    assert await store.session_labels("s") == ("private", "untrusted")
    assert await store.session_labels("nobody's") == ()


async def test_erasing_a_run_leaves_what_its_conversation_has_read(store: SqliteStore):
    log = await claimed(store, await store.create_run(replace(row(), session="s"), started()))
    log.append(read("private"))
    await log.settle()
    await store.erase("run_1")
    assert await store.session_labels("s") == ("private",)


async def test_a_home_of_an_earlier_version_has_runs_without_labels(tmp_path: Path):
    db = sqlite3.connect(tmp_path / "inglenook.db", isolation_level=None)
    MIGRATIONS[0](db)
    db.execute("PRAGMA user_version = 1")
    db.execute(
        "INSERT INTO runs (id, title, model, strategy, status, created_at)"
        " VALUES ('old', 't', 'm', 's', 'queued', '2030-01-01T00:00:00.000Z')"
    )
    db.close()
    (tmp_path / "key").write_bytes(bytes(32))
    store = SqliteStore(tmp_path)
    assert await labels_of(store, "old") == ()
    await store.close()
