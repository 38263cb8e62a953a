"""Knowledge bases of a home: made, named, embedded behind, opened alone and removed to the byte."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from inglenook.errors import Conflict, InvalidRequest, NotFound, ProviderBusy, ToolError
from inglenook.knowledge.base import KnowledgeBase
from inglenook.knowledge.local import LocalKnowledge
from tests.knowledge.fakes import WordEmbedder, add


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def embedder() -> WordEmbedder:
    return WordEmbedder()


@pytest.fixture
async def knowledge(home: Path, embedder: WordEmbedder) -> AsyncGenerator[LocalKnowledge]:
    knowledge = LocalKnowledge(home, embedder=embedder)
    yield knowledge
    await knowledge.close()


async def base_with(knowledge: LocalKnowledge, name: str, **files: str) -> str:
    base = await knowledge.create(name)
    for file, text in files.items():
        await knowledge.add_bytes(base.id, f"{file}.md", text.encode())
    return base.id


async def test_a_home_without_any_lists_none(knowledge: LocalKnowledge, home: Path):
    assert await knowledge.list() == []
    assert not home.exists()


async def test_a_made_base_is_listed_and_private(knowledge: LocalKnowledge, home: Path):
    base = await knowledge.create("Team Handbook", "confidential")
    assert base.id.startswith("team-handbook-")
    assert await knowledge.list() == [base]
    assert base == KnowledgeBase(id=base.id, name="Team Handbook", label="confidential")
    folder = home / "knowledge" / base.id
    assert folder.stat().st_mode & 0o777 == 0o700
    await knowledge.set_label(base.id, "normal")
    assert [base.label for base in await knowledge.list()] == ["normal"]


@pytest.mark.parametrize("name", ["手册", "🙂", "../../etc", "a" * 100, "  Padded  "])
async def test_any_name_makes_a_safe_folder(knowledge: LocalKnowledge, home: Path, name: str):
    base = await knowledge.create(name)
    assert base.name == name.strip()
    assert [path.name for path in (home / "knowledge").iterdir()] == [base.id]
    assert (await knowledge.resolve(name)).id == base.id


@pytest.mark.parametrize("name", ["", "  ", "a" * 101, "a\0b", "line\nbreak", "tab\tbed"])
async def test_a_name_that_is_none_is_refused(knowledge: LocalKnowledge, name: str):
    with pytest.raises(InvalidRequest, match="cannot be a name"):
        await knowledge.create(name)


async def test_a_name_is_taken_once(knowledge: LocalKnowledge):
    await knowledge.create("Handbook")
    with pytest.raises(Conflict, match="already"):
        await knowledge.create(" handbook ")


async def test_a_base_is_found_by_id_or_name(knowledge: LocalKnowledge):
    base = await knowledge.create("Handbook")
    assert await knowledge.resolve(base.id) == await knowledge.resolve("HANDBOOK") == base
    with pytest.raises(NotFound, match="there are: 'Handbook'"):
        await knowledge.resolve("other")


@pytest.mark.parametrize("id", ["other", "../home", "..", "", "a/b", "Handbook", "\0", "a" * 999])
async def test_an_unknown_id_opens_nothing(knowledge: LocalKnowledge, id: str):
    await knowledge.create("Handbook")
    with pytest.raises(NotFound):
        await knowledge.open([id])


async def test_vectors_fill_in_behind_with_progress(knowledge: LocalKnowledge):
    base = await base_with(knowledge, "Handbook", leave="thirty days", pay="monthly pay")
    progress: list[tuple[int, int]] = []
    count = await knowledge.embed_pending(report=lambda b: progress.append((b.embedded, b.chunks)))
    assert count == 2
    assert progress == [(2, 2)]
    assert [b.embedded for b in await knowledge.list()] == [2]
    assert await knowledge.embed_pending() == 0
    assert [p.file_name for p in await knowledge.search(base, "pay", 1)] == ["pay.md"]


async def test_embedding_stops_between_batches(knowledge: LocalKnowledge, embedder: WordEmbedder):
    await base_with(knowledge, "Handbook", **{f"f{n}": f"text {n}" for n in range(10)})
    stop = asyncio.Event()
    assert await knowledge.embed_pending(stop, lambda _: stop.set()) == embedder.batch
    assert await knowledge.embed_pending() == 10 - embedder.batch


async def test_what_is_added_is_embedded_by_itself(knowledge: LocalKnowledge):
    async with asyncio.TaskGroup() as group:
        behind = group.create_task(knowledge.embed_behind())
        await base_with(knowledge, "Handbook", leave="thirty days")
        async with asyncio.timeout(60):
            while [b.embedded for b in await knowledge.list()] != [1]:
                await asyncio.sleep(0.01)
        behind.cancel()


async def test_an_embedder_that_is_down_leaves_full_text(
    knowledge: LocalKnowledge, embedder: WordEmbedder
):
    base = await base_with(knowledge, "Handbook", leave="thirty days")
    embedder.is_down = True
    with pytest.raises(ProviderBusy):
        await knowledge.embed_pending()
    assert len(await knowledge.search(base, "thirty", 5)) == 1


async def test_a_model_that_changed_its_length_starts_over(
    knowledge: LocalKnowledge, embedder: WordEmbedder
):
    base = await base_with(knowledge, "Handbook", leave="thirty days")
    await knowledge.embed_pending()
    embedder.dimensions = 32
    await knowledge.add_bytes(base, "pay.md", b"monthly pay")
    await knowledge.embed_pending()
    assert [b.embedded for b in await knowledge.list()] == [2]


async def test_several_bases_are_searched_as_one_scope(knowledge: LocalKnowledge):
    first = await base_with(knowledge, "One", leave="thirty days of leave")
    second = await base_with(knowledge, "Two", pay="monthly pay", leave="leave early")
    await base_with(knowledge, "Three", leave="leave of others")
    await knowledge.embed_pending()
    scope = await knowledge.open([first, second, first])
    passages = await scope.retrieve("leave", 10)
    assert {passage.knowledge_id for passage in passages} == {first, second}
    assert [passage.score for passage in passages] == sorted(
        (passage.score for passage in passages), reverse=True
    )
    assert len(await scope.documents()) == 3


async def test_an_empty_scope_finds_nothing(knowledge: LocalKnowledge):
    await base_with(knowledge, "One", leave="thirty days of leave")
    scope = await knowledge.open([])
    assert await scope.documents() == []
    assert await scope.retrieve("leave", 5) == []
    with pytest.raises(ToolError):
        await scope.read("f-1")


async def test_a_document_of_another_base_is_not_read(knowledge: LocalKnowledge):
    inside = await base_with(knowledge, "One", leave="thirty days")
    outside = await base_with(knowledge, "Two", secret="the secret")
    (secret,) = await knowledge.files(outside)
    scope = await knowledge.open([inside])
    with pytest.raises(ToolError, match="no document"):
        await scope.read(secret.id)


_opened: list[str] = []
_watching = {"on": False}


def _audit(event: str, arguments: tuple[object, ...]) -> None:
    if event in ("open", "sqlite3.connect", "os.listdir", "os.scandir") and _watching["on"]:
        _opened.append(str(arguments[0]))


sys.addaudithook(_audit)


async def test_what_is_out_of_scope_is_never_opened(home: Path, embedder: WordEmbedder):
    knowledge = LocalKnowledge(home, embedder=embedder)
    inside = await base_with(knowledge, "One", leave="thirty days")
    outside = await base_with(knowledge, "Two", secret="the secret")
    await knowledge.embed_pending()
    await knowledge.close()

    fresh = LocalKnowledge(home, embedder=embedder)
    _opened.clear()
    _watching["on"] = True
    try:
        scope = await fresh.open([inside])
        (passage,) = await scope.retrieve("the secret of thirty days", 9)
        await scope.read(passage.file_id)
        await scope.documents()
    finally:
        _watching["on"] = False
        await fresh.close()
    assert any(inside in path for path in _opened)
    assert not [path for path in _opened if outside in path]


async def test_a_removed_base_leaves_no_byte(knowledge: LocalKnowledge, home: Path):
    canary = "zebrafinchcanary"
    keep = await base_with(knowledge, "Keep", a="other text")
    gone = await base_with(knowledge, "Gone", a=f"{canary} and more", b=f"again {canary}")
    await knowledge.embed_pending()
    scope = await knowledge.open([gone])
    assert any(canary.encode() in p.read_bytes() for p in home.rglob("*") if p.is_file())
    await knowledge.remove(gone)
    assert not [p for p in home.rglob("*") if p.is_file() and canary.encode() in p.read_bytes()]
    assert not [p for p in home.rglob("*") if gone in p.name]
    assert [base.id for base in await knowledge.list()] == [keep]
    with pytest.raises(ToolError):
        await scope.retrieve("canary", 1)
    with pytest.raises(NotFound):
        await knowledge.remove(gone)


async def test_a_broken_base_does_not_hide_the_others(knowledge: LocalKnowledge, home: Path):
    keep = await base_with(knowledge, "Keep", a="text")
    broken = home / "knowledge" / "broken-1"
    broken.mkdir()
    (broken / "index.sqlite3").write_bytes(b"nonsense" * 999)
    assert [base.id for base in await knowledge.list()] == [keep]
    assert await knowledge.embed_pending() == 1
    await knowledge.remove("broken-1")
    assert not broken.exists()


async def test_clearing_leftovers_spares_what_is_being_made(knowledge: LocalKnowledge):
    async with asyncio.TaskGroup() as group:
        behind = [group.create_task(knowledge.embed_behind()) for _ in range(4)]
        for number in range(10):
            await knowledge.create(f"Base {number}")
            await knowledge.remove((await knowledge.create(f"Gone {number}")).id)
        for task in behind:
            task.cancel()
    assert len(await knowledge.list()) == 10


async def test_leftovers_of_a_crash_are_cleared(knowledge: LocalKnowledge, home: Path):
    keep = await base_with(knowledge, "Keep", a="text")
    for name in (".new-half-1", ".removed-gone-1"):
        (home / "knowledge" / name).mkdir()
        (home / "knowledge" / name / "index.sqlite3").write_bytes(b"x")
    assert [base.id for base in await knowledge.list()] == [keep]
    other = await knowledge.create("Other")
    await knowledge.remove(other.id)
    assert [path.name for path in (home / "knowledge").iterdir()] == [keep]


_CRASHING = """
import asyncio, sys
from pathlib import Path
from inglenook.knowledge.local import LocalKnowledge
from tests.knowledge.fakes import WordEmbedder

class Slow(WordEmbedder):
    async def embed_passages(self, texts):
        await asyncio.sleep(0.02)
        return await super().embed_passages(texts)

async def main():
    knowledge = LocalKnowledge(Path(sys.argv[1]), embedder=Slow())
    base = await knowledge.create("Handbook")
    async with asyncio.TaskGroup() as group:
        group.create_task(knowledge.embed_behind())
        await knowledge.add_paths(base.id, [Path(sys.argv[2])], lambda *_: print("x", flush=True))

asyncio.run(main())
"""


@pytest.mark.parametrize("files_before_kill", [1, 25, 60])
async def test_kill_9_loses_no_finished_file_and_leaves_no_half(
    tmp_path: Path, home: Path, files_before_kill: int
):
    docs = tmp_path / "docs"
    docs.mkdir()
    for number in range(60):
        (docs / f"{number}.md").write_text(f"# Part {number}\n\n" + f"text{number} " * 600)
    process = subprocess.Popen(
        [sys.executable, "-c", _CRASHING, str(home), str(docs)],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    assert process.stdout
    for _ in range(files_before_kill):
        process.stdout.readline()
    if files_before_kill == 60:
        time.sleep(0.1)  # in the middle of embedding
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()

    knowledge = LocalKnowledge(home, embedder=WordEmbedder())
    try:
        (base,) = await knowledge.list()
        assert base.files >= files_before_kill
        documents = await knowledge.files(base.id)
        scope = await knowledge.open([base.id])
        for document in documents:
            number = document.name.removesuffix(".md")
            assert (await scope.read(document.id)).count(f"text{number}") == 600
        outcomes = await add(knowledge, base.id, docs)
        assert [o.status for o in outcomes.values()].count("unchanged") == base.files
        await knowledge.embed_pending()
        (base,) = await knowledge.list()
        assert (base.files, base.embedded) == (60, base.chunks)
        for number in (0, 30, 59):
            (passage, *_) = await knowledge.search(base.id, f"text{number}", 1)
            assert passage.file_name == f"{number}.md"
    finally:
        await knowledge.close()
