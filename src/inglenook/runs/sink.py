"""RecordingSink: nothing reaches a reader before it is in the log."""

from collections.abc import Awaitable

from inglenook.events import RunEvent, TextDelta
from inglenook.runs.broadcast import Broadcast
from inglenook.store.base import RunLog


class RecordingSink:
    """The store calls `Broadcast.committed` for each event; deltas wait for those before them."""

    def __init__(self, run_id: str, log: RunLog, broadcast: Broadcast) -> None:
        self._run_id = run_id
        self._log = log
        self._broadcast = broadcast
        self._emitted = 0
        broadcast.begin(run_id)

    def emit(self, event: RunEvent) -> None:
        self._log.append(event)
        self._emitted += 1

    def settle(self, *, sync: bool = False) -> Awaitable[None]:
        return self._log.settle(sync=sync)

    def publish(self, delta: TextDelta) -> None:
        self._broadcast.publish(self._run_id, delta, self._emitted)
