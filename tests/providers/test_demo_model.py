"""The demo model's process is started once, restarted in place, and never outlives its parent."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import aiohttp
import pytest

from inglenook.errors import ProviderError
from inglenook.providers.demo_examples import DEMO_EXAMPLES
from inglenook.providers.demo_model import DemoModel
from inglenook.providers.demo_server import patched, threads
from inglenook.providers.scripted import ScriptedProvider
from inglenook.providers.weights_file import Progress
from tests.providers.fake_weights_source import FakeWeightsSource
from tests.providers.test_demo_weights import weights

FAKE = (sys.executable, str(Path(__file__).with_name("fake_demo_server.py")))


def ignore(_: Progress) -> None: ...


def process_of(url: str) -> int:
    """The id of the process that listens at `url`."""
    port = int(url.split(":")[2].split("/")[0])
    wanted = f":{port:04X}"
    inode = next(
        line.split()[9]
        for line in Path("/proc/net/tcp").read_text().splitlines()
        if line.split()[1].endswith(wanted) and line.split()[3] == "0A"
    )
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        with contextlib.suppress(OSError):
            if os.readlink(link) == f"socket:[{inode}]":
                return int(link.parts[2])
    raise AssertionError(f"nobody listens at {url}")


async def death_of(pid: int) -> None:
    """Returns once the process has ended; an orphan may stay a zombie where nobody reaps it."""
    async with asyncio.timeout(60):
        with contextlib.suppress(OSError):
            while ") Z " not in Path(f"/proc/{pid}/stat").read_text():
                await asyncio.sleep(0.02)


async def test_started_once_for_all_who_ask(tmp_path: Path) -> None:
    async with FakeWeightsSource() as source:
        demo = DemoModel(weights(source, tmp_path), tmp_path / "demo.log", command=FAKE)
        stages: list[str] = []
        async with asyncio.TaskGroup() as group:
            first = group.create_task(demo.ensure(lambda each: stages.append(each.stage)))
            second = group.create_task(demo.ensure(lambda each: stages.append(each.stage)))
        assert first.result() == second.result()
        assert stages.count("start") == 1
        spec = first.result()
        assert demo.serves(spec)
        assert not demo.serves(replace(spec, api_key=None))
        assert (spec.id, spec.provider, spec.examples) == ("demo", "openai", DEMO_EXAMPLES)
        assert spec.base_url.startswith("http://127.0.0.1:")
        assert "small demo model" in spec.note
        assert spec.api_key is not None
        assert spec.api_key not in repr(spec)
        await demo.stop()


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
async def test_dead_server_is_started_again_at_its_address(tmp_path: Path) -> None:
    async with FakeWeightsSource() as source:
        demo = DemoModel(weights(source, tmp_path), tmp_path / "demo.log", command=FAKE)
        before = await demo.ensure(ignore)
        killed = process_of(before.base_url)
        os.kill(killed, signal.SIGKILL)
        await death_of(killed)
        assert await demo.ensure(ignore) == before
        assert process_of(before.base_url) != killed
        await demo.stop()


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
async def test_call_to_a_dead_server_starts_it_again(tmp_path: Path) -> None:
    async with FakeWeightsSource() as source, aiohttp.ClientSession() as session:
        demo = DemoModel(weights(source, tmp_path), tmp_path / "demo.log", command=FAKE)
        spec = await demo.ensure(ignore)
        provider = demo.kept(ScriptedProvider(), spec, session)
        killed = process_of(spec.base_url)
        os.kill(killed, signal.SIGKILL)
        await death_of(killed)
        await provider.abilities()
        assert process_of(spec.base_url) != killed
        await demo.stop()


async def test_stop_ends_the_process(tmp_path: Path) -> None:
    async with FakeWeightsSource() as source:
        demo = DemoModel(weights(source, tmp_path), tmp_path / "demo.log", command=FAKE)
        spec = await demo.ensure(ignore)
        await demo.stop()
        await demo.stop()
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", int(spec.base_url.split(":")[2][:-3]))


async def test_failed_start_tells_the_servers_last_words(tmp_path: Path) -> None:
    async with FakeWeightsSource() as source:
        command = (*FAKE, "fail")
        demo = DemoModel(weights(source, tmp_path), tmp_path / "demo.log", command=command)
        with pytest.raises(ProviderError, match="did not start .* error: not enough memory"):
            await demo.ensure(ignore)


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
async def test_server_dies_with_a_killed_parent(tmp_path: Path) -> None:
    async with FakeWeightsSource() as source:
        await weights(source, tmp_path).ensure(ignore)
        program = f"""
            import asyncio
            from pathlib import Path
            from inglenook.providers.demo_model import DemoModel
            from inglenook.providers.demo_weights import DemoWeights
            from tests.providers.test_demo_model import *
            async def main():
                folder = Path({str(tmp_path)!r})
                demo = DemoModel(
                    weights(FakeWeightsSource(port={source.port}), folder), folder / "x.log",
                    command=FAKE,
                )
                print((await demo.ensure(ignore)).base_url, flush=True)
                await asyncio.sleep(60)
            asyncio.run(main())
        """
    parent = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    child = process_of(parent.stdout.readline().strip())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    await death_of(child)


def test_template_gets_a_tag_that_the_model_writes() -> None:
    stock = 'within <tool_call></tool_call> tags:\\n<tool_call>\\n{{"name": …}}\\n</tool_call>'
    assert patched(stock) == (
        'within [tool_call][/tool_call] tags:\\n[tool_call]\\n{{"name": …}}\\n[/tool_call]'
    )


def test_half_of_the_cores_and_at_least_one() -> None:
    assert [threads(cores) for cores in (1, 2, 3, 8)] == [1, 1, 1, 4]


def test_examples_pair_every_call_with_its_result() -> None:
    open_calls: set[str | None] = set()
    for message in DEMO_EXAMPLES:
        open_calls |= {call.id for call in message.tool_calls}
        if message.role == "tool":
            open_calls.remove(message.call_id)
        if message.role == "user":
            assert not open_calls
    ids = [call.id for message in DEMO_EXAMPLES for call in message.tool_calls]
    assert len(ids) == len(set(ids))
