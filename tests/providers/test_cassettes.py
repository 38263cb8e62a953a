"""Streams recorded from real servers by scripts/record_cassettes.py, replayed in any cut."""

from pathlib import Path

import aiohttp
import pytest

from inglenook.providers.openai_chat import OpenAIChatProvider
from inglenook.providers.openai_reply import OpenAIReply
from inglenook.providers.recovery import RecoveringProvider
from inglenook.providers.stream_lines import EventSplitter
from inglenook.providers.wire_json import decode
from tests.providers.streaming import QUESTION, Streamed, openai_spec, streamed
from tests.scripted_replies import Raw
from tests.scripted_server import ScriptedServer

FOLDER = Path(__file__).parent.parent / "cassettes"
CASSETTES = sorted(FOLDER.glob("*.sse"))


async def played(session: aiohttp.ClientSession, name: str) -> Streamed:
    tape = (FOLDER / name).read_bytes()
    async with ScriptedServer([Raw(pieces=[tape])]) as server:
        inner = OpenAIChatProvider(session, openai_spec(server.openai_url))
        return await streamed(RecoveringProvider(inner))


@pytest.mark.parametrize("name", ["llamacpp-call.sse", "llamacpp-after-result.sse"])
async def test_llama_cpp_calls_natively(session: aiohttp.ClientSession, name: str) -> None:
    got = await played(session, name)
    assert got.calls == [("calculate", {"expression": "17*23"})]
    assert got.reply.finish_reason == "tool_calls"
    assert got.reply.usage is not None
    assert got.reply.recovered_from is None
    assert got.reply.repairs == ()


async def test_text_holds_its_emoji_and_usage(session: aiohttp.ClientSession) -> None:
    got = await played(session, "llamacpp-text.sse")
    assert got.text == got.reply.message.text == "Hallo! 😊"
    assert got.reply.finish_reason == "stop"
    assert got.reply.usage is not None
    assert got.reply.usage.input_tokens > 0


async def test_length_is_the_finish_reason_of_a_cut_reply(session: aiohttp.ClientSession) -> None:
    assert (await played(session, "llamacpp-length.sse")).reply.finish_reason == "length"


async def test_call_that_qwen_coder_printed_with_its_stock_template_is_recovered(
    session: aiohttp.ClientSession,
) -> None:
    got = await played(session, "qwencoder-stock-call.sse")
    assert got.calls == [("calculate", {"expression": "17*23"})]
    assert got.reply.recovered_from == "content"
    assert got.deltas == []


@pytest.mark.parametrize("path", CASSETTES, ids=lambda path: path.stem)
def test_byte_by_byte_is_the_same(path: Path) -> None:
    tape = path.read_bytes()
    replies: list[object] = []
    for size in (len(tape), 1, 7):
        reply, events = OpenAIReply(), EventSplitter()
        for start in range(0, len(tape), size):
            for data in events.feed(tape[start : start + size]):
                if data != b"[DONE]":
                    reply.take(decode(data))
        replies.append(reply.finished(QUESTION))
    assert replies[0] == replies[1] == replies[2]


def test_there_are_cassettes() -> None:
    assert len(CASSETTES) >= 5
