"""The conversation as envelope mode sends it: tools as text, calls and results as plain messages.

Pure, and the same bytes for the same input, so that a server's prompt cache holds. What is sent in
place of a message is made once and kept on it.
"""

import json
from collections.abc import Sequence

from inglenook.messages import Message, ToolCall, ToolSchema
from inglenook.providers.envelope_reply import ANSWER, ARGUMENTS, NAME
from inglenook.providers.envelope_schema import template

_FORM = "envelope"
NO_RESULT = "(not recorded)"
EXAMPLE = f"""\
An example, with other tools:
User: What colour is the boat of Ola Lind?
You: {{"{NAME}": "find_owner", "{ARGUMENTS}": {{"name": "Ola Lind"}}}}
User: Result of find_owner: Owner 14
You: {{"{NAME}": "boat_of", "{ARGUMENTS}": {{"owner": "14"}}}}
User: Result of boat_of: Boat 9, red
You: {{"{ANSWER}": "The boat of Ola Lind is red."}}"""
"""Without one a model of 1.5B makes up what it should first look for; a conversation in place of
this text does worse, as it takes that one's values for its own."""
_RULES = (
    "Reply with one JSON object and nothing else: a tool call, or your answer to the user. After a "
    "call you get its result; then send the next object. Where a tool needs something that you do "
    "not know, such as a number, call the tool that finds it first; never make it up."
)


def for_envelope(messages: Sequence[Message], tools: Sequence[ToolSchema]) -> list[Message]:
    """`messages`, a valid history, without calls and the role `tool`, and with `tools` as text.

    A reply's calls come one at a time, each with its result behind it. Without tools only the
    calls and results change.
    """
    sent: list[Message] = []
    if tools:
        first = messages[0] if messages and messages[0].role == "system" else None
        sent.append(_with_tools(first or Message(role="system"), tools))
        messages = messages[1:] if first else messages
    results = {each.call_id: each for each in messages if each.role == "tool"}
    for message in messages:
        if message.role == "assistant":
            for call in message.tool_calls:
                sent.append(_call_form(message, call))
                sent.append(_result_form(results.get(call.id), call))
            if not message.tool_calls:
                sent.append(_answer_form(message) if tools else message)
        elif message.role != "tool":
            sent.append(message)
    return sent


def _with_tools(system: Message, tools: Sequence[ToolSchema]) -> Message:
    lines = "\n".join(_tool_line(tool, system.text) for tool in tools)
    answer = f'{{"{ANSWER}": "<your answer to the user>"}}'
    part = f"{_RULES}\n{lines}\n{answer}\n\n{EXAMPLE}"
    if part not in system.forms:
        text = f"{system.text}\n\n{part}" if system.text else part
        system.forms[part] = Message(role="system", text=text)
    return system.forms[part]


def _tool_line(tool: ToolSchema, said: str) -> str:
    """A call of the tool to be filled in, with its description unless that was `said`."""
    line = tool.wire.get(_FORM)
    if line is None:
        call = f'{{"{NAME}": "{tool.name}", "{ARGUMENTS}": {template(tool.parameters)}}}'
        line = tool.wire[_FORM] = call.encode("utf-8", "replace")
    text = line.decode()
    return text if tool.description in said else f"{text}  {tool.description}"


def _call_form(message: Message, call: ToolCall) -> Message:
    """The call as the model would have written it, after what it said before its first one."""
    key = f"{_FORM} {call.id}"
    if key not in message.forms:
        text = _json({NAME: call.name, ARGUMENTS: call.arguments})
        if message.text and call is message.tool_calls[0]:
            text = f"{message.text}\n{text}"
        message.forms[key] = Message(role="assistant", text=text)
    return message.forms[key]


def _result_form(result: Message | None, call: ToolCall) -> Message:
    if result is None:
        return Message(role="user", text=f"Result of {call.name}: {NO_RESULT}")
    if _FORM not in result.forms:
        text = f"Result of {call.name}: {result.text}"
        result.forms[_FORM] = Message(role="user", text=text)
    return result.forms[_FORM]


def _answer_form(message: Message) -> Message:
    if _FORM not in message.forms:
        text = _json({ANSWER: message.text})
        message.forms[_FORM] = Message(role="assistant", text=text, reasoning=message.reasoning)
    return message.forms[_FORM]


def _json(value: object) -> str:
    """With the spaces that models write."""
    return json.dumps(value, ensure_ascii=False, default=str)
