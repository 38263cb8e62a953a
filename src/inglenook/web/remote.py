"""Commands to a browser and what it tells, as both protocols frame them: JSON with an `id`.

    {"id": 1, "method": "Page.navigate", "params": {…}}  →  {"id": 1, "result": {…}}
    {"method": "Page.loadEventFired", "params": {…}}        an event

Source: https://chromedevtools.github.io/devtools-protocol/ (with `sessionId` for one tab) and
https://www.w3.org/TR/webdriver-bidi/#protocol
"""

import asyncio
import itertools
import json
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, Protocol, cast

import aiohttp

from inglenook.web.tab import BrowserError

COMMAND_TIMEOUT_S = 20.0
"""The first waits for the browser to start, from a slow disk for ten seconds."""
MAX_MESSAGE_BYTES = 64 << 20
"""The HTML of a page, 10 MB of it, with every character escaped."""

Message = dict[str, Any]
OnEvent = Callable[[Message], None]


class CommandError(BrowserError):
    """The browser refused one command; the others go on."""


class Wire(Protocol):
    async def send(self, text: str) -> None: ...

    async def receive(self) -> str:
        """Raises:
        BrowserError: It is closed.
        """
        ...


class PipeWire:
    """Two pipes to a process of ours; messages end in a zero byte."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """`reader` must have been made with the limit `MAX_MESSAGE_BYTES`."""
        self._reader = reader
        self._writer = writer

    async def send(self, text: str) -> None:
        try:
            self._writer.write(text.encode() + b"\0")
            await self._writer.drain()
        except ConnectionError:
            raise _gone() from None

    async def receive(self) -> str:
        try:
            return (await self._reader.readuntil(b"\0"))[:-1].decode()
        except (asyncio.IncompleteReadError, ConnectionError):
            raise _gone() from None
        except asyncio.LimitOverrunError:
            raise _too_long() from None


class SocketWire:
    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket

    async def send(self, text: str) -> None:
        try:
            await self._socket.send_str(text)
        except (ConnectionError, aiohttp.ClientError):
            raise _gone() from None

    async def receive(self) -> str:
        message = await self._socket.receive()
        if message.type is not aiohttp.WSMsgType.TEXT:
            raise _gone() if self._socket.close_code != 1009 else _too_long()
        return message.data


@asynccontextmanager
async def web_socket(url: str) -> AsyncGenerator[SocketWire]:
    """Raises:
    BrowserError: Nothing there speaks the protocol.
    """
    async with aiohttp.ClientSession(trust_env=False) as session:
        try:
            socket = await session.ws_connect(url, max_msg_size=MAX_MESSAGE_BYTES)
        except (aiohttp.ClientError, OSError) as error:
            raise BrowserError(
                f"there is no browser to be driven at {url!r} ({type(error).__name__})."
            ) from None
        async with socket:
            yield SocketWire(socket)


class Remote:
    """Made by `driven`."""

    def __init__(self, wire: Wire, group: asyncio.TaskGroup) -> None:
        self._wire = wire
        self._group = group
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Message]] = {}
        self._beside: set[asyncio.Task[None]] = set()
        self.on_event: OnEvent = lambda event: None

    async def call(self, method: str, session: str | None = None, **params: Any) -> Message:
        """Raises:
        CommandError: The browser refused, or gave no answer in time.
        BrowserError: It is gone.
        """
        number = next(self._numbers)
        message: Message = {"id": number, "method": method, "params": params}
        if session is not None:
            message["sessionId"] = session
        self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(COMMAND_TIMEOUT_S):
                await self._wire.send(json.dumps(message))
                reply = await self._waiting[number]
        except TimeoutError:
            raise CommandError(
                f"the browser did not answer {method} within {COMMAND_TIMEOUT_S:g} s."
            ) from None
        finally:
            del self._waiting[number]
        if "error" in reply:
            raise CommandError(f"the browser refused {method}: {_told(reply)!r}.")
        return reply.get("result", {})

    def go(self, work: Coroutine[Any, Any, None]) -> None:
        """Do it beside everything else, no longer than the browser is used. What it raises ends
        that use."""
        task = self._group.create_task(work)
        self._beside.add(task)
        task.add_done_callback(self._beside.discard)

    def stop(self) -> None:
        for task in self._beside:
            task.cancel()

    async def listen(self) -> None:
        """Until the browser goes away.

        Raises:
            BrowserError: It did.
        """
        while True:
            message: Message = json.loads(await self._wire.receive())
            # Where this task was cancelled it ends here: a message that was there already is read
            # without a pause, and a group that is being left takes no more work.
            await asyncio.sleep(0)
            if (number := message.get("id")) is None:
                self.on_event(message)
            elif (waiting := self._waiting.get(number)) and not waiting.done():
                waiting.set_result(message)


@asynccontextmanager
async def driven(wire: Wire) -> AsyncGenerator[Remote]:
    """Drive the browser at the other end. Whatever fails meanwhile, in the body or beside it, ends
    the body and comes out as itself."""
    try:
        async with asyncio.TaskGroup() as group:
            remote = Remote(wire, group)
            remote.go(remote.listen())
            yield remote
            remote.stop()
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from None


def _told(reply: Message) -> str:
    """CDP has `error: {message}`, BiDi `error: code, message: text`."""
    error = reply["error"]
    if isinstance(error, dict):
        error = cast("Message", error).get("message", "")
    return f"{error} {reply.get('message', '')}".strip()[:200]


def _gone() -> BrowserError:
    return BrowserError("the browser closed the connection: it ended, crashed or was ended.")


def _too_long() -> BrowserError:
    return BrowserError(f"the browser sent a message of over {MAX_MESSAGE_BYTES >> 20} MB.")
