"""The server and the signals that end it."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import aiohttp
import pytest

from tests.cli.program import Program, line_with, stop
from tests.scripted_server import ScriptedServer


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_the_servers_token_goes_with_it(tmp_path: Path, number: signal.Signals):
    program = Program(home=tmp_path / "h")
    process = await program.start("serve", "--port", "0", "--no-open")
    await line_with(process, "Inglenook ")
    assert (program.home / "server.json").exists()
    process.send_signal(number)
    async with asyncio.timeout(60):
        _, err = await process.communicate()
    assert process.returncode == 0, err
    assert not (program.home / "server.json").exists()
    assert list((program.home / "owners").iterdir()) == []
    assert b"Traceback" not in err


async def test_an_allowed_name_is_served_and_another_is_told_the_setting(tmp_path: Path):
    program = Program(
        home=tmp_path / "h", env=(("INGLENOOK_SERVER__ALLOWED_HOSTS", '["box.lan"]'),)
    )
    process = await program.start("serve", "--port", "0", "--no-open")
    address = (await line_with(process, "Inglenook ")).rpartition(" ")[2]
    async with aiohttp.ClientSession() as session:
        for path in ("/", "/api/runs"):
            async with session.get(address + path, headers={"Host": "box.lan"}) as answer:
                assert answer.status == 200
            async with session.get(address + path, headers={"Host": "other.lan"}) as answer:
                assert answer.status == 403
                assert "server.allowed_hosts" in await answer.text()
    await stop(process)


async def a_killed_run(program: Program) -> str:
    """A run on the program's home whose process was killed after its first events; its id."""
    script = Path(__file__).parents[1] / "runs" / "crash_script.py"
    program.home.mkdir(exist_ok=True)
    killed = await asyncio.create_subprocess_exec(
        sys.executable,
        *(script, program.home, "4"),
        env={**os.environ, "PYTHONPATH": str(script.parents[2])},
    )
    assert await killed.wait() == -signal.SIGKILL
    newest, *_ = (await program.run("runs", "list", "--json")).json()["items"]
    return newest["id"]


async def test_the_run_of_a_killed_process_goes_on_while_the_server_runs(tmp_path: Path):
    async with ScriptedServer(["It is done."], models={"m": {"capabilities": ["tools"]}}) as model:
        program = Program(home=tmp_path / "h", ollama_url=model.url)
        server = await program.start("serve", "--port", "0", "--no-open")
        await line_with(server, "Inglenook ")
        run_id = await a_killed_run(program)
        followed = await program.run("runs", "events", run_id, "--follow")
        events = [json.loads(line) for line in followed.out.splitlines()]
        stored = [event for event in events if "seq" in event]
        assert [event["seq"] for event in stored] == list(range(len(stored)))
        assert [event["type"] for event in stored].count("run_resumed") == 1
        assert (stored[-1]["status"], stored[-1]["answer"]) == ("complete", "It is done.")
        await stop(server)


async def test_the_run_of_a_killed_process_says_that_it_needs_a_server(tmp_path: Path):
    program = Program(home=tmp_path / "h")
    run_id = await a_killed_run(program)
    followed = await program.run("runs", "events", run_id, "--follow")
    assert followed.code == 1
    assert "Its process ended; it goes on when `inglenook serve` runs." in followed.err
    shown = await program.run("runs", "show", run_id)
    assert "it goes on when `inglenook serve` runs" in shown.out
