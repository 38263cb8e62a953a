"""What plainly is a tool call is never an answer, and what only shows one always is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inglenook.messages import ToolSchema
from inglenook.providers.calls import MALFORMED_ARGUMENTS
from inglenook.providers.recovery import RecoveringProvider
from inglenook.providers.scripted import ScriptedProvider
from inglenook.providers.written_calls import WrittenCalls
from tests.providers.streaming import CALCULATE, TOOLS, Streamed, streamed
from tests.providers.test_call_text import BROKEN, NOT_CALLS, SUM, WRITTEN

CALL = '{"name": "calculate", "arguments": {"expression": "2+2"}}'
TAGGED = f"<tool_call>{CALL}</tool_call>"
CALLS = WrittenCalls(TOOLS)
MARKED = (
    "Hermes, Qwen, closing tag missing, token after it, demo model, LongCat, Qwen Coder, "
    "Llama function tag, invoke, GLM, Mistral, old, Mistral, new, Llama python tag, Kimi, "
    "DeepSeek V3, DeepSeek V3.1"
)
MARKED_TEXTS = {name: text for name, text in WRITTEN.items() if name in MARKED}


async def mended(
    text: str, piece_chars: int = 3, tools: tuple[ToolSchema, ...] = TOOLS
) -> Streamed:
    provider = RecoveringProvider(ScriptedProvider([text], piece_chars=piece_chars))
    return await streamed(provider, tools=tools)


@pytest.mark.parametrize("text", MARKED_TEXTS.values(), ids=MARKED_TEXTS.keys())
@pytest.mark.parametrize("piece_chars", [1, 7, 0])
async def test_marked_call_after_a_lead_in_runs_and_only_the_lead_in_is_shown(
    text: str, piece_chars: int
) -> None:
    got = await mended(f"Let me compute.\n{text}", piece_chars)
    assert got.calls == [SUM]
    assert got.reply.recovered_from == "content"
    assert got.text.strip() == got.reply.message.text == "Let me compute."
    assert text in got.reply.repairs[0], "the raw reply is kept"


@pytest.mark.parametrize(
    "text",
    [
        f"Let me compute: \n\n{TAGGED}",
        f"Let me compute. {TAGGED}",
        f"It`s a sum.\n{TAGGED}",
        f"<think>hm</think>Let me compute.\n{TAGGED}",
    ],
)
async def test_lead_in_may_be_written_in_many_ways(text: str) -> None:
    got = await mended(text)
    assert got.calls == [SUM]
    assert "tool_call" not in got.text + got.reply.message.text


@pytest.mark.parametrize("text", MARKED_TEXTS.values(), ids=MARKED_TEXTS.keys())
@pytest.mark.parametrize("lead_in", ["", "Let me compute.\n"])
async def test_what_is_invented_after_a_marked_call_is_no_answer(text: str, lead_in: str) -> None:
    got = await mended(f"{lead_in}{text}\nThe answer is 5.")
    assert got.calls == [SUM]
    assert got.text.strip() == got.reply.message.text == lead_in.strip()


@pytest.mark.parametrize(
    "rest",
    [
        "\nThe answer is 5.",
        " The answer is 5.",
        "\n<tool_response>5</tool_response>\nThe answer is 5.",
        '\n\nResult {"value": 5}',
        f"\nSo 5. And again:\n{TAGGED}",
    ],
)
async def test_one_call_is_taken_whatever_was_invented(rest: str) -> None:
    assert (await mended(TAGGED + rest)).calls == [SUM]


async def test_invented_observation_is_no_answer() -> None:
    got = await mended(f"{WRITTEN['ReAct']}\nObservation: 4\nThought: So.\nFinal Answer: 4")
    assert got.calls == [SUM]
    assert got.text == ""


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN.keys())
@pytest.mark.parametrize("piece_chars", [1, 0])
async def test_broken_call_runs_nothing_and_is_no_answer(text: str, piece_chars: int) -> None:
    got = await mended(text, piece_chars)
    assert got.calls == []
    assert got.reply.malformed_call is not None
    assert "the call of 'calculate'" in got.reply.malformed_call
    assert got.reply.recovered_from is None
    assert got.text == got.reply.message.text == ""
    assert text in got.reply.repairs[0], "the raw reply is kept"


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN.keys())
async def test_broken_call_after_words_of_intent_leaves_the_words(text: str) -> None:
    got = await mended(f"Let me compute that.\n{text}")
    assert got.calls == []
    assert got.reply.malformed_call is not None
    assert got.text.strip() == got.reply.message.text == "Let me compute that."


@pytest.mark.parametrize(
    "text", ["<tool_call>", "<tool_call>\n", '<tool_call>\n{"nam', "[TOOL_CALLS]"]
)
async def test_call_that_ends_before_its_name_is_no_answer(text: str) -> None:
    got = await mended(text)
    assert (got.calls, got.text) == ([], "")
    assert got.reply.malformed_call == "it ends before the name of a tool"


async def test_broken_call_in_thinking_that_says_nothing_else_is_named() -> None:
    got = await mended('<think>I look.\n<tool_call>\n{"name": "calculate", "argum')
    assert got.reply.malformed_call == "the call of 'calculate' ends before it is complete"
    assert (got.calls, got.text, got.reply.message.text) == ([], "", "")


async def test_sound_call_before_a_broken_one_is_kept_and_the_broken_one_refused() -> None:
    got = await mended(f'{TAGGED}\n<tool_call>{{"name": "calculate", "argum')
    assert got.calls[0] == SUM
    assert list(got.calls[1][1]) == [MALFORMED_ARGUMENTS]
    assert got.reply.malformed_call is None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('<tool_call>{"name":"rm_rf","arguments":{"path":"/"}}</tool_call>', "rm_rf"),
        ('<tool_call>{"name":"rm_rf","arguments":{"path":"/"</tool_call>', "rm_rf"),
        ("<function=rm_rf><parameter=path>/</parameter></function>", "rm_rf"),
        ('[TOOL_CALLS]rm_rf[ARGS]{"path": "/"}', "rm_rf"),
        ('<|python_tag|>{"name": "rm_rf", "parameters": {"path": "/"}}', "rm_rf"),
        ('Action: rm_rf\nAction Input: {"path": "/"}', "rm_rf"),
        ('Calling tools:\n[{"name": "rm_rf", "arguments": {"path": "/"}}]', "rm_rf"),
        ('I delete it.\n<tool_call>{"name":"rm_rf","arguments":{}}</tool_call>', "rm_rf"),
        ('<tool_call>{"name":"web_search","arguments":{"query":"x"}}</tool_call>', "web_search"),
        ('web_search(query="secret")', "web_search"),
        ('web_search("secret")', "web_search"),
        ('{"name": "web_search", "arguments": {"query": "secret"}}', "web_search"),
        ('Action: web_search\nAction Input: {"query": "secret"}', "web_search"),
        ("Action: web_search\nAction Input: secret", "web_search"),
        ('read_document(name="a.pdf")', "read_document"),
    ],
)
async def test_call_to_a_tool_that_is_not_there_is_a_call_for_the_registry_to_refuse(
    text: str, name: str
) -> None:
    got = await mended(text, tools=(CALCULATE,))
    assert [call.name for call in got.reply.message.tool_calls] == [name]
    assert "secret" not in got.text


ANSWERS = {
    "inline": f"Qwen writes `{TAGGED}` for a call.",
    "inline at the end": f"Qwen writes its calls so: `{TAGGED}`",
    "fence": f"Qwen writes:\n\n```xml\n{TAGGED}\n```\n\nThe runtime then runs it.",
    "fence at the end": f"Here you are:\n\n```\n{TAGGED}\n```",
    "tilde fence": f"Here you are:\n~~~\n{TAGGED}\n~~~",
    "quotes": f'It wrote "{TAGGED}" and stopped.',
    "parentheses": f"The mark of a call (<tool_call>) comes first.\n{TAGGED}",
    "example without a fence": f"For example:\n{TAGGED}",
    "format without a fence": f"The format is as follows.\n\n{TAGGED}",
    "explained in the middle": f"To call a tool, the model writes:\n\n{TAGGED}\n\nThen it waits.",
    "explained behind": f"{TAGGED}\n\nThis is an example of a call.",
    "tag in prose": "<tool_call> is the tag that Qwen uses.",
    "tag and braces in prose": 'A <tool_call> holds JSON like {"name": "calculate"} in one line.',
    "placeholder": 'Models write:\n<tool_call>{"name": "tool_name", "arguments": {}}</tool_call>',
    "dots": "It begins so.\n<tool_call>...</tool_call>",
    "long": "The tags are described here. " * 21 + f"\n{TAGGED}",
    "parentheses in prose": "Use calculate(expression) or web_search(query) for that.",
    "name first": "web_search(query) is the function that looks things up.",
    "name and prose": "web_search is off. calculate(expression) works.",
    "code": "```python\ndef calculate(expression: str) -> float:\n    return 1.0\n```",
    "code with a call": 'Try this:\n```python\nprint(calculate(expression="2+2"))\n```',
    "bare code": "def web_search(query):\n    return requests.get(query)",
    "assignment": 'result = web_search(query="secret")',
    "call and prose": 'web_search(query="apt") returns ten hits.',
    "chained": 'calculate(expression="2+2").then(print)',
    "code cut short": "```python\ncalculate = 3\nprint(calculate",
    "other XML": "<function name='area'>side * side</function>",
    "HTML": "<invoice><name>calculate</name></invoice>",
    "other JSON": '{"name": "web_search_log", "arguments": {"days": 3}}',
    "OpenAPI": '{"tools": [{"name": "web_search", "description": "x", "parameters": {}}]}',
    "action in prose": "Action: none is needed.\nThe file is fine.",
    "thought in prose": "Thought: it is fine.\nAction is not needed.",
    "question": "Shall I call calculate(expression='2+2')?",
    "block quote": f"They write:\n> {TAGGED}",
    "indented": f"I will show you.\n\n    {TAGGED}",
    "fence after intent": f"Let me show you how a call looks:\n```json\n{CALL}\n```",
    "would": f"I will explain. The call would be:\n\n{CALL}",
    "more behind it": f"Let me see.\n\n{CALL}\n\nThat is what I sent.",
    "no intent": f"The request:\n{CALL}",
    "line of code": "I will write it:\n```python\nx = 1\ncalculate(expression='2+2')\n```",
    "list of tools": "- calculate(expression)\n- web_search(query)\n- read_document(name)",
}


@pytest.mark.parametrize("text", ANSWERS.values(), ids=ANSWERS.keys())
@pytest.mark.parametrize("piece_chars", [1, 5, 0])
async def test_answer_about_calls_stays_an_answer(text: str, piece_chars: int) -> None:
    got = await mended(text, piece_chars)
    assert got.reply.message.tool_calls == ()
    assert got.text == got.reply.message.text == text


async def test_lead_in_flows_before_it_is_known_what_follows() -> None:
    got = await mended("Let me see, it is in the handbook [1], page 3.", 6)
    assert len(got.deltas) > 5


@given(st.text(alphabet="<>/[]{}()\"'=:,`| .\ntool_calcuefinw▁｜\ud800"))
def test_any_text_is_read_without_an_error(text: str) -> None:
    CALLS.in_answer(text)
    CALLS.in_answer(f"So.\n<tool_call>{text}")


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "calculate", "arguments": ' + "[" * 100_000,
        "<tool_call>" * 18_000,
        "<tool_call>" + '{"name": "calculate", "arguments": {}}' * 5_000,
        "<tool_call>{" + '"name": ' * 25_000,
        "So.\n<tool_call>" + "{" * 150_000,
        "Thought: " + "Thought: x\n" * 15_000,
        "Action: calculate\nAction Input:" + " " * 150_000 + "x",
        "calculate(x=" + "(" * 19_000,
        "<function=" + "a" * 150_000,
        "[TOOL_CALLS]" + "a" * 150_000,
    ],
    ids=lambda text: text[:20],
)
def test_hostile_text_is_read_to_its_end(text: str) -> None:
    """What it costs is measured by bench/recovery.py."""
    written = CALLS.in_answer(text)
    calls = written.calls if written else ()
    assert all(call.name == "calculate" or MALFORMED_ARGUMENTS in call.arguments for call in calls)


def test_negatives_of_the_exact_recogniser_are_answers_too() -> None:
    assert [name for name, text in NOT_CALLS.items() if CALLS.in_answer(text)] == []
