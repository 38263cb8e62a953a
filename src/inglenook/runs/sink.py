"""RecordingSink: nothing reaches a reader before it is in the log."""

from collections.abc import Awaitable

from inglenook.events import RunEvent, TextDelta
from inglenook.runs.broadcast import Broadcast
from inglenook.store.base import RunLog


class RecordingSink:
    """The store calls `Broadcast.committed` for each event; deltas are published at once."""

    def __init__(self, run_id: str, log: RunLog, broadcast: Broadcast) -> None:
        self._run_id = run_id
        self._log = log
        self._broadcast = broadcast

    def emit(self, event: RunEvent) -> None:
        self._log.append(event)

    def settle(self, *, sync: bool = False) -> Awaitable[None]:
        return self._log.settle(sync=sync)

    def publish(self, delta: TextDelta) -> None:
        self._broadcast.publish(self._run_id, delta)
