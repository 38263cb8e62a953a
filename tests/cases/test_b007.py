"""B007: two calls that stream under one index are two calls, each with its own arguments."""

import json
from typing import Any

import aiohttp

from inglenook.providers.openai_chat import OpenAIChatProvider
from tests.providers.streaming import openai_spec, streamed
from tests.scripted_replies import Raw
from tests.scripted_server import ScriptedServer


def fragment(id_: str, name: str, arguments: dict[str, Any]) -> bytes:
    function = {"name": name, "arguments": json.dumps(arguments)}
    delta = {"tool_calls": [{"index": 0, "id": id_, "type": "function", "function": function}]}
    return b"data: " + json.dumps({"choices": [{"index": 0, "delta": delta}]}).encode() + b"\n\n"


FINISH = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\n'


async def test_same_index_different_ids(session: aiohttp.ClientSession) -> None:
    first = fragment("c1", "calculate", {"expression": "2+2"})
    second = fragment("c2", "search_knowledge_base", {"query": "apt"})
    pieces = [first, second, FINISH, b"data: [DONE]\n\n"]
    async with ScriptedServer([Raw(pieces=pieces)]) as server:
        got = await streamed(OpenAIChatProvider(session, openai_spec(server.openai_url)))
    assert [call.id for call in got.reply.message.tool_calls] == ["c1", "c2"]
    assert got.calls == [
        ("calculate", {"expression": "2+2"}),
        ("search_knowledge_base", {"query": "apt"}),
    ]
    assert got.reply.repairs == ()
