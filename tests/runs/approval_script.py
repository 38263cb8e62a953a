"""The run that `test_approvals.py` kills: one search that is approved, then the answer.

As a program: `approval_script.py HOME N` runs it, approves what waits, and kills itself once N
events are stored.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

from inglenook.egress import OutgoingRequest
from inglenook.run_context import RunContext
from inglenook.store.base import StoredEvent
from tests.sending import SearchTool, Wire
from tests.support import FunctionProvider, ask, bench, call, results, say


def reading_searcher() -> FunctionProvider:
    return FunctionProvider(
        lambda view: (
            say("done") if results(view) else say("", call("web_search", "c", query="otters"))
        )
    )


class FileWire(Wire):
    """What has left stands in a file, which a kill leaves behind."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        lines = path.read_text().split() if path.exists() else []
        self.sent = [OutgoingRequest(method="POST", url=line) for line in lines]

    async def send(self, requests: object, run: RunContext, why: str) -> None:
        await super().send(requests, run, why)  # pyright: ignore[reportArgumentType]
        with self._path.open("a") as file:
            file.write(f"{self.sent[-1].url}\n")


def wire_log(home: Path) -> Wire:
    return FileWire(home / "wire.log")


async def main(home: Path, kill_at: int) -> None:
    async with bench(home, reading_searcher(), web=[SearchTool(wire_log(home))]) as b:
        stored = 0

        def count(event: StoredEvent) -> None:
            nonlocal stored
            committed(event)
            stored += 1
            if stored == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)

        broadcast = b.supervisor._broadcast  # pyright: ignore[reportPrivateUsage]
        committed = broadcast.committed
        broadcast.committed = count
        row = await b.service.start(ask("?", web=True, approvals={"web_search": "ask"}))
        await b.service.wait(row.id)
        await b.service.decide(row.id, "c", "approve")
        await b.service.wait(row.id)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
