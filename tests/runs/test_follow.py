"""Following a run: every event once and in order, live text whole and never after its reply."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inglenook.events import TextDelta
from inglenook.runs.broadcast import Broadcast, Frame
from inglenook.runs.follow import follow
from inglenook.store.base import RuntimeStore, StoredEvent


@dataclass
class SlowStore:
    """A log whose readers get what lies there when the read ends, some turns later."""

    turns: int
    events: list[StoredEvent] = field(default_factory=list[StoredEvent])

    async def read(self, run_id: str, *, after: int = -1) -> Sequence[StoredEvent]:
        for _ in range(self.turns):
            await asyncio.sleep(0)
        return [event for event in self.events if event.seq > after]

    async def get_run(self, run_id: str) -> Any:
        return SimpleNamespace(status="running")


KINDS = {"e": "tool_started", "q": "model_requested", "r": "model_replied", "f": "run_finished"}


@dataclass
class FakeRun:
    """Does as a run does: `d` publishes a piece, the others (`KINDS`) emit an event. What was
    emitted is stored `lag` actions later, in order."""

    store: SlowStore
    lag: int = 0
    broadcast: Broadcast = field(default_factory=Broadcast)
    emitted: list[StoredEvent] = field(default_factory=list[StoredEvent])
    said: list[str] = field(default_factory=lambda: [""])
    """Text of each reply; the last one is not complete yet."""

    def __post_init__(self) -> None:
        self.broadcast.begin("r")
        self._due: list[int] = []

    def do(self, action: str) -> None:
        self._due = [turns - 1 for turns in self._due]
        if action == "d":
            piece = chr(ord("a") + len(self.said[-1]) % 26)
            self.said[-1] += piece
            self.broadcast.publish("r", TextDelta(piece), len(self.emitted))
        elif action in KINDS:
            seq, kind = len(self.emitted), KINDS[action]
            event = StoredEvent(run_id="r", seq=seq, at="T", type=kind, payload=b"{}")
            self.emitted.append(event)
            self._due.append(self.lag)
            if action == "r":
                self.said.append("")
        while self._due and self._due[0] <= 0:
            self._due.pop(0)
            event = self.emitted[len(self.store.events)]
            self.store.events.append(event)
            self.broadcast.committed(event)


async def frames_of(run: FakeRun, before: str, after: str, wait_turns: int) -> list[Frame]:
    got: list[Frame] = []

    async def read() -> None:
        async for frame in follow(cast(RuntimeStore, run.store), run.broadcast, "r", -1):
            if frame is not None:
                got.append(frame)

    for action in before:
        run.do(action)
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        group.create_task(read())
        for _ in range(wait_turns):
            await asyncio.sleep(0)
        for action in after:
            run.do(action)
            await asyncio.sleep(0)
        for _ in range(3 * run.store.turns + 6):  # the reader catches up, then the run ends
            run.do(" ")
            await asyncio.sleep(0)
        run.lag = 0
        run.do("f")
    return got


def texts(frames: Sequence[Frame]) -> list[str]:
    """The live text before each reply, and behind the last."""
    replies = [""]
    for frame in frames:
        if isinstance(frame, TextDelta):
            replies[-1] += frame.text
        elif frame.type == "model_replied":
            replies.append("")
    return replies


Call = tuple[int, int]
model_calls = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=4)


def log_of(calls: Sequence[Call]) -> str:
    """Model calls, each with the events before it and its pieces."""
    return "r".join("e" * tools + "q" + "d" * pieces for tools, pieces in calls)


@given(
    calls=model_calls,
    cut=st.integers(0, 30),
    turns=st.integers(0, 4),
    wait=st.integers(0, 5),
    lag=st.integers(0, 5),
)
def test_whenever_a_reader_joins_it_sees_each_event_once_and_no_text_twice(
    calls: list[Call], cut: int, turns: int, wait: int, lag: int
):
    run = FakeRun(SlowStore(turns), lag)
    log = log_of(calls)
    got = asyncio.run(frames_of(run, log[:cut], log[cut:], wait))
    events = [frame for frame in got if isinstance(frame, StoredEvent)]
    assert events == run.store.events
    for seen, said in zip(texts(got), run.said, strict=True):
        assert said.startswith(seen), "what of it is missing comes with the reply itself"
    assert texts(got)[-1] == run.said[-1], "the begun reply is seen from its start"
    before: Frame | None = None
    for frame in got:
        if isinstance(frame, TextDelta):
            assert isinstance(before, TextDelta) or (before and before.type == "model_requested")
        before = frame


@pytest.mark.parametrize("turns", [0, 1, 3])
async def test_who_joins_in_the_middle_of_a_reply_sees_its_beginning(turns: int):
    run = FakeRun(SlowStore(turns))
    got = await frames_of(run, "eqddd", "dd", 1)
    assert texts(got) == ["abcde"]


async def test_text_that_waits_behind_its_reply_is_dropped():
    """The store told the reply before the queue came to the pieces."""
    run = FakeRun(SlowStore(3))
    got = await frames_of(run, "eq", "ddre", 1)
    assert texts(got)[1] == ""


async def test_text_that_is_faster_than_the_log_waits_for_the_events_before_it():
    """Two steps went by before the first of their events was stored."""
    run = FakeRun(SlowStore(0), lag=7)
    got = await frames_of(run, "e", "qdrqdd", 3)
    kinds = ["d" if isinstance(frame, TextDelta) else frame.type for frame in got]
    assert kinds == [
        *("tool_started", "model_requested", "d", "model_replied", "model_requested", "d", "d"),
        "run_finished",
    ]
