"""`inglenook kb …`: documents in, passages out, a line for each file that failed."""

from pathlib import Path

from tests.cli.program import Program


def folder(tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# Leave\n\nEverybody has 31 days of leave.\n")
    (docs / "b.txt").write_text("The printer stands on the second floor.\n")
    (docs / "broken.pdf").write_bytes(b"%PDF-1.7 nothing here")
    return docs


async def test_add_search_files_list_remove(tmp_path: Path):
    docs = folder(tmp_path)
    program = Program(home=tmp_path / "h")
    added = await program.run("kb", "add", "Office", str(docs))
    assert added.code == 0, added.err
    assert "broken.pdf" in added.err
    assert "2 added" in added.err
    assert "1 failed" in added.err
    found = (await program.run("kb", "search", "Office", "days of leave", "--json")).json()
    assert found[0]["file_name"] == "a.md"
    names = [file["name"] for file in (await program.run("kb", "files", "Office", "--json")).json()]
    assert sorted(names) == ["a.md", "b.txt"]
    [base] = (await program.run("kb", "list", "--json")).json()
    assert (base["name"], base["label"], base["files"]) == ("Office", "normal", 2)
    assert {"id", "name", "label", "files", "chunks"} <= base.keys()
    again = await program.run("kb", "add", "Office", str(docs))
    assert "2 unchanged" in again.err
    assert (await program.run("kb", "remove", "Office")).code == 0
    assert (await program.run("kb", "list", "--json")).json() == []


async def test_a_base_can_be_made_confidential(tmp_path: Path):
    program = Program(home=tmp_path / "h")
    await program.run("kb", "add", "Board", str(folder(tmp_path)), "--confidential")
    [base] = (await program.run("kb", "list", "--json")).json()
    assert base["label"] == "confidential"


async def test_an_empty_folder_and_a_missing_path_are_clear_errors(tmp_path: Path):
    (tmp_path / "empty").mkdir()
    program = Program(home=tmp_path / "h")
    for path in ("empty", "missing"):
        done = await program.run("kb", "add", "X", str(tmp_path / path))
        assert done.code == 1
        assert path in done.err
        assert "Traceback" not in done.err
        asked = await program.run("ask", "x?", "--file", str(tmp_path / path))
        assert (asked.code, path in asked.err) == (1, True)
    assert (await program.run("kb", "list", "--json")).json() == []


async def test_a_folder_in_which_nothing_can_be_read_fails(tmp_path: Path):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "x.pdf").write_bytes(b"no pdf")
    program = Program(home=tmp_path / "h")
    done = await program.run("kb", "add", "X", str(docs))
    assert done.code == 1
    assert "x.pdf" in done.err
    assert (await program.run("kb", "list", "--json")).json() == []


async def test_a_failed_command_leaves_a_base_that_was_there(tmp_path: Path):
    program = Program(home=tmp_path / "h")
    await program.run("kb", "add", "Office", str(folder(tmp_path)))
    assert (await program.run("kb", "add", "Office", str(tmp_path / "missing"))).code == 1
    [base] = (await program.run("kb", "list", "--json")).json()
    assert base["files"] == 2


async def test_one_of_a_thing_is_not_several(tmp_path: Path):
    note = tmp_path / "note.md"
    note.write_text("The gate code is 4711.\n")
    program = Program(home=tmp_path / "h")
    added = await program.run("kb", "add", "Gate", str(note))
    assert "1 added; 1 chunk, searchable" in added.err
    assert "1 file, 1 chunk, 0 embedded" in (await program.run("kb", "list")).out
