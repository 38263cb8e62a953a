"""B007: two calls that stream under one index are two calls, each with its own arguments."""

import json
from typing import Any

import aiohttp
import pytest

from inglenook.providers.openai_chat import OpenAIChatProvider
from tests.providers.streaming import openai_spec, streamed
from tests.scripted_replies import Raw
from tests.scripted_server import ScriptedServer


def fragment(id_: str, name: str, arguments: dict[str, Any]) -> bytes:
    return piece(0, id_, {"name": name, "arguments": json.dumps(arguments)})


def piece(index: int, id_: str, function: dict[str, str]) -> bytes:
    call = {"index": index, "id": id_, "type": "function", "function": function}
    chunk = {"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


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


@pytest.mark.parametrize("interleaved", [False, True])
async def test_different_index_same_id(session: aiohttp.ClientSession, interleaved: bool) -> None:
    first = [
        piece(0, "same", {"name": "calculate", "arguments": ""}),
        piece(0, "same", {"arguments": '{"expression": '}),
        piece(0, "same", {"arguments": '"2+2"}'}),
    ]
    second = [
        piece(1, "same", {"name": "calculate", "arguments": ""}),
        piece(1, "same", {"arguments": '{"expression": '}),
        piece(1, "same", {"arguments": '"3+3"}'}),
    ]
    pieces = [p for pair in zip(first, second, strict=True) for p in pair]
    if not interleaved:
        pieces = first + second
    async with ScriptedServer([Raw(pieces=[*pieces, FINISH, b"data: [DONE]\n\n"])]) as server:
        got = await streamed(OpenAIChatProvider(session, openai_spec(server.openai_url)))
    assert got.calls == [
        ("calculate", {"expression": "2+2"}),
        ("calculate", {"expression": "3+3"}),
    ]
    assert len({call.id for call in got.reply.message.tool_calls}) == 2
