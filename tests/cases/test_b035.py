"""B035: a line cut anywhere, also inside a character, and two lines in one write parse as usual."""

import json

import aiohttp

from inglenook.providers.ollama import OllamaProvider
from inglenook.providers.openai_chat import OpenAIChatProvider
from tests.providers.streaming import ollama_spec, openai_spec, streamed
from tests.scripted_replies import Raw
from tests.scripted_server import ScriptedServer

TEXT = "Ein Preis von 5 € ist „günstig“."
EURO = "€".encode()


def cut(raw: bytes) -> list[bytes | float]:
    """Three writes, the first ending one byte into the euro sign."""
    inside = raw.index(EURO) + 1
    return [raw[:inside], 0.01, raw[inside : inside + 9], 0.01, raw[inside + 9 :]]


async def test_ollama_lines(session: aiohttp.ClientSession) -> None:
    line = json.dumps({"message": {"content": TEXT}}, ensure_ascii=False).encode() + b"\n"
    more = json.dumps({"message": {"content": " Ja."}}).encode() + b"\n"
    done = json.dumps({"message": {"content": ""}, "done": True}).encode() + b"\n"
    split, whole = Raw(pieces=[*cut(line), more + done]), Raw(pieces=[line, more, done])
    async with ScriptedServer([split, whole]) as server:
        provider = OllamaProvider(session, ollama_spec(server.url))
        first, second = await streamed(provider), await streamed(provider)
    assert first.reply == second.reply
    assert first.text == second.text == f"{TEXT} Ja."


async def test_openai_events(session: aiohttp.ClientSession) -> None:
    def event(text: str, finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
        value = json.dumps({"choices": [choice]}, ensure_ascii=False)
        return f"data: {value}\r\n\r\n".encode()

    last = event(" Ja.", "stop") + b"data: [DONE]\r\n\r\n"
    split = Raw(pieces=[*cut(event(TEXT)), last])
    whole = Raw(pieces=[event(TEXT), last])
    async with ScriptedServer([split, whole]) as server:
        provider = OpenAIChatProvider(session, openai_spec(server.openai_url))
        first, second = await streamed(provider), await streamed(provider)
    assert first.reply == second.reply
    assert first.text == second.text == f"{TEXT} Ja."
