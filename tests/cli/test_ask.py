"""`inglenook ask` from end to end: steps to stderr, the answer to stdout, exit codes."""

import asyncio
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.program import Program, line_with
from tests.scripted_replies import Raw, calls
from tests.scripted_server import ScriptedServer


async def test_the_answer_alone_is_on_stdout(tmp_path: Path):
    async with ScriptedServer([calls(("calculate", {"expression": "17*23"})), "391."]) as model:
        done = await Program(home=tmp_path / "h", ollama_url=model.url).run("ask", "17*23?")
    assert (done.code, done.out) == (0, "391.\n")
    assert "calculate(expression='17*23')  local" in done.err
    assert "nothing left this machine" in done.err


async def test_json_is_one_document_the_run(tmp_path: Path):
    async with ScriptedServer(["Hello."]) as model:
        program = Program(home=tmp_path / "h", ollama_url=model.url)
        for arguments in (("ask", "hi", "--json"), ("--json", "ask", "hi")):
            model.add("Hello.")
            run = (await program.run(*arguments)).json()
            assert (run["status"], run["answer"], run["usage"]["steps"]) == (
                "complete",
                "Hello.",
                1,
            )


async def test_files_are_asked_within_one_command(tmp_path: Path):
    note = tmp_path / "note.md"
    note.write_text("# Garage\n\nThe gate code is 4711.\n")
    script = [calls(("search_knowledge_base", {"query": "gate code"})), "It is 4711 [1]."]
    async with ScriptedServer(script) as model:
        program = Program(home=tmp_path / "h", ollama_url=model.url)
        run = (await program.run("ask", "gate code?", "--file", str(note), "--json")).json()
        shown = model.chats[1].body["messages"][-1]
    assert "4711" in shown["content"]
    [source] = [source for source in run["sources"] if source["cited"]]
    assert source["title"] == "note.md"


async def test_an_incomplete_run_exits_with_3_and_says_why(tmp_path: Path):
    async with ScriptedServer(lambda _: calls(("calculate", {"expression": "1"}))) as model:
        program = Program(home=tmp_path / "h", ollama_url=model.url)
        done = await program.run("ask", "x", "--steps", "2")
    assert done.code == 3
    assert "step_limit" in done.err
    assert "all of its 2 steps" in done.err


async def test_ctrl_c_stops_the_run_and_exits_with_4(tmp_path: Path):
    async with ScriptedServer([Raw(pieces=[], hang=True)]) as model:
        program = Program(home=tmp_path / "h", ollama_url=model.url)
        process = await program.start("ask", "x")
        async with asyncio.timeout(60):
            while not model.chats:
                await asyncio.sleep(0.02)
        process.send_signal(signal.SIGINT)
        async with asyncio.timeout(60):
            _, err = await process.communicate()
            await model.chats[0].ended.wait()
        assert process.returncode == 4, err
        assert model.chats[0].closed_early
        runs = (await program.run("runs", "list", "--json")).json()["items"]
        assert [run["status"] for run in runs] == ["cancelled"]


async def test_a_session_goes_on_where_it_was(tmp_path: Path):
    async with ScriptedServer(["I am Ada.", "Ada, as I said."]) as model:
        program = Program(home=tmp_path / "h", ollama_url=model.url)
        await program.run("ask", "Who are you?", "--session", "s")
        await program.run("ask", "Again?", "--session", "s")
        said = [m["content"] for m in model.chats[1].body["messages"] if m["role"] != "system"]
    assert said == ["Who are you?", "I am Ada.", "Again?"]


async def test_without_any_model_the_three_ways_are_named(tmp_path: Path):
    done = await Program(home=tmp_path / "h").run("ask", "x")
    assert done.code == 1
    assert "named by OLLAMA_HOST, does not answer" in done.err
    for way in ("ollama pull qwen3", "OPENAI_BASE_URL", "models pull"):
        assert way in done.err
    assert "Traceback" not in done.err


async def test_an_unknown_model_and_base_are_named_with_those_that_exist(tmp_path: Path):
    async with ScriptedServer() as model:
        program = Program(home=tmp_path / "h", ollama_url=model.url)
        done = await program.run("ask", "x", "--model", "nope")
        assert done.code == 1
        assert "'nope'" in done.err
        assert "scripted" in done.err
        done = await program.run("ask", "x", "--kb", "nope")
        assert done.code == 1
        assert "'nope'" in done.err


async def test_control_characters_of_an_answer_do_not_reach_the_terminal(tmp_path: Path):
    async with ScriptedServer(["red \x1b[31malert\x07 \u202eright"]) as model:
        done = await Program(home=tmp_path / "h", ollama_url=model.url).run("ask", "x")
    assert "\x1b" not in done.out
    assert "\x07" not in done.out
    assert "\u202e" not in done.out
    assert "\\x1b[31malert" in done.out


async def test_what_is_not_in_this_version_is_refused_not_ignored(tmp_path: Path):
    async with ScriptedServer() as model:
        program = Program(home=tmp_path / "h", ollama_url=model.url)
        for flag in (["--workspace"], ["--strategy", "deep-research"]):
            done = await program.run("ask", "x", *flag)
            assert done.code == 2
            assert "not in this version" in done.err
        assert model.requests == []


async def test_a_wrong_option_is_told_before_any_model_is_looked_for(tmp_path: Path):
    program = Program(home=tmp_path / "h")
    for flag in (["--workspace"], ["--strategy", "x"]):
        done = await program.run("ask", "x", *flag)
        assert (done.code, "not in this version" in done.err) == (2, True)
    assert not (tmp_path / "h").exists()
    assert not (tmp_path / "cache").exists()


async def test_a_run_that_gets_no_web_though_asked_says_why_once(tmp_path: Path):
    note = tmp_path / "note.md"
    note.write_text("The gate code is 4711.")
    calling = [calls(("get_current_datetime", {})), "Late."]
    async with ScriptedServer([*calling, *calling, *calling]) as model:
        program = Program(home=tmp_path / "h", ollama_url=model.url)
        await program.run("kb", "add", "Board", str(note), "--confidential")
        for asked in (("--web", "--kb", "Board"), ("--kb", "Board")):
            done = await program.run("ask", "x", *asked)
            assert (done.code, "no web in this run" in done.err) == (0, False), done.err
        blocked = replace(program, env=(("INGLENOOK_APPROVALS__WEB_SEARCH", "block"),))
        done = await blocked.run("ask", "x", "--web")
        assert done.err.count("no web in this run: the operator blocks web search") == 1


async def test_a_second_ask_beside_a_server_goes_through_it(tmp_path: Path):
    async with ScriptedServer(["one"]) as model:
        program = Program(home=tmp_path / "h", ollama_url=model.url)
        server = await program.start("serve", "--port", "0", "--no-open")
        await line_with(server, "Ctrl-C")
        done = await program.run("ask", "x")
        assert (done.code, done.out) == (0, "one\n")
        second = await program.run("serve", "--port", "0", "--no-open")
        assert second.code == 1
        assert "another Inglenook server holds the home" in second.err
        server.send_signal(signal.SIGINT)
        async with asyncio.timeout(60):
            await server.communicate()
        assert not (tmp_path / "h" / "server.json").exists()


async def test_a_file_whose_name_is_not_utf8_is_asked(tmp_path: Path):
    note = tmp_path / os.fsdecode(b"caf\xe9.txt")
    note.write_text("The gate code is 4711.")
    script = [calls(("search_knowledge_base", {"query": "gate code"})), "4711 [1]."]
    async with ScriptedServer(script) as model:
        program = Program(home=tmp_path / "h", ollama_url=model.url)
        done = await program.run("ask", "gate code?", "--file", str(note))
    assert done.code == 0, done.err
    assert "caf�.txt" in done.err


async def test_names_of_arguments_do_not_act_on_the_terminal(tmp_path: Path):
    evil = "\x1b]52;c;eA==\x07"
    script = [calls(("calculate", {evil: "1", "expression": "1"})), "One."]
    async with ScriptedServer(script) as model:
        done = await Program(home=tmp_path / "h", ollama_url=model.url).run("ask", "1?")
    assert "\\x1b]52;c;eA==\\x07=" in done.err
    assert "\x1b" not in done.err
    assert "\x07" not in done.err


@pytest.mark.parametrize("steps", ["0", "1001"])
async def test_steps_out_of_range_are_a_usage_error_with_the_range(tmp_path: Path, steps: str):
    done = await Program(home=tmp_path / "h").run("ask", "x", "--steps", steps)
    assert done.code == 2
    assert "1 to 1000" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("ask", "x", "--session", os.fsdecode(b"a\xff")),
        ("ask", "x", "--kb", os.fsdecode(b"a\xff")),
        ("ask", os.fsdecode(b"a\xff")),
        ("runs", "show", os.fsdecode(b"a\xff")),
        ("kb", "search", "x", os.fsdecode(b"a\xff")),
    ],
)
async def test_an_argument_that_is_no_text_is_a_usage_error(
    tmp_path: Path, arguments: tuple[str, ...]
):
    done = await Program(home=tmp_path / "h").run(*arguments)
    assert done.code == 2, done.err
    assert "'a\\udcff' is not UTF-8 text" in done.err
    assert "Traceback" not in done.err
