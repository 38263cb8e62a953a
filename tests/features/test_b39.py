"""B39, as far as calls go: JSON that models write is found in the order whole text, fence, list,
object, mended where one reading is left, and known by any of its usual keys.
"""

from typing import Any

import pytest

from inglenook.messages import ToolSchema
from inglenook.providers.written_calls import WrittenCalls
from tests.providers.streaming import CALCULATE, TOOLS

SUM = ("calculate", {"expression": "2+2"})


def found(text: str, tools: tuple[ToolSchema, ...] = TOOLS) -> list[tuple[str, dict[str, Any]]]:
    written = WrittenCalls(tools).in_answer(text)
    return [(call.name, dict(call.arguments)) for call in written.calls] if written else []


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "calculate", "arguments": {"expression": "2+2"}}',
        '```json\n{"name": "calculate", "arguments": {"expression": "2+2"}}\n```',
        'I will work it out.\n```json\n[{"name": "calculate", "args": {"expression": "2+2"}}]\n```',
        'I will work it out.\n\n[{"name": "calculate", "arguments": {"expression": "2+2"}}]',
        'I will work it out.\n\n{"name": "calculate", "arguments": {"expression": "2+2"}}',
    ],
)
def test_whole_text_fence_list_and_object_are_found(text: str) -> None:
    assert found(text) == [SUM]


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "calculate", "arguments": {"expression": "2+2",},}',
        "{'name': 'calculate', 'arguments': {'expression': '2+2'}}",
        '{{"name": "calculate", "arguments": {"expression": "2+2"}}}',
        '{"name": "calculate", "arguments": "{\\"expression\\": \\"2+2\\"}"}',
    ],
)
def test_json_with_one_reading_is_mended(text: str) -> None:
    assert found(text) == [SUM]


def test_python_and_json_words_may_be_mixed_and_line_breaks_stand_in_strings() -> None:
    flagged = ToolSchema(
        name="note",
        description="",
        parameters={"type": "object", "properties": {"text": {"type": "string"}, "now": {}}},
    )
    text = "{'name': 'note', 'arguments': {'text': 'a', 'now': true, 'until': null}}"
    assert found(text, (flagged,)) == [("note", {"text": "a", "now": True, "until": None})]
    text = '{"name": "note", "arguments": {"text": "line 1\nline 2"}}'
    assert found(text, (flagged,)) == [("note", {"text": "line 1\nline 2"})]


@pytest.mark.parametrize("name", ["name", "tool", "tool_name", "function", "action"])
@pytest.mark.parametrize("arguments", ["arguments", "parameters", "args", "input", "params"])
def test_any_of_the_usual_keys_will_do(name: str, arguments: str) -> None:
    assert found(f'{{"{name}": "calculate", "{arguments}": {{"expression": "2+2"}}}}') == [SUM]


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "calculate", "arguments": {"expression": "2+2"',
        '{"name": "calculate", "arguments": {"expression": 2+}}',
        '{"name": "calculate", "arguments": }',
    ],
)
def test_json_with_no_reading_or_several_is_never_guessed(text: str) -> None:
    written = WrittenCalls((CALCULATE,)).in_answer(text)
    assert written is not None
    assert written.calls == []
    assert written.malformed is not None
