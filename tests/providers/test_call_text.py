"""One recogniser for all the ways in which models write calls as text."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inglenook.messages import ToolSchema
from inglenook.providers.call_shapes import ToolNames
from inglenook.providers.call_text import CallText
from tests.providers.streaming import CALCULATE, TOOLS

CALLS = CallText(ToolNames(TOOLS))
CALL = '{"name": "calculate", "arguments": {"expression": "2+2"}}'
SUM = ("calculate", {"expression": "2+2"})

WRITTEN = {
    "bare JSON": CALL,
    "Qwen2.5 Coder": f"{{{CALL}}}",
    "fenced JSON": f"```json\n{CALL}\n```",
    "fence without language": f"```\n{CALL}\n```",
    "list": f"[{CALL}]",
    "parameters": '{"name": "calculate", "parameters": {"expression": "2+2"}}',
    "args": '{"tool": "calculate", "args": {"expression": "2+2"}}',
    "arguments as text": '{"name":"calculate","arguments":"{\\"expression\\":\\"2+2\\"}"}',
    "OpenAI's nested shape": '{"type":"function","function":' + CALL + "}",
    "OpenAI's reply": '{"tool_calls":[{"id":"x","type":"function","function":' + CALL + "}]}",
    "name as key": '{"calculate": {"expression": "2+2"}}',
    "other case, namespace": '{"name": "functions.Calculate", "arguments": {"expression":"2+2"}}',
    "Python repr": "{'name': 'calculate', 'arguments': {'expression': '2+2'}}",
    "Python list": "[{'name': 'calculate', 'arguments': {'expression': '2+2'}}]",
    "Python call": 'calculate(expression="2+2")',
    "Python call, namespace": 'functions.calculate(expression="2+2")',
    "Python call, positional": 'calculate("2+2")',
    "Llama's Python list": '[calculate(expression="2+2")]',
    "Gemma": '```tool_code\ncalculate(expression="2+2")\n```',
    "Hermes, Qwen": f"<tool_call>\n{CALL}\n</tool_call>",
    "closing tag missing": f"<tool_call>\n{CALL}",
    "token after it": f"<tool_call>\n{CALL}\n</tool_call>\n<|im_end|>",
    "demo model": f"[tool_call]{CALL}[/tool_call]",
    "LongCat": f"<longcat_tool_call>{CALL}</longcat_tool_call>",
    "Qwen Coder": (
        "<tool_call>\n<function=calculate>\n<parameter=expression>\n2+2\n</parameter>\n"
        "</function>\n</tool_call>"
    ),
    "Llama function tag": '<function=calculate>{"expression": "2+2"}</function>',
    "invoke": (
        '<function_calls><invoke name="calculate"><parameter name="expression">2+2</parameter>'
        "</invoke></function_calls>"
    ),
    "element": "<calculate><expression>2+2</expression></calculate>",
    "GLM": (
        "<tool_call>calculate\n<arg_key>expression</arg_key>\n<arg_value>2+2</arg_value>\n"
        "</tool_call>"
    ),
    "Mistral, old": f"[TOOL_CALLS][{CALL}]",
    "Mistral, new": '[TOOL_CALLS]calculate[ARGS]{"expression": "2+2"}',
    "Llama python tag": f"<|python_tag|>{CALL}",
    "Kimi": (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.calculate:0"
        '<|tool_call_argument_begin|>{"expression":"2+2"}<|tool_call_end|>'
        "<|tool_calls_section_end|>"
    ),
    "DeepSeek V3": (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>calculate\n```json\n"
        '{"expression": "2+2"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>'
    ),
    "DeepSeek V3.1": (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>calculate<｜tool▁sep｜>"
        '{"expression": "2+2"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>'
    ),
    "Calling tools": f"Calling tools:\n[{CALL}]",
    "Action with JSON": f"Action:\n{CALL}",
    "ReAct": 'Thought: I need it.\nAction: calculate\nAction Input: {"expression": "2+2"}',
    "name and JSON": 'calculate {"expression": "2+2"}',
}

NOT_CALLS = {
    "answer": "The answer is 4.",
    "quoted": f"To call it, write `<tool_call>{CALL}</tool_call>`.",
    "example": f"Here is an example:\n```json\n{CALL}\n```",
    "explained": f"{CALL}\nThat is how a call looks.",
    "explained call": 'calculate(expression="2+2") gives 4.',
    "as a string": json.dumps(CALL),
    "unknown tool": '{"name": "delete_all", "arguments": {}}',
    "one brace too many": f"{{{CALL}",
    "unknown Python": 'delete_all(path="/")',
    "second call cut": CALL + '\n{"name": "calculate", "argum',
    "no arguments": '{"name": "calculate"}',
    "only the name": "calculate",
    "tool's description": (
        '[{"name": "calculate", "description": "x", "parameters": {"type": "object"}}]'
    ),
    "tool's schema": json.dumps({"name": "calculate", "parameters": dict(CALCULATE.parameters)}),
    "other data": '{"name": "Ann", "age": 3}',
    "list": "[1, 2]",
    "link": "[calculate](http://x)",
    "computed argument": "calculate(expression=open('x').read())",
    "unpacked argument": "calculate(**{'expression': '2+2'})",
    "two positional": "calculate('2', '2')",
    "nothing": "",
    "noise": "```json\n```",
}


BROKEN = {
    "cut JSON": '{"name": "calculate", "arguments": {"expression": "2+',
    "cut fenced JSON": '```json\n{"name": "calculate", "arguments": {"expression": "2+',
    "no JSON": '{"name": "calculate", "arguments": nonsense}',
    "cut XML": "<tool_call>\n<function=calculate>\n<parameter=expression>\n2+2",
    "cut Python": 'calculate(expression="2+2"',
    "bracket missing": (
        '<tool_call>{"name":"calculate","arguments":{"expression":"2+2"</tool_call>'
    ),
    "cut Kimi": "<|tool_calls_section_begin|><|tool_call_begin|>functions.calculate:0"
    '<|tool_call_argument_begin|>{"expression":',
    "cut DeepSeek": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>calculate<｜tool▁sep｜>"
    '{"expression": "2',
    "cut Mistral": '[TOOL_CALLS]calculate[ARGS]{"expression": "2',
    "cut GLM": "<tool_call>calculate\n<arg_key>expression</arg_key>\n<arg_value>2+",
    "Action without JSON": "Action: calculate\nAction Input: 2+2",
}
"""Calls whose arguments cannot be read: no call to run, and no answer either."""


def found_in(text: str) -> list[tuple[str, dict[str, object]]]:
    return [(call.name, dict(call.arguments)) for call in CALLS.in_answer(text)]


@pytest.mark.parametrize("text", WRITTEN.values(), ids=WRITTEN.keys())
def test_call_is_recognised(text: str) -> None:
    assert found_in(text) == [SUM]
    assert found_in(f"\n{text}\n") == [SUM]


@pytest.mark.parametrize("text", WRITTEN.values(), ids=WRITTEN.keys())
def test_beginning_of_a_call_may_begin_one_at_every_character(text: str) -> None:
    assert all(CALLS.may_begin(text[:length]) for length in range(len(text)))


@pytest.mark.parametrize(
    "text", [*NOT_CALLS.values(), *BROKEN.values()], ids=[*NOT_CALLS.keys(), *BROKEN.keys()]
)
def test_anything_else_is_no_call(text: str) -> None:
    assert found_in(text) == []


@pytest.mark.parametrize(
    "text",
    ["The answer is 4.", "[1] says so", "[a link](x)", "```python\nprint(1)\n```", "<b>x</b>",
     '{"result": 4}', "calculate the sum", "Active users", "> quote", "- item", "2+2"],
)  # fmt: skip
def test_ordinary_answer_is_known_for_one_after_a_few_characters(text: str) -> None:
    assert not CALLS.may_begin(text[:18])


def test_several_calls_are_all_recognised_in_order() -> None:
    clock = '{"name": "get_current_datetime"}'
    both: list[tuple[str, dict[str, str]]] = [SUM, ("get_current_datetime", {})]
    assert found_in(f"{CALL}\n{clock}") == both
    assert found_in(f"<tool_call>{CALL}</tool_call>\n<tool_call>{clock}</tool_call>") == both
    assert found_in('[calculate(expression="2+2"), get_current_datetime()]') == both


def test_xml_values_are_typed_by_the_tools_schema() -> None:
    text = (
        "<function=search_knowledge_base><parameter=query>3</parameter>"
        "<parameter=k>3</parameter></function>"
    )
    assert found_in(text) == [("search_knowledge_base", {"query": "3", "k": 3})]


def test_implicit_answer_is_a_final_answer_where_there_is_such_a_tool() -> None:
    final = ToolSchema(name="final_answer", description="", parameters={"type": "object"})
    found = CallText(ToolNames([final])).in_answer('{"answer": "4"}')
    assert [(call.name, call.arguments) for call in found] == [("final_answer", {"answer": "4"})]
    assert found_in('{"answer": "4"}') == []


@pytest.mark.parametrize(
    "thinking",
    [
        f"I will look.\n{WRITTEN['Qwen Coder']}",
        f"Hm.\n\n{WRITTEN['Hermes, Qwen']}",
        f"So {WRITTEN['Kimi']}",
        f"The format is `<tool_call>`, so:\n{WRITTEN['Hermes, Qwen']}",
    ],
)
def test_thinking_that_ends_with_a_tagged_call_holds_it(thinking: str) -> None:
    found = CALLS.in_thinking(thinking)
    assert [(call.name, dict(call.arguments)) for call in found] == [SUM]


@pytest.mark.parametrize(
    "thinking",
    [
        f"I could write {CALL}",
        f"Maybe <tool_call>{CALL}</tool_call> but better not.",
        f"The format is `<tool_call>{CALL}</tool_call>`",
        "No calls here.",
        "",
    ],
)
def test_thinking_about_calls_is_no_call(thinking: str) -> None:
    assert CALLS.in_thinking(thinking) == []


@given(st.text(alphabet="<>/[]{}()\"'=:,`| \ntoolcalculatefunction\ud800"))
def test_any_text_is_read_without_an_error(text: str) -> None:
    CALLS.in_answer(text)
    CALLS.in_thinking(text)
    CALLS.may_begin(text)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"a":' * 50_000,
        "<tool_call>" * 18_000,
        "<function=calculate>" * 10_000,
        "<tool_call><function=calculate><parameter=" * 4_000,
        "calculate(" * 20_000,
        "[calculate" + ".a" * 9_000 + "()]",
        "[calculate(" + "a." * 9_000 + "b)]",
        "`" * 200_000,
        "(" * 19_000 + ")" * 19_000,
        "calculate(" + "-" * 19_000 + "1)",
        "```tool_code\ncalculate(" + "-" * 19_000 + "1)\n```",
        "```tool_code\n" + "(" * 9_000 + ")" * 9_000 + "\n```",
        "call:calculate{a:" + " " * 100_000,
        "<function=calculate>" + "<parameter=a>" * 9_000,
    ],
    ids=lambda text: text[:20],
)
def test_hostile_text_is_read_to_its_end_and_holds_no_call(text: str) -> None:
    """What it costs is measured by bench/recovery.py."""
    assert CALLS.in_answer(text) == []
    assert CALLS.in_thinking(text) == []
