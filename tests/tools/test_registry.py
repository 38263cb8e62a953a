"""The registry runs what fits, says what it changed, and marks only what was really sent."""

from typing import Any

import pytest
from pydantic import BaseModel, Field

from inglenook.errors import ToolError
from inglenook.events import ToolFinished
from inglenook.messages import ToolCall, ToolOutput
from inglenook.run_context import RunContext
from inglenook.tools.base import ToolSpec
from inglenook.tools.calculator import CalculatorTool
from inglenook.tools.registry import ToolRegistry, validated
from tests.knowledge.fakes import ListSink, run_context


class Arguments(BaseModel):
    query: str = Field(default="", max_length=5)
    k: int = 5
    share: float = 0.5
    deep: bool = False
    tags: tuple[str, ...] = ()


class WebTool:
    spec = ToolSpec(name="web", description="", arguments=Arguments, effect="read", open_world=True)

    async def run(self, arguments: Any, run: RunContext) -> ToolOutput:
        if arguments.query == "fail":
            raise ToolError("the engine is away")
        return ToolOutput(text="found")


def call(**arguments: object) -> ToolCall:
    return ToolCall(id="c", name="web", arguments=arguments)


def notes(**arguments: object) -> tuple[str, ...]:
    return validated(WebTool.spec, call(**arguments))[1]


async def finished(tool: Any, call: ToolCall) -> ToolFinished:
    sink = ListSink()
    await ToolRegistry([tool]).dispatch(call, run_context(sink))
    event = sink.events[-1]
    assert isinstance(event, ToolFinished)
    return event


def test_every_changed_value_is_noted():
    assert notes(k=3.0) == ("k: 3.0 taken as 3",)
    assert notes(k="7") == ("k: '7' taken as 7",)
    assert notes(deep=1) == ("deep: 1 taken as True",)
    assert notes(share="0.25") == ("share: '0.25' taken as 0.25",)


def test_what_came_as_wanted_is_not_noted():
    assert notes(query="a", k=3, share=0.25, deep=True, tags=["x"]) == ()


@pytest.mark.parametrize("field", ["k", "share"])
def test_a_boolean_is_no_number(field: str):
    with pytest.raises(ToolError, match=f"{field}: a boolean is not wanted here, got True"):
        notes(**{field: True})


async def test_a_web_call_that_was_refused_before_it_was_sent_used_no_network():
    refused = await finished(WebTool(), call(query="too long"))
    assert (refused.is_error, refused.network) == (True, False)


async def test_a_web_call_that_ran_used_the_network_even_if_it_failed():
    assert (await finished(WebTool(), call(query="a"))).network
    assert (await finished(WebTool(), call(query="fail"))).network


@pytest.mark.parametrize("name", ["FUNCTIONS.calculate", "functions.Calculate", " CALCULATE "])
async def test_a_name_is_known_in_any_case_and_with_its_prefix(name: str):
    event = await finished(
        CalculatorTool(), ToolCall(id="c", name=name, arguments={"expression": "6*7"})
    )
    assert (event.result, event.is_error) == ("42", False)
