"""The web's cache in the store: by age since the fetch, within its budget, gone when erased."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from inglenook.messages import Label
from inglenook.store.base import CacheEntry
from inglenook.store.sqlite import SqliteStore
from tests.store.rows import finished_run

T0 = datetime(2031, 2, 3, 12, tzinfo=UTC)
LONG_AGO = T0 - timedelta(days=30)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[SqliteStore, None]:
    store = SqliteStore(tmp_path)
    yield store
    await store.close()


async def put(
    store: SqliteStore,
    key: str,
    value: bytes = b"value",
    *,
    kind: str = "page",
    at: datetime = T0,
    labels: tuple[Label, ...] = (),
    max_bytes: int = 1_000,
    since: datetime = LONG_AGO,
) -> None:
    await store.cache_put(
        kind, key, value, fetched_at=at, labels=labels, max_bytes=max_bytes, since=since
    )


async def keys(store: SqliteStore, *names: str) -> list[str]:
    found = [(name, await store.cache_get("page", name, since=LONG_AGO)) for name in names]
    return [name for name, entry in found if entry is not None]


async def test_an_entry_comes_back_as_it_was_put(store: SqliteStore):
    await put(store, "https://a/?q=\ud800é", b"\x00\xff", labels=("untrusted", "private"))
    found = await store.cache_get("page", "https://a/?q=\ud800é", since=T0)
    assert found == CacheEntry(value=b"\x00\xff", fetched_at=T0, labels=("private", "untrusted"))


async def test_kinds_and_keys_are_apart(store: SqliteStore):
    await put(store, "k", b"a page")
    await put(store, "k", b"a search", kind="search")
    page = await store.cache_get("page", "k", since=LONG_AGO)
    assert page is not None
    assert page.value == b"a page"
    assert await store.cache_get("page", "K", since=LONG_AGO) is None
    assert await store.cache_get("report", "k", since=LONG_AGO) is None


async def test_what_is_put_again_takes_the_place_of_what_was(store: SqliteStore):
    await put(store, "k", b"old", labels=("private",))
    await put(store, "k", b"new", at=T0 + timedelta(hours=1))
    found = await store.cache_get("page", "k", since=LONG_AGO)
    assert found == CacheEntry(value=b"new", fetched_at=T0 + timedelta(hours=1))


async def test_what_is_too_old_is_not_found_and_goes_with_the_next_that_comes(store: SqliteStore):
    await put(store, "old", at=T0 - timedelta(days=3))
    since = T0 - timedelta(days=2)
    assert await store.cache_get("page", "old", since=since) is None
    assert await keys(store, "old") == ["old"], "it was only not to be used"
    await put(store, "new", since=since)
    assert await keys(store, "old", "new") == ["new"]


async def test_reading_makes_nothing_younger(store: SqliteStore):
    for n in range(3):
        await put(store, str(n), bytes(10), at=T0 + timedelta(minutes=n), max_bytes=30)
    assert await keys(store, "0") == ["0"]
    await put(store, "3", bytes(10), at=T0 + timedelta(minutes=3), max_bytes=30)
    assert await keys(store, "0", "1", "2", "3") == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("size", "left"),
    [(70, ["0", "1", "2", "new"]), (71, ["1", "2", "new"]), (91, ["new"]), (101, [])],
)
async def test_the_oldest_go_until_the_budget_holds_the_rest(
    store: SqliteStore, size: int, left: list[str]
):
    for n in range(3):
        await put(store, str(n), bytes(10), at=T0 + timedelta(minutes=n), max_bytes=100)
    await put(store, "new", bytes(size), at=T0 + timedelta(hours=1), max_bytes=100)
    assert await keys(store, "0", "1", "2", "new") == left


async def test_entries_of_one_moment_are_within_the_budget_too(store: SqliteStore):
    for n in range(20):
        await put(store, str(n), bytes(10), max_bytes=45)
    assert await keys(store, *map(str, range(20))) == ["16", "17", "18", "19"]


async def test_what_a_run_fetched_goes_when_it_is_erased_and_nothing_else(
    tmp_path: Path, store: SqliteStore
):
    canary = "CANARY-77aa"
    before = datetime.now(UTC) - timedelta(hours=1)
    await put(store, "before", b"kept", at=before, since=before)
    await finished_run(store, "run_1")
    run = await store.get_run("run_1")
    assert run is not None
    assert run.finished_at is not None
    for key, at in (("first", run.created_at), ("last", run.finished_at)):
        await put(store, f"{key} {canary}", canary.encode(), at=at, since=before)
    await put(store, "after", b"kept", at=run.finished_at + timedelta(seconds=1), since=before)
    await store.erase("run_1")
    for key in ("before", "after"):
        assert await store.cache_get("page", key, since=before) is not None
    assert_nowhere(tmp_path, canary)


def assert_nowhere(folder: Path, canary: str) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            assert canary.encode() not in path.read_bytes(), path


async def test_a_key_is_not_on_the_disk_in_words(tmp_path: Path, store: SqliteStore):
    await put(store, "what CANARY-1 asked")
    await store.close()
    assert_nowhere(tmp_path, "CANARY-1")
