"""The run that `test_crash.py` kills: a read, two parallel reads, a write, then the answer.

As a program: `crash_script.py HOME N` runs it and kills itself once N events are stored.
"""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from inglenook.events import Effect
from inglenook.messages import Message, ToolOutput
from inglenook.run_context import RunContext
from inglenook.store.base import StoredEvent
from inglenook.tools.base import ToolSpec
from tests.support import Bench, FunctionProvider, TextArguments, ask, bench, call, results, say

BOUNDARIES = 22
"""Events of the whole run before its last one."""


def script(messages: Sequence[Message]) -> Message:
    match results(messages):
        case 0:
            return say("", call("look", "read-1", text="a"))
        case 1:
            return say("", call("look", "read-2", text="b"), call("look", "read-3", text="c"))
        case 3:
            return say("", call("change", "write-1", text="d"))
        case _:
            return say("all done")


@dataclass
class LoggedTool:
    """Writes each execution to a file before it answers: the effect that a test can count."""

    home: Path
    name: str
    effect: Effect

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(
            name=self.name, description="x", arguments=TextArguments, effect=self.effect
        )

    async def run(self, arguments: TextArguments, run: RunContext) -> ToolOutput:
        with (self.home / "work.log").open("a") as file:
            file.write(run.call_id + "\n")
        return ToolOutput(text=f"did {arguments.text}")


def work_log(home: Path) -> list[str]:
    path = home / "work.log"
    return path.read_text().split() if path.exists() else []


@asynccontextmanager
async def script_bench(home: Path, *, slow: bool = False) -> AsyncGenerator[Bench, None]:
    tools = [LoggedTool(home, "look", "read"), LoggedTool(home, "change", "write")]
    provider = FunctionProvider(script, delay_s=600 if slow else 0)
    async with bench(home, provider, tools=tools) as b:
        yield b


async def main(home: Path, kill_after: int) -> None:
    async with script_bench(home) as b:
        stored = 1  # run_started is there when `start` returns

        def count(event: StoredEvent) -> None:
            nonlocal stored
            stored = max(stored, event.seq + 1)
            if stored >= kill_after:
                os.kill(os.getpid(), signal.SIGKILL)

        b.supervisor._broadcast.committed = count  # pyright: ignore[reportPrivateUsage]
        row = await b.service.start(ask("go"))
        if kill_after <= 1:
            os.kill(os.getpid(), signal.SIGKILL)
        while (await b.service.row(row.id)).finished_at is None:
            await asyncio.sleep(0.01)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
