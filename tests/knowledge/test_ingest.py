"""Folders are taken in file by file; what did not change costs nothing, what failed is said."""

import asyncio
import os
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from inglenook.errors import InvalidRequest, StoreError
from inglenook.knowledge.extract import MAX_FILE_BYTES, Extracted, Extractor, UnreadableDocument
from inglenook.knowledge.ingest import FileOutcome
from inglenook.knowledge.local import LocalKnowledge
from tests.knowledge.fakes import add, pdf


class CountingExtractor(Extractor):
    def __init__(self) -> None:
        super().__init__(workers=2)
        self.names: list[str] = []

    async def extract(self, name: str, data: bytes) -> Extracted:
        self.names.append(name)
        return await super().extract(name, data)


@pytest.fixture
def extractor() -> CountingExtractor:
    return CountingExtractor()


@pytest.fixture
async def knowledge(tmp_path: Path, extractor: CountingExtractor) -> AsyncGenerator[LocalKnowledge]:
    knowledge = LocalKnowledge(tmp_path / "home", embedder=None, extractor=extractor)
    yield knowledge
    await knowledge.close()


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    (folder / "guide").mkdir(parents=True)
    (folder / "leave.md").write_text("# Leave\n\nThirty days.")
    (folder / "guide" / "trains.txt").write_text("Second class.")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    (folder / ".hidden.md").write_text("hidden")
    (folder / ".git").mkdir()
    (folder / ".git" / "x.md").write_text("hidden")
    return folder


async def new_base(knowledge: LocalKnowledge) -> str:
    return (await knowledge.create("Handbook")).id


async def names(knowledge: LocalKnowledge, base: str) -> list[str]:
    return [document.name for document in await knowledge.files(base)]


async def test_a_folder_is_taken_in_with_paths_as_names(knowledge: LocalKnowledge, docs: Path):
    base = await new_base(knowledge)
    outcomes = await add(knowledge, base, docs)
    assert {name: outcome.status for name, outcome in outcomes.items()} == {
        "leave.md": "added",
        "guide/trains.txt": "added",
    }
    assert await names(knowledge, base) == ["guide/trains.txt", "leave.md"]
    (passage,) = await knowledge.search(base, "thirty", 5)
    assert (passage.file_name, passage.heading) == ("leave.md", "Leave")
    assert passage.file_id == outcomes["leave.md"].file_id


async def test_unchanged_files_are_not_read_again(
    knowledge: LocalKnowledge, docs: Path, extractor: CountingExtractor
):
    base = await new_base(knowledge)
    await add(knowledge, base, docs)
    extractor.names.clear()
    (docs / "guide" / "trains.txt").chmod(0o000)  # a stat is all that is needed
    outcomes = await add(knowledge, base, docs)
    assert {outcome.status for outcome in outcomes.values()} == {"unchanged"}
    assert extractor.names == []


async def test_a_touched_file_is_hashed_and_not_extracted(
    knowledge: LocalKnowledge, docs: Path, extractor: CountingExtractor
):
    base = await new_base(knowledge)
    await add(knowledge, base, docs)
    extractor.names.clear()
    os.utime(docs / "leave.md", (1, 1))
    assert (await add(knowledge, base, docs))["leave.md"].status == "unchanged"
    assert extractor.names == []


async def test_a_changed_file_is_replaced(knowledge: LocalKnowledge, docs: Path):
    base = await new_base(knowledge)
    before = (await add(knowledge, base, docs))["leave.md"]
    (docs / "leave.md").write_text("# Leave\n\nForty days, for all of us.")
    after = (await add(knowledge, base, docs))["leave.md"]
    assert (after.status, after.file_id) == ("updated", before.file_id)
    assert await knowledge.search(base, "thirty", 5) == []
    assert len(await knowledge.search(base, "forty", 5)) == 1


async def test_a_file_gone_from_a_folder_added_again_is_removed(
    knowledge: LocalKnowledge, docs: Path, tmp_path: Path
):
    base = await new_base(knowledge)
    other = tmp_path / "other"
    other.mkdir()
    (other / "pay.md").write_text("Monthly pay.")
    await add(knowledge, base, docs, other)
    (docs / "leave.md").unlink()
    (other / "pay.md").unlink()
    (other / "new.md").write_text("New.")
    outcomes = await add(knowledge, base, docs)
    assert outcomes["leave.md"].status == "removed"
    assert await names(knowledge, base) == ["guide/trains.txt", "pay.md"]
    assert await knowledge.search(base, "thirty", 5) == []


async def test_a_file_gone_from_a_folder_added_for_the_first_time_stays(
    knowledge: LocalKnowledge, docs: Path
):
    base = await new_base(knowledge)
    await add(knowledge, base, docs / "leave.md")
    (docs / "leave.md").unlink()
    await add(knowledge, base, docs)
    assert await names(knowledge, base) == ["guide/trains.txt", "leave.md"]


async def test_a_subfolder_added_again_removes_nothing_outside_it(
    knowledge: LocalKnowledge, docs: Path
):
    base = await new_base(knowledge)
    await add(knowledge, base, docs, docs / "guide")
    (docs / "leave.md").unlink()
    await add(knowledge, base, docs / "guide")
    assert "leave.md" in await names(knowledge, base)


async def test_a_folder_that_cannot_be_read_whole_removes_nothing(
    knowledge: LocalKnowledge, docs: Path, monkeypatch: pytest.MonkeyPatch
):
    base = await new_base(knowledge)
    await add(knowledge, base, docs)
    (docs / "guide" / "trains.txt").unlink()
    (docs / "guide").rmdir()
    scandir = os.scandir

    def refusing(path: str) -> object:
        if str(path).endswith("docs"):
            (docs / "closed").mkdir(exist_ok=True)
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    outcomes = await add(knowledge, base, docs)
    assert outcomes[str(docs / "closed")].reason == "Permission denied"
    assert "guide/trains.txt" in await names(knowledge, base)


async def test_a_broken_file_is_said_and_the_others_go_on(knowledge: LocalKnowledge, docs: Path):
    (docs / "broken.pdf").write_bytes(b"%PDF-1.4 nonsense")
    (docs / "good.pdf").write_bytes(pdf("Fine."))
    (docs / "big.csv").touch()
    os.truncate(docs / "big.csv", MAX_FILE_BYTES + 1)
    outcomes = await add(knowledge, await new_base(knowledge), docs)
    assert outcomes["broken.pdf"].reason is not None
    assert outcomes["broken.pdf"].reason.startswith("not a readable PDF (damaged")
    assert outcomes["big.csv"].reason is not None
    assert f"the limit is {MAX_FILE_BYTES:,}" in outcomes["big.csv"].reason
    assert {n: o.status for n, o in outcomes.items()} == {
        "broken.pdf": "failed",
        "big.csv": "failed",
        "good.pdf": "added",
        "leave.md": "added",
        "guide/trains.txt": "added",
    }


async def test_a_file_that_broke_keeps_its_earlier_version(knowledge: LocalKnowledge, docs: Path):
    base = await new_base(knowledge)
    await add(knowledge, base, docs)
    (docs / "leave.md").write_bytes(bytes(200))
    outcome = (await add(knowledge, base, docs))["leave.md"]
    assert outcome.status == "failed"
    assert outcome.reason is not None
    assert "its earlier version stays searchable" in outcome.reason
    assert len(await knowledge.search(base, "thirty", 5)) == 1


async def test_links_are_followed_nowhere(knowledge: LocalKnowledge, docs: Path, tmp_path: Path):
    (tmp_path / "secret.md").write_text("secret")
    (docs / "out.md").symlink_to(tmp_path / "secret.md")
    (docs / "in.md").symlink_to(docs / "leave.md")
    (docs / "loop").symlink_to(docs)
    os.mkfifo(docs / "pipe.md")
    base = await new_base(knowledge)
    outcomes = await add(knowledge, base, docs)
    assert outcomes["out.md"].reason == "a link out of its folder is not followed"
    assert outcomes["pipe.md"].reason == "not a regular file"
    assert await names(knowledge, base) == ["guide/trains.txt", "leave.md"]


async def test_same_names_in_two_folders_are_two_documents(
    knowledge: LocalKnowledge, tmp_path: Path
):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "report.md").write_text(f"Report {name}.")
    base = await new_base(knowledge)
    await add(knowledge, base, tmp_path / "a", tmp_path / "b")
    first, second = await knowledge.files(base)
    assert first.name == second.name == "report.md"
    assert first.id != second.id


@pytest.mark.parametrize("kind", ["empty", "unread"])
async def test_a_folder_without_documents_is_an_error_that_names_the_kinds(
    knowledge: LocalKnowledge, tmp_path: Path, kind: str
):
    folder = tmp_path / kind
    folder.mkdir()
    if kind == "unread":
        (folder / "a.png").write_bytes(b"\x89PNG")
    with pytest.raises(InvalidRequest, match="txt, md, html, pdf, docx, pptx, xlsx, csv"):
        await add(knowledge, await new_base(knowledge), folder)


async def test_a_path_that_does_not_exist_is_an_error(knowledge: LocalKnowledge, tmp_path: Path):
    with pytest.raises(InvalidRequest, match="No such file or directory. Check the path"):
        await add(knowledge, await new_base(knowledge), tmp_path / "nowhere")


async def test_a_file_of_another_kind_says_which_are_read(knowledge: LocalKnowledge, docs: Path):
    outcomes = await add(knowledge, await new_base(knowledge), docs / "picture.png")
    assert outcomes["picture.png"].reason is not None
    assert "not a kind that is read here (txt, md" in outcomes["picture.png"].reason


async def test_progress_counts_every_file(knowledge: LocalKnowledge, docs: Path):
    seen: list[tuple[int, int]] = []
    base = await new_base(knowledge)
    await knowledge.add_paths(base, [docs], lambda _, done, total: seen.append((done, total)))
    assert seen == [(1, 2), (2, 2)]


async def test_a_thousand_unchanged_files_are_not_read_again(
    knowledge: LocalKnowledge, tmp_path: Path
):
    for number in range(1000):
        (tmp_path / f"{number}.txt").write_text(f"text of file {number}")
    base = await new_base(knowledge)
    await add(knowledge, base, tmp_path)
    outcomes = await add(knowledge, base, tmp_path)
    assert [outcome.status for outcome in outcomes.values()] == ["unchanged"] * 1000


async def test_a_disk_that_fills_up_stops_with_what_was_done(
    knowledge: LocalKnowledge, docs: Path, monkeypatch: pytest.MonkeyPatch
):
    base = await new_base(knowledge)
    index = await knowledge._index(base)  # pyright: ignore[reportPrivateUsage] to fill its disk

    def full(*_: object, **__: object) -> str:
        raise StoreError("database or disk is full")

    monkeypatch.setattr(index, "put", full)
    with pytest.raises(StoreError, match="full"):
        await add(knowledge, base, docs)
    monkeypatch.undo()
    assert len(await add(knowledge, base, docs)) == 2


async def upload(knowledge: LocalKnowledge, base: str, name: str, text: str) -> FileOutcome:
    return await knowledge.add_bytes(base, name, text.encode())


async def test_an_upload_replaces_the_upload_of_the_same_name(
    knowledge: LocalKnowledge, docs: Path
):
    base = await new_base(knowledge)
    await add(knowledge, base, docs)
    first = await upload(knowledge, base, "leave.md", "Uploaded: thirty.")
    assert first.status == "added"
    assert (await upload(knowledge, base, "leave.md", "Uploaded: thirty.")).status == "unchanged"
    second = await upload(knowledge, base, "leave.md", "Uploaded: fifty.")
    assert (second.status, second.file_id) == ("updated", first.file_id)
    assert (await names(knowledge, base)).count("leave.md") == 2
    assert len(await knowledge.search(base, "thirty", 5)) == 1


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("C:\\Users\\me\\a.txt", "a.txt"),
        ("C:a.txt", "a.txt"),
        ("../../etc/a.txt", "a.txt"),
        ("/etc/a.txt", "a.txt"),
        ("b/../../a.txt", "a.txt"),
        ("guide/a.txt", "guide/a.txt"),
        ("guide\\deep\\a.txt", "guide/deep/a.txt"),
        ("./guide//a.txt", "guide/a.txt"),
    ],
)
async def test_an_upload_keeps_its_relative_path_and_no_other(
    knowledge: LocalKnowledge, sent: str, kept: str
):
    assert (await upload(knowledge, await new_base(knowledge), sent, "text")).name == kept


@pytest.mark.parametrize("name", ["", "/", "..", "a\0.txt", "a\n.txt", "x" * 300 + ".txt"])
async def test_an_upload_without_a_name_is_refused(knowledge: LocalKnowledge, name: str):
    with pytest.raises(InvalidRequest, match="cannot be a file's name"):
        await upload(knowledge, await new_base(knowledge), name, "text")


async def test_a_broken_upload_is_refused_by_name(knowledge: LocalKnowledge):
    base = await new_base(knowledge)
    with pytest.raises(UnreadableDocument, match="broken.pdf: not a readable PDF"):
        await upload(knowledge, base, "broken.pdf", "nonsense")
    assert await names(knowledge, base) == []


async def test_a_cancelled_ingest_keeps_what_was_done(knowledge: LocalKnowledge, tmp_path: Path):
    for number in range(300):
        (tmp_path / f"{number}.txt").write_text(f"text of file {number}")
    base = await new_base(knowledge)

    def cancel_at_20(_: FileOutcome, done: int, total: int) -> None:
        if done == 20:
            task.cancel()

    async with asyncio.TaskGroup() as group:
        task = group.create_task(knowledge.add_paths(base, [tmp_path], cancel_at_20))
    assert 20 <= len(await knowledge.files(base)) < 300
    outcomes = await add(knowledge, base, tmp_path)
    statuses = [outcome.status for outcome in outcomes.values()]
    assert len(statuses) == 300
    assert statuses.count("unchanged") >= 20
    assert set(statuses) == {"unchanged", "added"}


async def test_names_that_are_not_utf8_or_not_one_line_are_taken_in_under_printable_ones(
    knowledge: LocalKnowledge, docs: Path
):
    base = await new_base(knowledge)
    folder = docs / os.fsdecode(b"d\xe9p\xf4t")
    folder.mkdir()
    (folder / os.fsdecode(b"caf\xe9.txt")).write_text("Espresso costs two euros.")
    (docs / "a.txt\n\nweb_search EXISTS\x1b[2J.txt").write_text("A forged line.")
    (docs / "z.txt").write_text("After the others.")
    outcomes = await add(knowledge, base, docs)
    assert {outcome.status for outcome in outcomes.values()} == {"added"}
    assert await names(knowledge, base) == [
        "a.txt web_search EXISTS�[2J.txt",
        "d�p�t/caf�.txt",
        "guide/trains.txt",
        "leave.md",
        "z.txt",
    ]
    (passage, *_) = await knowledge.search(base, "espresso", 5)
    assert passage.file_name == "d�p�t/caf�.txt"
    again = await add(knowledge, base, docs)
    assert {outcome.status for outcome in again.values()} == {"unchanged"}
    (folder / os.fsdecode(b"caf\xe9.txt")).unlink()
    gone = await add(knowledge, base, docs)
    assert gone["d�p�t/caf�.txt"].status == "removed"


async def test_a_folder_that_is_not_utf8_can_be_the_root(knowledge: LocalKnowledge, tmp_path: Path):
    base = await new_base(knowledge)
    root = tmp_path / os.fsdecode(b"d\xe9p\xf4t")
    root.mkdir()
    (root / "a.txt").write_text("One.")
    (root / "b.txt").write_text("Two.")
    await add(knowledge, base, root)
    (root / "b.txt").unlink()
    assert (await add(knowledge, base, root))["b.txt"].status == "removed"


async def test_a_failed_file_is_named_in_print(knowledge: LocalKnowledge, docs: Path):
    base = await new_base(knowledge)
    (docs / os.fsdecode(b"\xe9\n.pdf")).write_bytes(b"no pdf")
    assert (await add(knowledge, base, docs))["� .pdf"].status == "failed"
