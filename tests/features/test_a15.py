"""A15: `calculate` takes + - * / // % **, parentheses and numbers, and no other node.

Each refused node type has its own test in tests/tools/test_calculator.py.
"""

import pytest

from inglenook.events import ToolFinished
from inglenook.messages import ToolCall
from inglenook.tools.calculator import CalculatorTool
from inglenook.tools.registry import ToolRegistry
from tests.knowledge.fakes import ListSink, run_context


async def calculated(expression: str) -> ToolFinished:
    sink = ListSink()
    call = ToolCall(id="c", name="calculate", arguments={"expression": expression})
    await ToolRegistry([CalculatorTool()]).dispatch(call, run_context(sink))
    finished = sink.events[-1]
    assert isinstance(finished, ToolFinished)
    return finished


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("17*23", "391"),
        ("1 + 2 - 3.5", "-0.5"),
        ("7 / 2", "3.5"),
        ("7 // 2", "3"),
        ("7 % 4", "3"),
        ("2 ** 10", "1024"),
        ("-(2 + 3) * 4", "-20"),
    ],
)
async def test_arithmetic_is_done(expression: str, result: str):
    finished = await calculated(expression)
    assert (finished.result, finished.is_error, finished.network) == (result, False, False)


@pytest.mark.parametrize("expression", ["x + 1", "abs(-1)", "(1).real", "__import__('os')"])
async def test_names_calls_and_attributes_are_a_clear_error(expression: str):
    finished = await calculated(expression)
    assert finished.is_error
    assert "is not allowed; only numbers with + - * / // % **" in finished.result
