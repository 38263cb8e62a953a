"""llama.cpp closes a stream's connection that it promised to keep; no later call trips on it."""

import asyncio

from inglenook.messages import Message
from inglenook.providers.base import ModelReply, ModelSpec, StreamOptions
from inglenook.providers.openai_chat import OpenAIChatProvider
from inglenook.providers.transport import open_session

STREAM = (
    b"HTTP/1.1 200 OK\r\nServer: llama.cpp\r\nContent-Type: text/event-stream\r\n"
    b"Transfer-Encoding: chunked\r\nKeep-Alive: timeout=5, max=100\r\n%s\r\n"
)
EVENTS = (
    b'data: {"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
)


class ClosingServer:
    """Closes a connection behind its reply, unless the client wants to; reads what still comes."""

    def __init__(self) -> None:
        self.requests: list[list[bytes]] = []
        """Of each connection, the heads of the requests that came on it."""
        self.closed = asyncio.Semaphore(0)
        """Released once for each connection that has ended."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads: list[bytes] = []
        self.requests.append(heads)
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        closes = b"connection: close" in heads[0].lower()
        writer.write(STREAM % (b"Connection: close\r\n" if closes else b""))
        writer.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(EVENTS), EVENTS))
        await writer.drain()
        while closes and (line := await reader.readline()):
            if line.startswith(b"POST"):
                heads.append(line)
        writer.close()
        await writer.wait_closed()
        self.closed.release()


async def answered(provider: OpenAIChatProvider, question: list[Message]) -> None:
    parts = [part async for part in provider.stream(question, [], StreamOptions())]
    assert isinstance(parts[-1], ModelReply)


async def test_after_the_first_reply_each_request_has_its_own_connection() -> None:
    handler = ClosingServer()
    server = await asyncio.start_server(handler.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    spec = ModelSpec(id="m", provider="openai", model="m", base_url=f"http://127.0.0.1:{port}/v1")
    async with open_session() as session, server:
        provider = OpenAIChatProvider(session, spec)
        question = [Message(role="user", text="hello")]
        await answered(provider, question)
        await handler.closed.acquire()
        for _ in range(20):  # turns in which the pool notices that the first one is closed
            await asyncio.sleep(0)
        for _ in range(2):
            await answered(provider, question)
            await handler.closed.acquire()
    assert [len(heads) for heads in handler.requests] == [1, 1, 1]
    assert b"connection: close" not in handler.requests[0][0].lower()
    assert all(b"connection: close" in heads[0].lower() for heads in handler.requests[1:])
