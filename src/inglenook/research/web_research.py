"""`web_research`: a child run researches one question; its report comes back, its pages do not."""

import json
from collections.abc import Sequence
from dataclasses import replace

from pydantic import BaseModel, Field

from inglenook.agent.delegate import ChildAgent, ChildResult, ChildRunner, run_child_of
from inglenook.agent.sources import renumbered
from inglenook.agent.strategies import RESEARCH
from inglenook.messages import Label, Source, ToolOutput
from inglenook.research.instructions import task_text
from inglenook.run_context import RunContext
from inglenook.tools.base import ToolSpec

MAX_QUERY_CHARS = 4_000
MAX_UNCITED = 8
"""Sources that are passed on where the report cites none of those it was shown."""
READ_THE_WEB: Label = "untrusted"
AGENT = ChildAgent(description="researches the web", strategy=RESEARCH.name, model=None, steps=None)


class WebResearchArguments(BaseModel):
    query: str = Field(
        min_length=1, max_length=MAX_QUERY_CHARS, description="the whole question to be answered"
    )


class WebResearchTool:
    """Result, as JSON text: `{"status": "ok", "result": str}` or `{"status": "error",
    "message": str}`, each with `"researched": bool` and `"sources": [str]`."""

    def __init__(self, runner: ChildRunner) -> None:
        self._runner = runner
        self.spec = ToolSpec(
            name="web_research",
            description=(
                "Have a research assistant answer one question from the public web. It makes its "
                "own searches, reads pages and returns a report with numbered sources; use it for "
                "what takes more than one search. Put no confidential words into the question."
            ),
            arguments=WebResearchArguments,
            effect="read",
            needs_web=True,
        )

    async def run(self, arguments: WebResearchArguments, run: RunContext) -> ToolOutput:
        result = await run_child_of(
            run, self._runner, AGENT, lambda seen: task_text(arguments.query, seen)
        )
        text, sources = renumbered(result.answer, _passed_on(result.sources), run.sources)
        report = _report(result, text)
        report["researched"] = bool(result.sources)
        report["sources"] = [
            f"[{each.n}] {each.title} {each.url or ''}".strip() for each in sources
        ]
        return ToolOutput(
            text=json.dumps(report, ensure_ascii=False),
            sources=sources,
            network=result.network,
            labels=tuple(sorted({*result.labels, READ_THE_WEB})),
            is_error=report["status"] == "error",
        )


def _passed_on(sources: Sequence[Source]) -> list[Source]:
    """What the parent may cite: what the report cites, else what it was shown first."""
    cited = [source for source in sources if source.cited]
    return cited or [replace(source, cited=True) for source in sources[:MAX_UNCITED]]


def _report(result: ChildResult, text: str) -> dict[str, object]:
    """An answer without research is one, and says so in its first line; all else is an error."""
    if result.status == "complete" or (result.reason == "no_evidence" and text):
        return {"status": "ok", "result": text}
    reason = f" ({result.reason})" if result.reason else ""
    had = f" What it had: {text}" if text else ""
    message = f"The research ended {result.status}{reason}: {result.explanation}{had}"
    return {"status": "error", "message": message}
