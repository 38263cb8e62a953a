"""The agent of the strategy `research`: searches the web, reads pages, answers with sources.

It is `Assistant` with other values (`agent/strategies.py`), other instructions and fewer tools;
there is no second loop. A run of its own or another run's child, it works alike.
"""

from collections.abc import Sequence

from inglenook.agent.approvals import Approving
from inglenook.agent.assistant import Assistant, Toolbox
from inglenook.agent.strategies import RESEARCH
from inglenook.context.base import ContextPolicy
from inglenook.knowledge.base import Knowledge, Retriever
from inglenook.providers.catalogue import ModelCatalogue
from inglenook.research.final_answer import FinalAnswerTool
from inglenook.research.instructions import research_prompt
from inglenook.tools.base import Tool


class ResearchToolbox:
    """The web, and a way to end: no documents, nothing that writes, no helpers of its own."""

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox

    def local_tools(self) -> Sequence[Tool]:
        return [FinalAnswerTool()]

    def document_tools(self, retriever: Retriever) -> Sequence[Tool]:
        return []

    def web_tools(self) -> Sequence[Tool]:
        return self._toolbox.web_tools()

    def delegate_tools(self) -> Sequence[Tool]:
        return []


def research_agent(
    *,
    models: ModelCatalogue,
    knowledge: Knowledge,
    toolbox: Toolbox,
    context: ContextPolicy,
    approving: Approving,
    tool_result_tokens: int | None = None,
) -> Assistant:
    """`toolbox` is the runtime's; of it the agent takes what works on the web."""
    return Assistant(
        models=models,
        knowledge=knowledge,
        toolbox=ResearchToolbox(toolbox),
        context=context,
        approving=approving,
        tool_result_tokens=tool_result_tokens,
        strategy=RESEARCH,
        instructions=research_prompt,
    )
