"""A home that cannot be used is one sentence with the way out, never a traceback."""

from pathlib import Path

from tests.cli.program import Program


async def damaged(tmp_path: Path) -> Program:
    program = Program(home=tmp_path / "h")
    assert (await program.run("runs", "list")).code == 0
    (program.home / "inglenook.db").write_bytes(b"no database at all " * 1000)
    return program


async def test_serve_on_a_damaged_database_names_the_next_action(tmp_path: Path):
    done = await (await damaged(tmp_path)).run("serve", "--port", "0", "--no-open")
    assert done.code == 1
    assert "Traceback" not in done.err
    assert ".recover" in done.err


async def test_the_doctor_says_of_a_damaged_store_that_it_is_one_failed_check(tmp_path: Path):
    done = await (await damaged(tmp_path)).run("doctor", "--json")
    assert done.code == 1
    states = {check["name"]: check["state"] for check in done.json()["checks"]}
    assert states["store"] == "fail"
    assert states["python"] == "ok"
    assert "home" in states


async def test_a_home_whose_locks_cannot_be_written_is_named_with_the_way_out(tmp_path: Path):
    home = tmp_path / "h"
    home.mkdir()
    (home / "owners").write_text("in the way")
    done = await Program(home=home).run("runs", "list")
    assert done.code == 1
    assert "set INGLENOOK_HOME" in done.err
    assert "Traceback" not in done.err


async def test_a_server_whose_lock_cannot_be_made_says_so(tmp_path: Path):
    home = tmp_path / "h"
    (home / "lock").mkdir(parents=True)
    done = await Program(home=home).run("serve", "--port", "0", "--no-open")
    assert done.code == 1
    assert "cannot be used" in done.err
    assert "Traceback" not in done.err


async def test_serve_on_a_database_damaged_inside_names_the_next_action(tmp_path: Path):
    program = Program(home=tmp_path / "h")
    assert (await program.run("runs", "list")).code == 0
    file = program.home / "inglenook.db"
    with file.open("r+b") as database:
        database.seek(4096)  # the first page, with the schema, stays
        database.write(b"\xee" * (file.stat().st_size - 4096))
    done = await program.run("serve", "--port", "0", "--no-open")
    assert done.code == 1
    assert "Traceback" not in done.err
    assert ".recover" in done.err
