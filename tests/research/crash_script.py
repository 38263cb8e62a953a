"""The research that `test_crash.py` kills: a parent, its child, two searches and a page.

As a program: `crash_script.py HOME N` runs it and kills itself once the child has N events.
"""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from inglenook.messages import Message, ToolOutput
from inglenook.run_context import RunContext
from inglenook.store.base import StoredEvent
from tests.research.web_fakes import FakeSearch, FakeVisit, SearchArguments, is_researcher
from tests.support import Bench, FunctionProvider, ask, bench, call, results, say

CHILD_EVENTS = 28
"""Of the whole child before its last one."""


def script(view: Sequence[Message]) -> Message:
    if not is_researcher(view):
        return say("done") if results(view) else say("", call("web_research", "w1", query="q"))
    match results(view):
        case 0:
            return say("", call("web_search", "s1", query="one"))
        case 1:
            return say("", call("web_search", "s2", query="two"))
        case 2:
            return say("", call("visit_webpage", "v1", url="https://site.test/page"))
        case _:
            return say("", call("final_answer", "a1", answer="Found [1]."))


@dataclass
class LoggedSearch(FakeSearch):
    """Writes each search to a file: what left this machine, which a test can count."""

    home: Path = Path()

    async def run(self, arguments: SearchArguments, run: RunContext) -> ToolOutput:
        with (self.home / "searches.log").open("a") as file:
            file.write(arguments.query + "\n")
        return await super().run(arguments, run)


@asynccontextmanager
async def script_bench(home: Path) -> AsyncGenerator[Bench, None]:
    web = [LoggedSearch(home=home), FakeVisit()]
    async with bench(home, FunctionProvider(script), web=web) as b:
        yield b


async def main(home: Path, kill_after: int) -> None:
    async with script_bench(home) as b:
        row = await b.service.start(ask("go", web=True))

        def count(event: StoredEvent) -> None:
            if event.run_id != row.id and event.seq + 1 >= kill_after:
                os.kill(os.getpid(), signal.SIGKILL)

        b.supervisor._broadcast.committed = count  # pyright: ignore[reportPrivateUsage]
        while (await b.service.row(row.id)).finished_at is None:
            await asyncio.sleep(0.01)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
