"""N12: consecutive requests share their bytes up to the last unchanged message, also after a
restart, so that a server's prompt cache holds."""

from pathlib import Path

import aiohttp

from inglenook.messages import Message
from inglenook.providers.base import ModelSpec
from inglenook.providers.ollama import OllamaProvider
from inglenook.providers.openai_chat import OpenAIChatProvider
from tests.scripted_replies import ScriptEntry, calls
from tests.scripted_server import ScriptedServer
from tests.support import EchoTool, ask, bench

SCRIPT: list[ScriptEntry] = [
    calls(("echo", {"text": "one"}), thinking="First."),
    calls(("echo", {"text": "two"}), ("echo", {"text": "three"})),
    calls(("echo", {"text": "four"}), content="One more."),
    "Done.",
]


def is_prefix(earlier: bytes, later: bytes) -> bool:
    """All of a body but its closing brackets begins the next one."""
    return later.startswith(earlier.rstrip(b"]}"))


async def bodies(
    home: Path, session: aiohttp.ClientSession, *, kind: str, history: tuple[Message, ...]
) -> list[bytes]:
    async with ScriptedServer(SCRIPT) as server:
        if kind == "ollama":
            spec = ModelSpec(id="m", provider="ollama", model="m", base_url=server.url)
            provider = OllamaProvider(session, spec)
        else:
            spec = ModelSpec(id="m", provider="openai", model="m", base_url=server.openai_url)
            provider = OpenAIChatProvider(session, spec)
        async with bench(home, provider, spec=spec, tools=[EchoTool()]) as b:
            run = await b.run(ask().model_copy(update={"messages": history}))
            assert run["status"] == "complete"
        return [seen.raw for seen in server.chats]


async def test_each_request_of_a_run_begins_with_the_one_before(
    tmp_path: Path, session: aiohttp.ClientSession
) -> None:
    question = (Message(role="user", text="hi ✓"),)
    for kind in ("ollama", "openai"):
        sent = await bodies(tmp_path / kind, session, kind=kind, history=question)
        assert len(sent) == 4
        for earlier, later in zip(sent, sent[1:], strict=False):
            assert is_prefix(earlier, later)


async def test_the_next_turn_and_another_process_begin_with_the_same_bytes(
    tmp_path: Path, session: aiohttp.ClientSession
) -> None:
    first = (Message(role="user", text="hi"),)
    second = (*first, Message(role="assistant", text="Done."), Message(role="user", text="again"))
    one = await bodies(tmp_path / "one", session, kind="ollama", history=first)
    again = await bodies(tmp_path / "two", session, kind="ollama", history=first)
    assert one == again
    turn = await bodies(tmp_path / "three", session, kind="ollama", history=second)
    assert is_prefix(one[0], turn[0])
