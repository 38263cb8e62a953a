"""Fan a run's stored events and live deltas out to whoever follows it in this process."""

import asyncio
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager
from typing import TypeAlias

from inglenook.events import TextDelta
from inglenook.store.base import StoredEvent

Frame: TypeAlias = StoredEvent | TextDelta
MAX_WAITING_PIECES = 10_000
"""A reader this far behind misses live text; it never misses an event."""


class Piece:
    """A delta and the reply it comes behind, so that nobody shows it after its own reply."""

    __slots__ = ("after_reply", "delta")

    def __init__(self, delta: TextDelta, after_reply: int) -> None:
        self.delta = delta
        self.after_reply = after_reply
        """`seq` of the run's last `model_replied`; -1: none yet."""


Queued: TypeAlias = StoredEvent | Piece


class Subscription:
    """One reader's queue."""

    def __init__(self) -> None:
        self._frames: deque[Queued] = deque()
        self._wake = asyncio.Event()

    def put(self, frame: Queued) -> None:
        if isinstance(frame, Piece) and len(self._frames) > MAX_WAITING_PIECES:
            return
        self._frames.append(frame)
        self._wake.set()

    async def get(self, timeout_s: float) -> Queued | None:
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

    def put(self, frame: Queued) -> None:
        if isinstance(frame, StoredEvent) and frame.type in ("run_finished", "run_waiting"):
            super().put(frame)


class LiveRun:
    """A run that this process executes."""

    __slots__ = ("held", "pieces", "reply", "stored")

    def __init__(self) -> None:
        self.stored = 0
        """Events that are stored since this process took the run up."""
        self.reply = -1
        """`seq` of the last `model_replied` among them."""
        self.pieces: list[Piece] = []
        """What came of a reply that is not there yet, for readers who join in its middle."""
        self.held: deque[tuple[int, TextDelta]] = deque()
        """Deltas that were faster than the events before them."""


class Broadcast:
    def __init__(self) -> None:
        self._readers: dict[str, set[Subscription]] = {}
        self._live: dict[str, LiveRun] = {}

    def begin(self, run_id: str) -> None:
        """This process took the run up; its events are counted from here."""
        self._live[run_id] = LiveRun()

    def end(self, run_id: str) -> None:
        """This process works on the run no more, however that came."""
        self._live.pop(run_id, None)

    def publish(self, run_id: str, delta: TextDelta, behind: int) -> None:
        """Show a delta once the first `behind` events since `begin` are stored."""
        live = self._live.get(run_id)
        if live is None:
            return  # the run was ended under its executor's hands
        if live.stored < behind:
            live.held.append((behind, delta))
        else:
            self._show(run_id, live, delta)

    def committed(self, event: StoredEvent) -> None:
        """The store's callback: an event is seen only once it is durable."""
        self._fan_out(event.run_id, event)
        live = self._live.get(event.run_id)
        if live is None:
            return
        live.stored += 1
        if event.type == "model_replied":
            live.reply = event.seq
            live.pieces.clear()
        elif event.type in ("run_finished", "run_waiting"):
            del self._live[event.run_id]
        while live.held and live.held[0][0] <= live.stored:
            self._show(event.run_id, live, live.held.popleft()[1])

    def _show(self, run_id: str, live: LiveRun, delta: TextDelta) -> None:
        piece = Piece(delta, live.reply)
        live.pieces.append(piece)
        self._fan_out(run_id, piece)

    def _fan_out(self, run_id: str, frame: Queued) -> None:
        for reader in self._readers.get(run_id, ()):
            reader.put(frame)

    @contextmanager
    def subscribed(self, run_id: str, reader: Subscription) -> Generator[None]:
        """Within the block, `reader` gets the run's frames, begun replies from their start."""
        live = self._live.get(run_id)
        for piece in live.pieces if live else ():
            reader.put(piece)
        readers = self._readers.setdefault(run_id, set())
        readers.add(reader)
        try:
            yield
        finally:
            readers.discard(reader)
            if not readers and self._readers.get(run_id) is readers:
                del self._readers[run_id]
