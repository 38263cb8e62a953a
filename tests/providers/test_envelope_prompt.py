"""What envelope mode sends: plain messages that any template takes, byte for byte the same."""

from hypothesis import given, settings
from hypothesis import strategies as st

from inglenook.context.cleanup import valid_history
from inglenook.messages import Message, Reasoning, ToolCall, ToolSchema
from inglenook.providers.envelope_prompt import NO_RESULT, for_envelope
from inglenook.providers.envelope_reply import EnvelopeReader
from inglenook.providers.envelope_schema import reply_schema, template
from tests.providers.streaming import CALCULATE, QUESTION, SEARCH, TOOLS, call_history


def shown(messages: list[Message]) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in messages]


def test_calls_and_results_become_plain_messages() -> None:
    history = [*call_history(), Message(role="assistant", text="It is 4.")]
    system, *rest = for_envelope(history, TOOLS)
    assert shown(rest) == [
        ("user", "2+2?"),
        ("assistant", '{"name": "calculate", "arguments": {"expression": "2+2"}}'),
        ("user", "Result of calculate: 4"),
        ("assistant", '{"answer": "It is 4."}'),
    ]
    assert system.role == "system"
    assert system.text.startswith("Be brief.\n\n")


def test_several_calls_come_one_by_one_each_with_its_result() -> None:
    calls = (
        ToolCall(id="a", name="calculate", arguments={"expression": "1+1"}),
        ToolCall(id="b", name="calculate", arguments={"expression": "2+2"}),
    )
    history = [
        *QUESTION,
        Message(role="assistant", text="I add.", tool_calls=calls),
        Message(role="tool", text="4", call_id="b", tool_name="calculate"),
        Message(role="tool", text="2", call_id="a", tool_name="calculate"),
    ]
    assert shown(for_envelope(history, TOOLS)[2:]) == [
        ("assistant", 'I add.\n{"name": "calculate", "arguments": {"expression": "1+1"}}'),
        ("user", "Result of calculate: 2"),
        ("assistant", '{"name": "calculate", "arguments": {"expression": "2+2"}}'),
        ("user", "Result of calculate: 4"),
    ]


def test_without_tools_only_calls_and_results_change() -> None:
    history = [*call_history(), Message(role="assistant", text="It is 4.")]
    sent = for_envelope(history, ())
    assert sent[0] is history[0]
    assert sent[-1] is history[-1]
    assert [message.role for message in sent] == [
        "system",
        "user",
        "assistant",
        "user",
        "assistant",
    ]


def test_tools_are_told_once_each_and_without_a_system_message_too() -> None:
    [system, _] = for_envelope([Message(role="user", text="2+2?")], TOOLS)
    assert system.role == "system"
    for tool in TOOLS:
        assert system.text.count(f'"name": "{tool.name}"') == 1
        assert system.text.count(tool.description) == 1
    prompt = Message(role="system", text=f"Tools:\n- calculate: {CALCULATE.description}")
    [system] = for_envelope([prompt], [CALCULATE])
    assert system.text.count(CALCULATE.description) == 1, "the instructions had it already"


def test_prefix_is_byte_stable_from_step_to_step_and_after_a_restart() -> None:
    history = list(call_history())
    longer = [
        *history,
        Message(role="assistant", text="It is 4."),
        Message(role="user", text="and 3+3?"),
    ]
    first, second = for_envelope(history, TOOLS), for_envelope(longer, TOOLS)
    assert all(a is b for a, b in zip(first, second, strict=False)), "each is encoded once"
    tools = [
        ToolSchema(name=t.name, description=t.description, parameters=dict(t.parameters))
        for t in TOOLS
    ]
    assert shown(for_envelope(list(call_history()), tools)) == shown(first)


def test_other_tools_are_another_prefix() -> None:
    one, other = for_envelope(QUESTION, [CALCULATE])[0], for_envelope(QUESTION, [SEARCH])[0]
    assert "search_knowledge_base" not in one.text
    assert "search_knowledge_base" in other.text


def test_reasoning_stays_with_an_answer_for_servers_that_want_it_back() -> None:
    thought = Reasoning(text="hm", field="reasoning_content")
    answer = Message(role="assistant", text="4", reasoning=thought)
    assert for_envelope([*QUESTION, answer], TOOLS)[-1].reasoning == thought


def test_schema_offers_each_tool_and_an_answer() -> None:
    schema = reply_schema([CALCULATE])
    assert schema == {
        "type": "object",
        "anyOf": [
            {
                "type": "object",
                "properties": {
                    "name": {"const": "calculate"},
                    "arguments": {
                        "type": "object",
                        "properties": {"expression": {"type": "string"}},
                        "required": ["expression"],
                    },
                },
                "required": ["name", "arguments"],
                "additionalProperties": False,
            },
            {
                "type": "object",
                "properties": {"answer": {"type": "string"}},
                "required": ["answer"],
                "additionalProperties": False,
            },
        ],
    }


NESTED = ToolSchema(
    name="plan",
    description="Plan it.",
    parameters={
        "type": "object",
        "properties": {
            "items": {"type": "array", "items": {"$ref": "#/$defs/Item"}, "maxItems": 9},
            "mode": {"enum": ["fast", "slow"], "type": "string", "default": "fast"},
            "day": {
                "anyOf": [{"type": "string", "pattern": "x"}, {"type": "null"}],
                "default": None,
                "description": "Which day",
            },
            "k": {"type": "integer", "minimum": 1, "default": 5, "description": "How many"},
        },
        "required": ["items"],
        "$defs": {
            "Item": {"type": "object", "properties": {"title": {"type": "string", "maxLength": 9}}}
        },
    },
)


def test_schema_keeps_the_structure_and_drops_what_makes_grammars_large() -> None:
    schema = reply_schema([NESTED, CALCULATE])
    arguments = schema["anyOf"][0]["properties"]["arguments"]
    assert arguments["properties"] == {
        "items": {"type": "array", "items": {"$ref": "#/$defs/plan.Item"}},
        "mode": {"enum": ["fast", "slow"], "type": "string"},
        "day": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "k": {"type": "integer"},
    }
    assert schema["$defs"] == {
        "plan.Item": {"type": "object", "properties": {"title": {"type": "string"}}}
    }


def test_a_tools_arguments_are_shown_as_a_form() -> None:
    assert template(NESTED.parameters) == (
        '{"items": [{"title": "<text>" (optional)}, …], '
        '"mode": <"fast" or "slow", default "fast"> (optional), '
        '"day": "<Which day>" (optional), '
        '"k": <integer, How many, default 5> (optional)}'
    )
    odd = {"type": "object", "properties": {"x": {"oneOf": [{"type": "integer"}, {"const": 1}]}}}
    assert template(odd) == '{"x": <{"oneOf":[{"type":"integer"},{"const":1}]}> (optional)}'


words = st.text(max_size=12)
calls = st.builds(
    ToolCall,
    id=st.sampled_from(["a", "b", "c", ""]),
    name=st.sampled_from(["calculate", "fly", " "]),
    arguments=st.dictionaries(words, words | st.integers(), max_size=2),
)
messages = st.builds(
    Message,
    role=st.sampled_from(["system", "user", "assistant", "tool"]),
    text=words,
    tool_calls=st.lists(calls, max_size=3).map(tuple),
    call_id=st.sampled_from(["a", "b", None]),
    tool_name=st.sampled_from(["calculate", None]),
)


@settings(max_examples=300)
@given(st.lists(messages, max_size=8))
def test_any_valid_history_becomes_one_without_calls_that_loses_nothing(
    posted: list[Message],
) -> None:
    history = valid_history(posted)
    sent = for_envelope(history, TOOLS)
    assert {message.role for message in sent} <= {"system", "user", "assistant"}
    assert not any(message.tool_calls for message in sent)
    replies = [message for message in history if message.role == "assistant"]
    made = [call for message in replies for call in message.tool_calls]
    read: list[tuple[str, object]] = []
    answers: list[str] = []
    for message in sent:
        if message.role == "assistant":
            reader = EnvelopeReader()
            reader.feed(message.text.rpartition("\n")[2])  # behind what was said before it
            outcome = reader.end([call.name for call in made], is_cut=False)
            if outcome.call:
                read.append((str(outcome.call.name), outcome.call.arguments))
            else:
                answers.append(outcome.text)
    assert read == [(call.name, call.arguments) for call in made]
    assert answers == [message.text for message in replies if not message.tool_calls]
    results = [message.text for message in history if message.role == "tool"]
    told = [m.text.partition(": ")[2] for m in sent if m.text.startswith("Result of ")]
    assert len(told) >= len(results)
    assert all(text in told for text in results)
    neighbours = zip(sent, sent[1:], strict=False)
    assert all(a.role != b.role for a, b in neighbours if a.role != "system"), "they take turns"
    assert NO_RESULT not in told
