"""One knowledge base on disk: replaced whole, found by words and meaning, deleted to the byte."""

import sqlite3
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inglenook.errors import StoreError
from inglenook.knowledge.chunking import chunk, markdown_headings
from inglenook.knowledge.extract import Extracted
from inglenook.knowledge.index import DATABASE_NAME, VECTORS_NAME, FileStamp, Index, OtherDimensions
from inglenook.knowledge.ranking import POOL, ranked
from inglenook.knowledge.vectors import VectorFile
from tests.knowledge.fakes import WordEmbedder

STAMP = FileStamp(size_bytes=1, mtime_ns=1, sha256=b"x")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "handbook-1"


@pytest.fixture
def index(folder: Path) -> Iterator[Index]:
    Index.create(folder, "Handbook", "normal")
    index = Index(folder)
    yield index
    index.close()


def put(index: Index, path: str, text: str) -> str:
    chunks = tuple(chunk(text, markdown_headings(text)))
    return index.put(
        path=path, name=path, stamp=STAMP, document=Extracted(text=text, chunks=chunks)
    )


async def embed(index: Index, embedder: WordEmbedder, limit: int = 1000) -> None:
    index.use_embedder(embedder.id)
    chunks = index.pending(limit)
    vectors = await embedder.embed_passages([one.text for one in chunks])
    index.store_vectors([one.id for one in chunks], vectors)


async def found(index: Index, query: str, embedder: WordEmbedder | None = None) -> list[str]:
    """Names of the files found, best first."""
    vector = await embedder.embed_query(query) if embedder else None
    candidates = index.search.candidates(query, vector, embedder.id if embedder else None)
    best = ranked(candidates, 5)
    passages = index.search.passages({c.chunk_id: score for c, score in best})
    return [passage.file_name for passage in passages]


async def test_text_is_found_at_once_and_counted(index: Index):
    put(index, "a.md", "# Leave\n\nThirty days.")
    put(index, "b.md", "# Pay\n\nMonthly.")
    base = index.describe()
    assert (base.name, base.files, base.chunks, base.embedded) == ("Handbook", 2, 2, 0)
    assert await found(index, "leave") == ["a.md"]
    assert await found(index, "nothing of it") == []


async def test_a_file_is_found_by_its_name_and_heading(index: Index):
    put(index, "travel-policy.md", "# Trains\n\nSecond class.")
    assert await found(index, "policy") == ["travel-policy.md"]
    assert await found(index, "trains") == ["travel-policy.md"]


async def test_words_of_most_chunks_do_not_hide_the_telling_one(index: Index):
    for number in range(20):
        put(index, f"{number}.md", f"the system has a part called number{number}")
    assert (await found(index, "the system part number7"))[0] == "7.md"
    assert len(await found(index, "the system of xyzzy")) == 5
    assert await found(index, "xyzzy") == []


async def test_accents_make_no_difference(index: Index):
    put(index, "a.md", "un été à la plage")
    put(index, "b.md", "autre chose")
    for query in ("été", "ete", "ÉTÉ", "e\u0301te\u0301"):
        assert await found(index, query) == ["a.md"]


async def test_vectors_fill_in_behind(index: Index):
    embedder = WordEmbedder()
    put(index, "a.md", "thirty days of leave")
    put(index, "b.md", "monthly pay")
    await embed(index, embedder, limit=1)
    assert index.describe().embedded == 1
    assert await found(index, "pay", embedder) == ["b.md", "a.md"]
    await embed(index, embedder)
    assert index.describe().embedded == 2
    assert await found(index, "pay", embedder) == ["b.md", "a.md"]


@settings(max_examples=30, deadline=None)
@given(
    text=st.lists(st.sampled_from(["# A\n", "word ", "软件包。", "\n\n", "x" * 900]), max_size=60)
)
def test_the_whole_text_comes_back(tmp_path_factory: pytest.TempPathFactory, text: list[str]):
    folder = tmp_path_factory.mktemp("kb") / "kb"
    Index.create(folder, "KB", "normal")
    with closing(Index(folder)) as index:
        whole = "".join(text)
        file_id = put(index, "a.md", whole)
        assert index.read(file_id) == (whole if whole.strip() else "")
        assert index.read("f-other") is None


async def test_a_changed_file_is_replaced_whole_and_keeps_its_id(index: Index):
    embedder = WordEmbedder()
    before = put(index, "a.md", "thirty days of leave")
    await embed(index, embedder)
    after = put(index, "a.md", "forty days of holiday")
    assert after == before
    assert index.read(after) == "forty days of holiday"
    assert await found(index, "leave") == []
    assert index.describe().chunks == 1


async def test_rows_of_the_matrix_are_used_again(index: Index, folder: Path):
    embedder = WordEmbedder()
    for number in range(5):
        put(index, f"{number}.md", f"text number{number}")
    await embed(index, embedder)
    size = (folder / "vectors.f32").stat().st_size
    assert size == 5 * 64 * 4
    for number in range(5):
        put(index, f"{number}.md", f"other words{number}")
    await embed(index, embedder)
    assert (folder / "vectors.f32").stat().st_size == size
    assert (await found(index, "other words3", embedder))[0] == "3.md"


async def test_a_vector_never_stands_for_another_chunk(index: Index):
    """Rows freed by a deletion are zero until they hold their new chunk's vector."""
    embedder = WordEmbedder()
    first = put(index, "a.md", "alpha beta")
    put(index, "b.md", "gamma delta")
    await embed(index, embedder)
    assert (await found(index, "alpha beta", embedder))[0] == "a.md"
    index.delete([first])
    assert "a.md" not in await found(index, "alpha beta", embedder)
    put(index, "c.md", "epsilon zeta")
    await embed(index, embedder)
    assert (await found(index, "epsilon zeta", embedder))[0] == "c.md"


class _BusyDatabase:
    """Somebody stores vectors as soon as the first transaction is over."""

    def __init__(self, index: Index, store: Callable[[], None]) -> None:
        self._real, self._store = index._db, store  # pyright: ignore[reportPrivateUsage] to wrap it

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    @contextmanager
    def writing(self) -> Generator[sqlite3.Connection]:
        with self._real.writing() as writer:
            yield writer
        store, self._store = self._store, lambda: None
        store()


class _BusyVectors(VectorFile):
    """Somebody stores vectors whenever rows are about to be erased."""

    store: Callable[[], None]

    def erase(self, rows: Sequence[int], dimensions: int) -> None:
        storing = threading.Thread(target=self.store)
        storing.start()
        storing.join(0.2)  # it goes on only if nothing holds it back
        super().erase(rows, dimensions)
        self.last = storing


@pytest.mark.parametrize("change", ["put", "delete", "purge"])
@pytest.mark.parametrize("moment", ["before", "during"])
def test_vectors_stored_beside_uploads_stay_whole(
    index: Index, folder: Path, monkeypatch: pytest.MonkeyPatch, change: str, moment: str
):
    """A freed row may hold another chunk's vector by the time it is overwritten."""

    def store() -> None:
        chunks = index.pending(9)
        index.store_vectors([c.id for c in chunks], np.ones((len(chunks), 8), np.float32))

    first = put(index, "a.md", "first")
    put(index, "b.md", "second")
    store()
    if change == "purge":
        index.delete([first])
    put(index, "c.md", "third")
    vectors = _BusyVectors(folder / VECTORS_NAME)
    vectors.store = store
    if moment == "during":
        monkeypatch.setattr(index, "_vectors", vectors)
    else:
        monkeypatch.setattr(index, "_db", _BusyDatabase(index, store))
    if change == "put":
        put(index, "a.md", "changed")
    elif change == "delete":
        index.delete([first])
    else:
        index.purge()
    if moment == "during":
        vectors.last.join()
    monkeypatch.undo()
    with index._db.reading() as reader:  # pyright: ignore[reportPrivateUsage] only it knows rows
        rows = [row for (row,) in reader.execute("SELECT row FROM chunks WHERE row >= 0")]
    assert len(rows) >= 2
    assert np.fromfile(folder / VECTORS_NAME, np.float32).reshape(-1, 8)[rows].all()


async def test_another_embedder_starts_over(index: Index):
    old, new = WordEmbedder(), WordEmbedder(dimensions=32, id="fake:other")
    put(index, "a.md", "thirty days of leave")
    await embed(index, old)
    assert await found(index, "leave", new) == ["a.md"]  # by text: its vectors are not there
    index.use_embedder(new.id)
    assert index.describe().embedded == 0
    await embed(index, new)
    assert index.describe().embedded == 1


async def test_vectors_of_another_length_are_refused(index: Index):
    put(index, "a.md", "thirty days")
    await embed(index, WordEmbedder())
    put(index, "b.md", "of leave")
    (pending,) = index.pending(9)
    with pytest.raises(OtherDimensions):
        index.store_vectors([pending.id], np.ones((1, 32), dtype=np.float32))


async def test_a_lost_or_cut_matrix_is_made_again(index: Index, folder: Path):
    embedder = WordEmbedder()
    put(index, "a.md", "thirty days of leave")
    await embed(index, embedder)
    (folder / "vectors.f32").write_bytes(b"cut")
    assert await found(index, "leave", embedder) == ["a.md"]
    index.use_embedder(embedder.id)
    assert index.describe().embedded == 0
    await embed(index, embedder)
    assert index.describe().embedded == 1


async def test_a_chunk_deleted_while_it_was_embedded_is_passed_over(index: Index):
    embedder = WordEmbedder()
    file_id = put(index, "a.md", "thirty days")
    put(index, "b.md", "of leave")
    index.use_embedder(embedder.id)
    chunks = index.pending(9)
    index.delete([file_id])
    vectors = await embedder.embed_passages([one.text for one in chunks])
    index.store_vectors([one.id for one in chunks], vectors)
    assert index.describe().embedded == 1
    assert await found(index, "leave", embedder) == ["b.md"]


def test_deleted_text_is_gone_from_every_file(index: Index, folder: Path):
    canary = "zebrafinchcanary"
    keep = put(index, "keep.md", "nothing special\n" * 300)
    file_id = put(index, "secret.md", f"{canary} and more\n\n" * 200)
    put(index, "changed.md", f"it said {canary} once")
    index.purge()
    assert any(canary.encode() in path.read_bytes() for path in folder.iterdir())
    index.delete([file_id])
    put(index, "changed.md", "it says something else now")
    index.purge()
    for path in folder.iterdir():
        assert canary.encode() not in path.read_bytes(), path.name
        assert canary[:6].encode() not in path.read_bytes(), path.name
    assert index.read(keep) is not None


def test_a_full_disk_loses_nothing_and_is_said(index: Index):
    put(index, "a.md", "thirty days of leave")
    with index._db.writing() as writer:  # pyright: ignore[reportPrivateUsage] to fill its disk
        pages = writer.execute("PRAGMA page_count").fetchone()[0]
    writer.execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(StoreError, match="full.*Free some disk space"):
        put(index, "b.md", "word " * 50_000)
    writer.execute("PRAGMA max_page_count = 1000000")
    assert [d.name for d in index.documents()] == ["a.md"]
    put(index, "b.md", "of leave")
    assert index.describe().files == 2


async def test_vectors_that_cannot_be_written_are_said_and_text_goes_on(index: Index, folder: Path):
    put(index, "a.md", "thirty days of leave")
    (folder / "vectors.f32").mkdir()
    with pytest.raises(StoreError, match=r"vectors cannot be written .*vectors\.f32"):
        await embed(index, WordEmbedder())
    assert await found(index, "leave") == ["a.md"]
    (folder / "vectors.f32").rmdir()
    await embed(index, WordEmbedder())
    assert index.describe().embedded == 1


def test_a_locked_database_is_said(index: Index, folder: Path):
    put(index, "a.md", "thirty days")
    with index._db.writing() as writer:  # pyright: ignore[reportPrivateUsage] not to wait 10 s
        pass
    writer.execute("PRAGMA busy_timeout = 20")
    with closing(sqlite3.connect(folder / DATABASE_NAME, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="Another process is using it"):
            put(index, "b.md", "of leave")
    put(index, "b.md", "of leave")


def test_a_broken_database_is_said(folder: Path):
    folder.mkdir()
    (folder / DATABASE_NAME).write_bytes(b"not a database, but long enough to look like one" * 99)
    with pytest.raises(StoreError, match="handbook-1"):
        Index(folder)


def test_a_later_format_is_not_touched(index: Index, folder: Path):
    with closing(sqlite3.connect(folder / DATABASE_NAME)) as database:
        database.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreError, match="format 99, this program reads 1"):
        Index(folder)


async def test_many_chunks_bring_a_bounded_pool(index: Index):
    embedder = WordEmbedder()
    put(index, "a.md", "\n\n".join(f"paragraph {n} about leave. " * 30 for n in range(200)))
    await embed(index, embedder)
    vector = await embedder.embed_query("leave")
    assert POOL < len(index.search.candidates("leave", vector, embedder.id)) <= 2 * POOL
