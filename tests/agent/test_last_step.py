"""What counts as the answer of a run that is asked for it without tools."""

import pytest

from inglenook.agent.last_step import concluded
from inglenook.agent.strategies import RESEARCH
from inglenook.events import PromptBuilt
from inglenook.research.final_answer import FinalAnswerTool
from inglenook.tools.registry import schema_of
from tests.research.web_fakes import FakeSearch

PROMPT = PromptBuilt(
    system="x",
    tools=("final_answer", "web_search"),
    schemas=(schema_of(FinalAnswerTool.spec), schema_of(FakeSearch.spec)),
    ends_run=("final_answer",),
    last_step_tools=RESEARCH.last_step_tools,
    max_steps=3,
)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("It is 321 m high [1].", "It is 321 m high [1]."),
        ("", ""),
        ('{"name": "final_answer", "arguments": {"answer": "321 m [1]."}}', "321 m [1]."),
        ('{"answer": "321 m [1]."}', "321 m [1]."),
        ('<tool_call>{"name": "web_search", "arguments": {"query": "x"}}</tool_call>', ""),
        ('{"name": "web_search", "arguments": {"query": "x"}}', ""),
        ('The file says {"height": 321}, in metres.', 'The file says {"height": 321}, in metres.'),
    ],
)
def test_a_call_of_the_final_answer_is_one_and_other_calls_are_none(text: str, answer: str):
    assert concluded(text, PROMPT) == answer
