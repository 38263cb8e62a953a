"""The server and the signals that end it."""

import asyncio
import signal
from pathlib import Path

import aiohttp
import pytest

from tests.cli.program import Program, line_with, stop


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_the_servers_token_goes_with_it(tmp_path: Path, number: signal.Signals):
    program = Program(home=tmp_path / "h")
    process = await program.start("serve", "--port", "0", "--no-open")
    await line_with(process, "Inglenook ")
    assert (program.home / "server.json").exists()
    process.send_signal(number)
    async with asyncio.timeout(20):
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
