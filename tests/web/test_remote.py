import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from inglenook.errors import StoreError
from inglenook.web import remote as module
from inglenook.web.remote import CommandError, driven, web_socket
from inglenook.web.tab import BrowserError
from tests.web.wire import RawServer, answer

Message = dict[str, Any]


class ScriptedWire:
    """A browser that answers each command as a function says; None: not at all."""

    def __init__(self, answer: Callable[[Message], Message | None]) -> None:
        self._answer = answer
        self.inbox: asyncio.Queue[Message | None] = asyncio.Queue()

    async def send(self, text: str) -> None:
        command = json.loads(text)
        reply = self._answer(command)
        if reply is not None:
            self.inbox.put_nowait({"id": command["id"]} | reply)

    async def receive(self) -> str:
        message = await self.inbox.get()
        if message is None:
            raise BrowserError("the browser closed the connection")
        return json.dumps(message)


async def test_answers_find_their_commands_whatever_their_order() -> None:
    held: list[Message] = []
    wire = ScriptedWire(lambda command: held.append(command))
    async with driven(wire) as remote, asyncio.TaskGroup() as group:
        first = group.create_task(remote.call("A", "tab", x=1))
        second = group.create_task(remote.call("B"))
        while len(held) < 2:
            await asyncio.sleep(0)
        assert held[0] == {"id": 1, "method": "A", "params": {"x": 1}, "sessionId": "tab"}
        wire.inbox.put_nowait({"id": 2, "result": {"of": "B"}})
        wire.inbox.put_nowait({"id": 1, "result": {"of": "A"}})
        assert await first == {"of": "A"}
        assert await second == {"of": "B"}


@pytest.mark.parametrize(
    "error",
    [
        {"error": {"code": -32000, "message": "No such frame"}},
        {"type": "error", "error": "no such frame", "message": "No such frame"},
    ],
)
async def test_a_refused_command_says_why_and_the_browser_goes_on(error: Message) -> None:
    wire = ScriptedWire(lambda command: error if command["method"] == "bad" else {"result": {}})
    async with driven(wire) as remote:
        with pytest.raises(CommandError, match=r"refused bad: .*No such frame"):
            await remote.call("bad")
        assert await remote.call("good") == {}


async def test_a_command_without_an_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "COMMAND_TIMEOUT_S", 0.01)
    async with driven(ScriptedWire(lambda command: None)) as remote:
        with pytest.raises(CommandError, match=r"did not answer Page.enable within 0.01 s"):
            await remote.call("Page.enable")


async def test_a_closed_connection_ends_the_wait_for_an_answer() -> None:
    wire = ScriptedWire(lambda command: None)
    wire.inbox.put_nowait(None)
    with pytest.raises(BrowserError, match="closed the connection"):
        async with driven(wire) as remote:
            await remote.call("Page.enable")


async def test_what_fails_beside_comes_out_as_itself() -> None:
    async def fail() -> None:
        raise StoreError("the disk is full")

    async def use() -> None:
        async with driven(ScriptedWire(lambda command: None)) as remote:
            remote.go(fail())
            await remote.call("Page.enable")

    with pytest.raises(StoreError, match="the disk is full"):
        await use()


async def test_events_are_told_in_order_and_work_ends_with_the_use() -> None:
    wire, seen, ended = ScriptedWire(lambda command: {"result": {}}), list[str](), list[str]()

    async def forever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("stopped")

    async with driven(wire) as remote:
        remote.on_event = lambda event: seen.append(event["method"])
        for method in ("a", "b"):
            wire.inbox.put_nowait({"method": method, "params": {}})
        remote.go(forever())
        await remote.call("then")
        assert seen == ["a", "b"]
    assert ended == ["stopped"]


async def test_what_is_no_web_socket_says_so() -> None:
    async with RawServer(answer("404 Not Found")) as server:
        with pytest.raises(BrowserError, match="no browser to be driven"):
            async with web_socket(f"ws://127.0.0.1:{server.port}/session"):
                pass
