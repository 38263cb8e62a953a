"""The body of a chat request, joined from parts that were encoded once.

What makes agent frameworks quadratic is walking and encoding the whole history at every step;
here a step costs a join of bytes. Ollama and OpenAI agree on the frame and on tool schemas.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from inglenook.messages import ToolSchema
from inglenook.providers import wire_json


def chat_body(
    fixed: Mapping[str, Any], tools: Sequence[ToolSchema], messages: list[bytes]
) -> bytes:
    """`fixed` (not empty) with "tools", where there are any, and "messages" added to it.

    Shape of a tool: {"type":"function","function":{"name","description","parameters"}}
    """
    head = wire_json.encode(fixed)[:-1]
    if tools:
        schemas = b",".join([tool.wire.get("function") or encode_tool(tool) for tool in tools])
        head += b',"tools":[' + schemas + b"]"
    parts = messages or [b""]
    parts[0] = head + b',"messages":[' + parts[0]
    parts[-1] += b"]}"
    return b",".join(parts)


def encode_tool(tool: ToolSchema) -> bytes:
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
    }
    encoded = wire_json.encode({"type": "function", "function": function})
    tool.wire["function"] = encoded
    return encoded
