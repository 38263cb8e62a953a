"""The registry runs what fits, says what it changed, and marks only what was really sent."""

from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel, Field

from inglenook.egress import OutgoingRequest
from inglenook.errors import ToolError
from inglenook.events import Effect, ToolFinished
from inglenook.messages import ToolCall, ToolOutput
from inglenook.providers.calls import MALFORMED_ARGUMENTS
from inglenook.run_context import RunContext
from inglenook.tools.base import ToolSpec
from inglenook.tools.calculator import CalculatorTool
from inglenook.tools.egress import RecordedEgress
from inglenook.tools.registry import ToolRegistry, validated
from tests.knowledge.fakes import ListSink, run_context


class Arguments(BaseModel):
    query: str = Field(default="", max_length=5)
    k: int = 5


class WebTool:
    spec = ToolSpec(name="web", description="", arguments=Arguments, effect="read", open_world=True)

    async def run(self, arguments: Any, run: RunContext) -> ToolOutput:
        if arguments.query == "fail":
            raise ToolError("the engine is away")
        return ToolOutput(text="found")


def call(**arguments: object) -> ToolCall:
    return ToolCall(id="c", name="web", arguments=arguments)


async def finished(tool: Any, call: ToolCall) -> ToolFinished:
    sink = ListSink()
    await ToolRegistry([tool]).dispatch(call, run_context(sink))
    event = sink.events[-1]
    assert isinstance(event, ToolFinished)
    return event


async def test_the_event_says_what_was_changed_and_what_was_dropped():
    event = await finished(WebTool(), call(query="a", k="3", kbIds=["x"]))
    assert event.coerced == ("k: '3' taken as 3", "dropped unknown argument 'kbIds'")
    assert event.call.arguments == {"query": "a", "k": "3", "kbIds": ["x"]}, "as the model sent it"


async def test_arguments_that_do_not_fit_are_named_and_nothing_runs():
    event = await finished(WebTool(), call(query="a", k="three"))
    assert (event.is_error, event.network, event.coerced) == (True, False, ())
    assert event.result == (
        "web was not run, its arguments are wrong: k: wanted an integer, got 'three'."
    )


async def test_the_bounds_of_a_field_are_the_tools_own_to_check():
    event = await finished(WebTool(), call(query="too long"))
    assert event.result == (
        "web was not run, its arguments are wrong: "
        "query: String should have at most 5 characters, got 'too long'."
    )


@pytest.mark.parametrize(("effect", "open_world"), [("write", False), ("read", True)])
def test_nothing_is_guessed_for_a_tool_with_an_effect(effect: Effect, open_world: bool):
    spec = replace(WebTool.spec, effect=effect, open_world=open_world)
    assert validated(spec, call(k="3"))[1] == ("k: '3' taken as 3",)
    with pytest.raises(ToolError, match="k: wanted an integer, got '3.7'; nothing is guessed"):
        validated(spec, call(k="3.7"))
    local = replace(spec, effect="read", open_world=False)
    assert validated(local, call(k="3.7"))[1] == ("k: '3.7' taken as 3, a guess",)


@pytest.mark.parametrize("effect", ["read", "write"])
def test_arguments_that_were_cut_off_are_refused(effect: Effect):
    spec = replace(WebTool.spec, effect=effect)
    with pytest.raises(ToolError, match="no JSON object"):
        validated(spec, call(**{MALFORMED_ARGUMENTS: '{"query": "a", "k": 3'}))


async def test_a_web_call_that_was_refused_before_it_was_sent_used_no_network():
    refused = await finished(WebTool(), call(query="too long"))
    assert (refused.is_error, refused.network) == (True, False)


@pytest.mark.parametrize(("sent", "left"), [([False, False], False), ([False, True], True)])
async def test_a_web_call_of_which_every_request_stayed_here_used_no_network(
    sent: list[bool], left: bool
):
    class RecordingTool(WebTool):
        async def run(self, arguments: Any, run: RunContext) -> ToolOutput:
            egress = RecordedEgress(run=run, why="web", permission="web")
            for each in sent:
                n = await egress.started(OutgoingRequest(method="GET", url="http://h/"))
                egress.finished(n, status=None, bytes_in=0, sent=each)
            raise ToolError("nobody answered")

    assert (await finished(RecordingTool(), call(query="a"))).network is left


async def test_a_web_call_that_ran_used_the_network_even_if_it_failed():
    assert (await finished(WebTool(), call(query="a"))).network
    assert (await finished(WebTool(), call(query="fail"))).network


@pytest.mark.parametrize("name", ["FUNCTIONS.calculate", "functions.Calculate", " CALCULATE "])
async def test_a_name_is_known_in_any_case_and_with_its_prefix(name: str):
    event = await finished(
        CalculatorTool(), ToolCall(id="c", name=name, arguments={"expression": "6*7"})
    )
    assert (event.result, event.is_error) == ("42", False)
