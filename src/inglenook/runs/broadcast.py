"""Fan a run's stored events and live deltas out to whoever follows it in this process."""

import asyncio
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager
from typing import TypeAlias

from inglenook.events import TextDelta
from inglenook.store.base import StoredEvent

Frame: TypeAlias = StoredEvent | TextDelta
MAX_WAITING_DELTAS = 10_000
"""A reader this far behind misses live text; it never misses an event."""


class Subscription:
    """One reader's queue."""

    def __init__(self) -> None:
        self._frames: deque[Frame] = deque()
        self._wake = asyncio.Event()

    def put(self, frame: Frame) -> None:
        if isinstance(frame, TextDelta) and len(self._frames) > MAX_WAITING_DELTAS:
            return
        self._frames.append(frame)
        self._wake.set()

    async def get(self, timeout_s: float) -> Frame | None:
        """The next frame, or None when none came in time."""
        if not self._frames:
            self._wake.clear()
            try:
                async with asyncio.timeout(timeout_s):
                    await self._wake.wait()
            except TimeoutError:
                return None
        return self._frames.popleft()


class EndSubscription(Subscription):
    """A reader who wants to know only that the run ended or waits."""

    def put(self, frame: Frame) -> None:
        if isinstance(frame, StoredEvent) and frame.type in ("run_finished", "run_waiting"):
            super().put(frame)


class Broadcast:
    def __init__(self) -> None:
        self._readers: dict[str, set[Subscription]] = {}

    def publish(self, run_id: str, frame: Frame) -> None:
        for reader in self._readers.get(run_id, ()):
            reader.put(frame)

    def committed(self, event: StoredEvent) -> None:
        """The store's callback: an event is seen only once it is durable."""
        self.publish(event.run_id, event)

    @contextmanager
    def subscribed(self, run_id: str, reader: Subscription) -> Generator[None]:
        """Within the block, `reader` gets the run's frames."""
        readers = self._readers.setdefault(run_id, set())
        readers.add(reader)
        try:
            yield
        finally:
            readers.discard(reader)
            if not readers and self._readers.get(run_id) is readers:
                del self._readers[run_id]
