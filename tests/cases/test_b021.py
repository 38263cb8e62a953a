"""B021: Ollama drops the front of a prompt that is too long; the reply to the rest is not taken."""

from pathlib import Path
from typing import Any

import aiohttp
import pytest

from inglenook.events import ModelReplied
from inglenook.messages import Message, Usage
from inglenook.providers.base import ModelSpec
from inglenook.providers.ollama import OllamaProvider
from inglenook.providers.openai_chat import OpenAIChatProvider
from inglenook.providers.window import WindowGuard, is_cut
from tests.scripted_replies import Answer, Reply, ScriptEntry
from tests.scripted_server import ScriptedServer
from tests.support import ask, bench

WORDS = "A long letter about nothing in particular, page after page. "


def letter(tokens: int) -> tuple[Message, ...]:
    """A conversation of about so many tokens, in turns."""
    turns = tokens // 400
    said = WORDS * 25
    return (
        *(
            Message(role="user" if n % 2 == 0 else "assistant", text=f"{n}. {said}")
            for n in range(turns - turns % 2)
        ),
        Message(role="user", text="And what was the first letter about?"),
    )


def cutting(window: int) -> Any:
    """Reads a prompt of more than 3 bytes a token of its window in part, as Ollama does."""

    def answer(body: dict[str, Any]) -> Answer:
        size = sum(len(m.get("content") or "") for m in body["messages"]) // 4
        served = body.get("options", {}).get("num_ctx", window)
        if size > served:
            return Reply(content="Which letter?", usage=(served // 2 + 2, 5))
        return Reply(content="About nothing.", usage=(size, 5))

    return answer


@pytest.mark.parametrize("window", [4_096, 6_000])
async def test_num_ctx_is_on_every_call_and_the_reply_to_a_part_is_not_accepted(
    window: int, tmp_path: Path, session: aiohttp.ClientSession
) -> None:
    async with ScriptedServer(cutting(window)) as server:
        spec = ModelSpec(
            id="m", provider="ollama", model="m", base_url=server.url, context_tokens=window
        )
        guarded = WindowGuard(OllamaProvider(session, spec), counts_whole_prompt=False)
        async with bench(tmp_path, guarded, spec=spec) as b:
            run = await b.run(ask().model_copy(update={"messages": letter(8_000)}))
            replies = [e for e in await b.service.events(run["id"]) if isinstance(e, ModelReplied)]
    assert all(seen.body["options"]["num_ctx"] == window for seen in server.chats)
    assert (run["status"], run["answer"]) == ("complete", "About nothing.")
    accepted = [reply for reply in replies if reply.purpose == "loop" and not reply.rejected]
    assert [reply.message.text for reply in accepted] == ["About nothing."]


async def test_the_signature_alone_rejects_a_reply(
    tmp_path: Path, session: aiohttp.ClientSession
) -> None:
    """A server that says it read 2,050 tokens, whatever was sent: nothing it says is the answer."""
    script: list[ScriptEntry] = [Reply(content="Which letter?", usage=(2_050, 5))] * 5
    async with ScriptedServer(script) as server:
        spec = ModelSpec(
            id="m", provider="ollama", model="m", base_url=server.url, context_tokens=16_384
        )
        guarded = WindowGuard(OllamaProvider(session, spec), counts_whole_prompt=False)
        async with bench(tmp_path, guarded, spec=spec) as b:
            run = await b.run(ask().model_copy(update={"messages": letter(8_000)}))
            replies = [e for e in await b.service.events(run["id"]) if isinstance(e, ModelReplied)]
    assert replies[0].rejected == "context_truncated"


async def test_a_server_with_usage_is_caught_as_well(
    tmp_path: Path, session: aiohttp.ClientSession
) -> None:
    def answer(body: dict[str, Any]) -> Answer:
        size = sum(len(m.get("content") or "") for m in body["messages"]) // 4
        if size > 4_096:
            return Reply(content="Which letter?", usage=(3_000, 5))
        return Reply(content="About nothing.", usage=(size, 5))

    async with ScriptedServer(answer) as server:
        spec = ModelSpec(id="m", provider="openai", model="m", base_url=server.openai_url)
        guarded = WindowGuard(OpenAIChatProvider(session, spec), counts_whole_prompt=True)
        async with bench(tmp_path, guarded, spec=spec) as b:
            run = await b.run(ask().model_copy(update={"messages": letter(8_000)}))
    assert (run["status"], run["answer"]) == ("complete", "About nothing."), run["explanation"]


def test_what_counts_as_a_cut() -> None:
    def cut(read: int, estimated: int, window: int | None = None, *, whole: bool = False) -> bool:
        usage = Usage(input_tokens=read, output_tokens=1)
        return is_cut(usage, estimated=estimated, window=window, counts_whole_prompt=whole)

    assert cut(2_050, 8_000, 4_096)
    assert cut(2_050, 8_000, 32_768), "the window that is really served may be another"
    assert cut(3_002, 8_000, 6_000)
    assert not cut(2_050, 2_100, 4_096), "a prompt of that size is no cut one"
    assert not cut(700, 8_000, 16_384), "Ollama may leave out what its cache held"
    assert cut(700, 8_000, 16_384, whole=True)
    assert not cut(10, 8_000, 16_384, whole=True), "made-up counts prove nothing"
    assert not is_cut(None, estimated=8_000, window=4_096, counts_whole_prompt=True)
