"""Reads overlap, a write runs alone, results keep the model's order."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inglenook.agent.scheduler import MAX_PARALLEL_READS, plan_stages, run_stages
from inglenook.errors import ApprovalNeeded
from inglenook.events import Effect
from inglenook.messages import ToolCall

CALLS = st.lists(st.sampled_from(["r", "w"]), max_size=30).map(
    lambda names: [ToolCall(id=str(n), name=name, arguments={}) for n, name in enumerate(names)]
)


def effect_of(name: str) -> Effect:
    return "read" if name.startswith("r") else "write"


@given(CALLS)
def test_a_plan_keeps_the_order_and_isolates_writes(calls: list[ToolCall]):
    stages = plan_stages(calls, effect_of)
    assert [call for stage in stages for call in stage] == calls
    for stage in stages:
        assert len(stage) == 1 or all(effect_of(call.name) == "read" for call in stage)
        assert len(stage) <= MAX_PARALLEL_READS


@given(CALLS)
def test_a_write_never_overlaps_and_waits_for_earlier_reads(calls: list[ToolCall]):
    running: set[str] = set()
    ended: list[str] = []

    async def dispatch(call: ToolCall) -> str:
        if effect_of(call.name) == "write":
            assert not running
            assert ended == [c.id for c in calls[: calls.index(call)]] or set(ended) == {
                c.id for c in calls[: calls.index(call)]
            }
        running.add(call.id)
        await asyncio.sleep(0)
        running.discard(call.id)
        ended.append(call.id)
        return call.id

    got = asyncio.run(run_stages(plan_stages(calls, effect_of), dispatch))
    assert got == [call.id for call in calls]


async def test_neighbouring_reads_overlap():
    calls = [ToolCall(id=str(n), name="r", arguments={}) for n in range(MAX_PARALLEL_READS)]

    all_there = asyncio.Barrier(MAX_PARALLEL_READS)

    async def dispatch(call: ToolCall) -> None:
        await all_there.wait()

    async with asyncio.timeout(60):
        await run_stages(plan_stages(calls, effect_of), dispatch)


async def test_what_a_call_raises_reaches_the_caller_and_later_stages_never_start():
    started: list[str] = []

    async def dispatch(call: ToolCall) -> None:
        started.append(call.id)
        if call.id == "1":
            raise LookupError("no")
        await asyncio.sleep(0.01)

    calls = [ToolCall(id=str(n), name=name, arguments={}) for n, name in enumerate("rrrw")]
    with pytest.raises(LookupError):
        await run_stages(plan_stages(calls, effect_of), dispatch)
    assert "3" not in started


async def test_what_waits_for_a_person_lets_its_neighbours_end_and_stops_later_stages():
    ended: list[str] = []

    async def dispatch(call: ToolCall) -> ApprovalNeeded | None:
        if call.id == "0":
            return ApprovalNeeded("asks")
        await asyncio.sleep(0)
        ended.append(call.id)
        return None

    calls = [ToolCall(id=str(n), name=name, arguments={}) for n, name in enumerate("rrrw")]
    with pytest.raises(ApprovalNeeded):
        await run_stages(plan_stages(calls, effect_of), dispatch)
    assert ended == ["1", "2"]
