"""What it costs to make a call's arguments fit: CPU of a normal call, and of one that is mended."""

import time
from collections.abc import Mapping
from statistics import median
from typing import Any, Literal

from pydantic import BaseModel, Field

from bench.figures import Figure, limit_figure
from inglenook.messages import ToolCall
from inglenook.tools.base import ToolSpec
from inglenook.tools.registry import validated

LIMIT_MS = 0.1
ROUNDS, CALLS = 7, 2_000


class Search(BaseModel):
    query: str = Field(min_length=1, max_length=2_000)
    k: int = Field(default=5, ge=1, le=20)
    recency: Literal["day", "week", "month"] | None = None
    tags: list[str] = []
    exact: bool = False


SPEC = ToolSpec(name="search", description="Search.", arguments=Search, effect="read")
NORMAL = {"query": "how many vacation days are there?", "k": 5, "recency": "week", "tags": ["hr"]}
MENDED = {"query": 2026, "k": "5", "recency": " Week", "tags": '["hr"]', "exact": "false", "x": 1}


def coercion_figures() -> list[Figure]:
    return [
        limit_figure("arguments of a normal call", cpu_ms(NORMAL), "ms of CPU", LIMIT_MS),
        limit_figure("arguments of a call mended in every field", cpu_ms(MENDED), "ms of CPU", 1.0),
    ]


def cpu_ms(arguments: Mapping[str, Any]) -> float:
    """Median over rounds; the tool's own validation is part of it."""
    call = ToolCall(id="c", name=SPEC.name, arguments=arguments)
    measured: list[float] = []
    for _ in range(ROUNDS):
        began = time.process_time()
        for _ in range(CALLS):
            validated(SPEC, call)
        measured.append((time.process_time() - began) / CALLS * 1000)
    return median(measured)
