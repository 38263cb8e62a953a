"""`inglenook runs …` and `replay`: what was done can be seen, taken along and run again."""

import hashlib
import json
import sqlite3
from pathlib import Path

from inglenook.runs.export import export_lines
from tests.cli.program import Done, Program
from tests.cli.test_serve import a_killed_run
from tests.fake_duckduckgo import FakeDuckDuckGo
from tests.scripted_replies import calls
from tests.scripted_server import ScriptedServer


async def one_run(tmp_path: Path) -> tuple[Program, str]:
    async with ScriptedServer([calls(("calculate", {"expression": "6*7"})), "42."]) as model:
        program = Program(home=tmp_path / "h", ollama_url=model.url)
        run = (await program.run("ask", "6*7?", "--json")).json()
        return Program(home=program.home), run["id"]


async def test_list_show_events_egress_and_verify(tmp_path: Path):
    program, id = await one_run(tmp_path)
    listed = await program.run("runs", "list")
    assert id in listed.out
    assert "6*7?" in listed.out
    shown = await program.run("runs", "show", id)
    assert (shown.code, "42." in shown.out) == (0, True)
    events = (await program.run("runs", "events", id, "--json")).json()
    assert [event["seq"] for event in events] == list(range(len(events)))
    assert events[-1]["type"] == "run_finished"
    assert (await program.run("runs", "egress", id)).out == "nothing left this machine\n"
    verified = await program.run("runs", "verify")
    assert (verified.code, "the chain is whole" in verified.out) == (0, True)


async def test_an_exported_run_replays_in_another_home(tmp_path: Path):
    program, id = await one_run(tmp_path)
    file = tmp_path / "run.jsonl"
    assert (await program.run("runs", "export", id, "-o", str(file))).code == 0
    elsewhere = Program(home=tmp_path / "other")
    done = await elsewhere.run("replay", str(file))
    assert (done.code, done.out.startswith("identical")) == (0, True), done.err
    by_id = await program.run("replay", id, "--json")
    assert by_id.json() == {"identical": True, "difference": None}
    by_stdin = await elsewhere.run("replay", "-", stdin=file.read_bytes())
    assert by_stdin.code == 0


def differs(done: Done, words: str) -> None:
    assert done.code == 1
    assert words in done.out, done.out + done.err


async def test_a_changed_or_cut_export_fails_with_the_first_difference(tmp_path: Path):
    program, id = await one_run(tmp_path)
    text = (await program.run("runs", "export", id)).out
    file = tmp_path / "run.jsonl"
    changed = text.replace('"result":"42"', '"result":"43"')
    file.write_text(changed)
    differs(await program.run("replay", str(file)), "was changed after the export")
    for name in ('"blocked":false', '"network":false', '"web":false', '"is_error":false'):
        file.write_text(text.replace(name, name.replace("false", "true"), 1))
        differs(await program.run("replay", str(file)), "was changed after the export")
    lines = text.splitlines()
    file.write_text("\n".join(lines[:4] + lines[5:]))
    differs(await program.run("replay", str(file)), "event 4 was changed")
    events = [line[: line.rindex(',"digest":')].encode() + b"}" for line in changed.splitlines()]
    file.write_bytes(export_lines(events))  # with digests that fit the forgery
    differs(await program.run("replay", str(file)), "view_digest")
    file.write_text("not json\n")
    done = await program.run("replay", str(file))
    assert done.code == 1
    assert "line 1 is no" in done.err


async def test_a_tampered_home_is_found_by_verify(tmp_path: Path):
    program, _ = await one_run(tmp_path)
    db = sqlite3.connect(program.home / "inglenook.db")
    db.execute("UPDATE events SET payload = ? WHERE seq = 3", (b'{"type":"step_started"}',))
    db.commit()
    done = await program.run("runs", "verify", "--json")
    assert done.code == 1
    assert len(json.loads(done.out)["problems"]) == 1


async def test_an_erased_run_keeps_its_chain_and_cannot_be_replayed(tmp_path: Path):
    program, id = await one_run(tmp_path)
    assert (await program.run("runs", "erase", id)).code == 0
    assert (await program.run("runs", "verify")).code == 0
    done = await program.run("replay", id)
    assert done.code == 1
    assert "erased" in done.err


async def test_an_unknown_run_is_named(tmp_path: Path):
    done = await Program(home=tmp_path / "h").run("runs", "show", "run_nope")
    assert done.code == 1
    assert "'run_nope'" in done.err


async def test_following_a_finished_run_ends(tmp_path: Path):
    program, id = await one_run(tmp_path)
    done = await program.run("runs", "events", id, "--follow")
    assert json.loads(done.out.splitlines()[-1])["type"] == "run_finished"


async def test_a_status_that_there_is_not_is_a_usage_error_with_the_choice(tmp_path: Path):
    done = await Program(home=tmp_path / "h").run("runs", "list", "--status", "foo")
    assert done.code == 2
    assert "queued" in done.err
    assert "incomplete" in done.err


async def test_a_file_nested_without_end_is_no_export(tmp_path: Path):
    file = tmp_path / "deep.jsonl"
    event = "[" * 100_000 + "}"
    digest = hashlib.sha256(event.encode()).hexdigest()
    file.write_text(f'{event[:-1]},"digest":"{digest}"}}\n')
    done = await Program(home=tmp_path / "h").run("replay", str(file))
    assert done.code == 1
    assert "line 1 is no" in done.err
    assert "Traceback" not in done.err


async def test_a_search_that_reached_nobody_is_listed_and_left_nothing(tmp_path: Path):
    search = calls(("web_search", {"query": "otters"}))
    async with FakeDuckDuckGo() as server:
        nobody = server.url
    async with ScriptedServer([search, "No web today."]) as model:
        program = Program(
            home=tmp_path / "h",
            ollama_url=model.url,
            env=(
                ("INGLENOOK_WEB__DUCKDUCKGO_URL", nobody),
                ("INGLENOOK_WEB__ALLOW_PRIVATE_ADDRESSES", "true"),
            ),
        )
        asked = await program.run("ask", "--web", "otters?")
        assert "nothing left this machine" in asked.err
        [run] = (await program.run("runs", "list", "--json")).json()["items"]
        told = await program.run("runs", "egress", run["id"])
    assert told.out.splitlines() == [
        "✕ POST 127.0.0.1/html/  not sent: there was no connection  web_search  (web)",
        "nothing left this machine",
    ]


async def test_a_stop_says_what_became_of_the_run(tmp_path: Path):
    program, ended = await one_run(tmp_path)
    late = await program.run("runs", "cancel", ended)
    assert late.err == "there was nothing to stop: the run had ended (complete)\n"
    left_alone = await a_killed_run(program)
    assert (await program.run("runs", "cancel", left_alone)).err == "stopped\n"
    assert (await program.run("runs", "cancel", left_alone)).err == "stopped\n"
