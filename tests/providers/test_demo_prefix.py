"""The beginning of a conversation is read once and taken up by later processes."""

import os
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from inglenook.egress import Egress
from inglenook.messages import Message, ToolSchema
from inglenook.providers.base import (
    ModelAbilities,
    ModelReply,
    ModelSpec,
    Part,
    StreamOptions,
)
from inglenook.providers.demo_examples import DEMO_EXAMPLES
from inglenook.providers.demo_prefix import PrefixKeeper, prune

SYSTEM = Message(role="system", text="Be careful.")
TOOLS = [ToolSchema(name="calculate", description="", parameters={})]


@dataclass
class NotingProvider:
    views: list[list[Message]] = field(default_factory=list[list[Message]])
    limits: list[int | None] = field(default_factory=list[int | None])

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSchema], options: StreamOptions
    ) -> AsyncGenerator[Part, None]:
        self.views.append(list(messages))
        self.limits.append(options.max_output_tokens)
        yield ModelReply(message=Message(role="assistant", text="ok"))

    async def abilities(self, egress: Egress | None = None) -> ModelAbilities:
        return ModelAbilities(tools=True)


class SlotServer:
    """The two actions of llama.cpp's slot, on files in `folder`."""

    def __init__(self, folder: Path, *, refuses: bool = False) -> None:
        self._folder = folder
        self._refuses = refuses
        self.actions: list[str] = []
        self.starts = 1

    async def __aenter__(self) -> "SlotServer":
        app = web.Application()
        app.router.add_post("/slots/0", self._act)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.05)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        addresses: list[tuple[str, int]] = self._runner.addresses
        self.port = addresses[0][1]
        self._session = aiohttp.ClientSession()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()
        await self._runner.cleanup()

    async def _act(self, request: web.Request) -> web.Response:
        assert request.headers["Authorization"] == "Bearer key"
        self.actions.append(request.query["action"])
        if request.query["action"] == "save":
            (self._folder / str((await request.json())["filename"])).touch()
        return web.json_response({}, status=400 if self._refuses else 200)

    async def ready(self) -> int:
        return self.starts

    def keeper(self, inner: NotingProvider) -> PrefixKeeper:
        spec = ModelSpec(
            id="demo",
            provider="openai",
            model="demo",
            base_url=f"http://127.0.0.1:{self.port}/v1",
            api_key="key",
            examples=DEMO_EXAMPLES,
        )
        return PrefixKeeper(inner, spec, self._session, self._folder, self.ready)


async def ask(keeper: PrefixKeeper, *messages: Message) -> None:
    async with aclosing(keeper.stream(messages, TOOLS, StreamOptions())) as parts:
        assert [part async for part in parts][-1] == ModelReply(
            message=Message(role="assistant", text="ok")
        )


def question(text: str) -> Message:
    return Message(role="user", text=text)


async def test_prefix_is_read_apart_once_and_then_saved(tmp_path: Path) -> None:
    inner = NotingProvider()
    async with SlotServer(tmp_path) as server:
        keeper = server.keeper(inner)
        await ask(keeper, SYSTEM, *DEMO_EXAMPLES, question("one"), question("two"))
        await ask(keeper, SYSTEM, *DEMO_EXAMPLES, question("three"))
        assert server.actions == ["save"]
    assert [len(view) for view in inner.views] == [
        len(DEMO_EXAMPLES) + 2,
        len(DEMO_EXAMPLES) + 3,
        len(DEMO_EXAMPLES) + 2,
    ]
    assert inner.views[0][:-1] == [SYSTEM, *DEMO_EXAMPLES]
    assert inner.limits == [1, None, None]


async def test_later_process_takes_it_up(tmp_path: Path) -> None:
    async with SlotServer(tmp_path) as server:
        await ask(server.keeper(NotingProvider()), SYSTEM, question("one"))
        inner = NotingProvider()
        await ask(server.keeper(inner), SYSTEM, question("two"))
        assert server.actions == ["save", "restore"]
    assert inner.views == [[SYSTEM, question("two")]]


async def test_server_that_was_started_again_takes_it_up_too(tmp_path: Path) -> None:
    async with SlotServer(tmp_path) as server:
        keeper = server.keeper(NotingProvider())
        await ask(keeper, SYSTEM, question("one"))
        server.starts += 1
        await ask(keeper, SYSTEM, question("two"))
        assert server.actions == ["save", "restore"]


async def test_other_instructions_are_another_prefix(tmp_path: Path) -> None:
    async with SlotServer(tmp_path) as server:
        keeper = server.keeper(NotingProvider())
        await ask(keeper, SYSTEM, question("one"))
        await ask(keeper, replace(SYSTEM, text="Be bold."), question("one"))
        assert server.actions == ["save", "save"]
    assert len(list(tmp_path.glob("*.prefix"))) == 2


async def test_memory_that_the_server_refuses_is_read_again(tmp_path: Path) -> None:
    async with SlotServer(tmp_path) as server:
        await ask(server.keeper(NotingProvider()), SYSTEM, question("one"))
    inner = NotingProvider()
    async with SlotServer(tmp_path, refuses=True) as server:
        await ask(server.keeper(inner), SYSTEM, question("two"))
        assert server.actions == ["restore", "save"]
    assert len(inner.views) == 2


def touch(path: Path, *, age_s: float) -> None:
    path.touch()
    then = time.time() - age_s
    os.utime(path, times=(then, then))


@pytest.mark.parametrize("count", [2, 5])
def test_old_and_surplus_memories_are_deleted(tmp_path: Path, count: int) -> None:
    for number in range(count):
        touch(tmp_path / f"{number}.prefix", age_s=number)
    touch(tmp_path / "old.prefix", age_s=25 * 3600)
    prune(tmp_path)
    kept = sorted(path.name for path in tmp_path.iterdir())
    assert kept == [f"{number}.prefix" for number in range(min(count, 3))]
