"""`read_result`: reads on in a tool result of this run that was too long to be shown whole."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from inglenook.errors import ToolError
from inglenook.messages import ToolOutput
from inglenook.run_context import RunContext
from inglenook.tools.base import ToolSpec


class ReadResultArguments(BaseModel):
    model_config = ConfigDict(extra="forbid")

    id: str = Field(min_length=1, max_length=100, description="The result's id, such as r1")
    offset: int = Field(default=0, ge=0, description="Character to read on from")


class ReadResultTool:
    spec = ToolSpec(
        name="read_result",
        description="Read on in a tool result that was shown in part.",
        arguments=ReadResultArguments,
        effect="read",
    )

    async def run(self, arguments: Any, run: RunContext) -> ToolOutput:
        text = run.results.get(arguments.id.strip().lower())
        if text is None:
            ids = ", ".join(run.results) or "none yet"
            raise ToolError(
                f"no result {arguments.id!r} was shown in part in this run; ids: {ids}."
            )
        start: int = arguments.offset
        if start >= len(text):
            raise ToolError(
                f"offset {start} is past the end of {arguments.id!r}, which has {len(text)} "
                f"characters; the last one is {len(text) - 1}."
            )
        end = min(len(text), start + max(1, run.limits.max_result_chars - NOTE_CHARS))
        rest = f"continue with offset={end}" if end < len(text) else "end of the result"
        return ToolOutput(
            text=f"{text[start:end]}\n[characters {start}-{end} of {len(text)}; {rest}]"
        )


NOTE_CHARS = 100
"""For the line that says where the page stands."""
