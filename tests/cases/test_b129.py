"""B129: `9**9**9` does not freeze the server: an immediate error that names the limit."""

import time

import pytest

from inglenook.errors import ToolError
from inglenook.tools.calculator import CalculatorTool
from tests.knowledge.fakes import run_context


@pytest.mark.parametrize("expression", ["9**9**9", "10**1000000000"])
async def test_a_number_too_large_is_refused_before_it_is_computed(expression: str):
    tool = CalculatorTool()
    began = time.process_time()
    with pytest.raises(ToolError, match="too large: whole numbers may have 1000 digits"):
        await tool.run(tool.spec.arguments(expression=expression), run_context())
    assert time.process_time() - began < 1
