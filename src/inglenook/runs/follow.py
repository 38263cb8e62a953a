"""Follow one run: what is stored, then what comes, each event exactly once and in order."""

from collections.abc import AsyncGenerator, Callable

from inglenook.errors import NotFound
from inglenook.events import ENDED
from inglenook.runs.broadcast import (
    Broadcast,
    EndSubscription,
    Frame,
    Piece,
    Queued,
    Subscription,
)
from inglenook.store.base import RunRow, RuntimeStore, StoredEvent

POLL_S = 1.0
"""How often the store is asked, for a run that another process executes."""


def never_left_alone(row: RunRow) -> None:
    """For readers beside whom somebody is sure to go on with every run."""


async def follow(
    store: RuntimeStore,
    broadcast: Broadcast,
    run_id: str,
    after: int,
    check: Callable[[RunRow], None] = never_left_alone,
) -> AsyncGenerator[Frame | None, None]:
    """Events with a larger `seq` than `after`, and live deltas, until the run has ended.

    None says that nothing happened for `POLL_S`. Readers may be in another process than the run.

    Args:
        check: Sees the run's row while nothing happens; raises where nothing more will.

    Raises:
        NotFound: There is no such run.
    """
    last, last_reply = after, -1
    live = Subscription()
    with broadcast.subscribed(run_id, live):
        frame: Queued | None = None
        while True:
            if isinstance(frame, Piece):
                if frame.after_reply >= last_reply:  # else the store told its whole reply already
                    yield frame.delta
            elif frame is None or frame.seq > last:
                news = await _news(store, run_id, last, frame)
                for event in news:
                    yield event
                    last = event.seq
                    if event.type == "model_replied":
                        last_reply = event.seq
                    if event.type == "run_finished":
                        return
                if not news:
                    row = await row_of(store, run_id)
                    if row.status in ENDED:
                        return  # the reader had the end already
                    check(row)
                    yield None
            frame = await live.get(POLL_S)


async def ended_or_waiting(
    store: RuntimeStore, broadcast: Broadcast, run_id: str, check: Callable[[RunRow], None]
) -> RunRow:
    """The run's row once it has ended or waits for a person, whoever executes it.

    Args:
        check: As for `follow`.

    Raises:
        NotFound: There is no such run.
    """
    live = EndSubscription()
    with broadcast.subscribed(run_id, live):
        while True:
            row = await row_of(store, run_id)
            if row.status in ENDED or row.status == "waiting":
                return row
            check(row)
            await live.get(POLL_S)


async def _news(
    store: RuntimeStore, run_id: str, last: int, frame: StoredEvent | None
) -> list[StoredEvent]:
    if frame is not None and frame.seq == last + 1:
        return [frame]
    return await store.read(run_id, after=last)


async def row_of(store: RuntimeStore, run_id: str) -> RunRow:
    """
    Raises:
        NotFound: There is no such run.
    """
    row = await store.get_run(run_id)
    if row is None:
        raise NotFound(f"there is no run {run_id!r}; `inglenook runs list` shows those there are")
    return row
