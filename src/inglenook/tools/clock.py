"""`get_current_datetime`: the machine's local time. The system prompt has the day alone."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, ConfigDict

from inglenook.messages import ToolOutput
from inglenook.run_context import RunContext
from inglenook.tools.base import ToolSpec


class ClockArguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ClockTool:
    spec = ToolSpec(
        name="get_current_datetime",
        description="Get the local date, weekday and time with the UTC offset.",
        arguments=ClockArguments,
        effect="read",
        may_be_long=False,
        volatile=True,
    )

    def __init__(self, now: Callable[[], datetime] | None = None) -> None:
        """`now` gives an aware time; default: the machine's, in its own time zone."""
        self._now = now or _local_now

    async def run(self, arguments: Any, run: RunContext) -> ToolOutput:
        now = self._now()
        assert now.tzinfo is not None
        offset = f"{now:%z}"
        zone = f"UTC{offset[:3]}:{offset[3:5]}"
        return ToolOutput(
            text=f"{now:%A}, {now.isoformat(timespec='seconds')} (local time, {zone})"
        )


def _local_now() -> datetime:
    return datetime.now(UTC).astimezone()
