"""`final_answer`: how a research agent ends its work; the call's argument is the run's answer."""

from pydantic import BaseModel, Field

from inglenook.messages import ToolOutput
from inglenook.run_context import RunContext
from inglenook.tools.base import ToolSpec


class FinalAnswerArguments(BaseModel):
    answer: str = Field(min_length=1, description="the whole answer, with its source numbers")


class FinalAnswerTool:
    spec = ToolSpec(
        name="final_answer",
        description="Give the answer and end the research. Call it alone, once you know enough.",
        arguments=FinalAnswerArguments,
        effect="read",
        may_be_long=False,
        ends_run=True,
    )

    async def run(self, arguments: FinalAnswerArguments, run: RunContext) -> ToolOutput:
        return ToolOutput(text=arguments.answer)
