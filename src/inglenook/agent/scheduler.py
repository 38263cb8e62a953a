"""Order one step's tool calls: reads overlap, a write runs alone.

Owns ordering only; permission is the registry's, which holds what the run may call.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from itertools import groupby
from typing import TypeVar

from inglenook.errors import ApprovalNeeded
from inglenook.events import Effect
from inglenook.messages import ToolCall

VERSION = "scheduler@1"
Stage = tuple[ToolCall, ...]
Result = TypeVar("Result")

MAX_PARALLEL_READS = 8  # per run; leaves room for other runs


def plan_stages(calls: Sequence[ToolCall], effect_of: Callable[[str], Effect]) -> list[Stage]:
    """Split `calls`, in the model's order, into stages that run one after another.

    Neighbouring reads share a stage; each write is its own, so it never races a read.
    """
    stages: list[Stage] = []
    for effect, neighbours in groupby(calls, key=lambda call: effect_of(call.name)):
        group = tuple(neighbours)
        size = MAX_PARALLEL_READS if effect == "read" else 1
        stages += [group[start : start + size] for start in range(0, len(group), size)]
    return stages


async def run_stages(
    stages: Sequence[Stage],
    dispatch: Callable[[ToolCall], Coroutine[None, None, Result | ApprovalNeeded]],
) -> list[Result]:
    """Return one result per call, in the model's order; a failed tool is a result too.

    Raises:
        ApprovalNeeded: `dispatch` returned one. The rest of its stage has ended, later stages
            never start.
        Exception: What `dispatch` raised first. The rest of its stage is cancelled and later
            stages never start.
    """
    results: list[Result] = []
    for stage in stages:
        if len(stage) == 1:
            results += _settled([await dispatch(stage[0])])
            continue
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(dispatch(call)) for call in stage]
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from failed
        results += _settled([task.result() for task in tasks])
    return results


def _settled(outcomes: Sequence[Result | ApprovalNeeded]) -> list[Result]:
    """
    Raises:
        ApprovalNeeded: One of the outcomes is one.
    """
    settled: list[Result] = []
    for outcome in outcomes:
        if isinstance(outcome, ApprovalNeeded):
            raise outcome
        settled.append(outcome)
    return settled
