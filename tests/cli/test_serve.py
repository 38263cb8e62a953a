"""The server and the signals that end it."""

import asyncio
import signal
from pathlib import Path

import pytest

from tests.cli.program import Program, line_with


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
