"""Near the least that Python can do: uvloop, one hand-made HTTP/1.1 client per connection, orjson,
and a request body that is never built twice (each message is serialized once, then appended)."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from kit import TASK, TOOL_SCHEMA, Driver, main


class Connection(asyncio.Protocol):
    """One keep-alive connection, one request at a time; replies with a length or chunked."""

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.buffer += data
        if self.ready is not None and not self.ready.done():
            self.ready.set_result(None)

    def connection_lost(self, error):
        if self.ready is not None and not self.ready.done():
            self.ready.set_exception(error or ConnectionError("closed"))

    ready = None

    async def more(self):
        self.ready = asyncio.get_running_loop().create_future()
        await self.ready

    async def request(self, parts: list[bytes]) -> bytes:
        """Send; return the reply's head. The body is what follows it in self.buffer."""
        self.buffer = bytearray()
        self.transport.writelines(parts)
        while (end := self.buffer.find(b"\r\n\r\n")) < 0:
            await self.more()
        head = bytes(self.buffer[:end])
        del self.buffer[: end + 4]
        if not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(head.decode())
        return head

    async def body(self, head: bytes) -> bytes:
        at = head.find(b"content-length: ") + 16
        length = int(head[at:].split(b"\r", 1)[0])
        while len(self.buffer) < length:
            await self.more()
        return self.buffer

    async def chunks(self):
        """The lines of a chunked reply; a chunk holds whole lines, as all servers in use send them."""
        at = 0
        while True:
            end = self.buffer.find(b"\r\n", at)
            if end > 0:
                size = int(self.buffer[at:end], 16)
                if len(self.buffer) >= end + size + 4:
                    if not size:
                        return
                    yield self.buffer[end + 2 : end + 2 + size]
                    at = end + size + 4
                    continue
            del self.buffer[:at]
            at = 0
            await self.more()


class RawLimit(Driver):
    name = "raw-limit"
    dists = ("uvloop", "orjson")

    def load(self):
        global orjson, uvloop
        import orjson
        import uvloop

        self.host, port = self.base_url.removeprefix("http://").split(":")
        self.port = int(port)
        self.idle: list[Connection] = []
        self.threads = ThreadPoolExecutor(32)  # asyncio.to_thread has only cores + 4
        self.head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: {self.host}\r\ncontent-type: application/json\r\n"

    def run_loop(self, job):
        uvloop.run(job)

    async def connection(self) -> Connection:
        if self.idle:
            return self.idle.pop()
        loop = asyncio.get_running_loop()
        return (await loop.create_connection(Connection, self.host, self.port))[1]

    def agent(self, model):
        body = orjson.dumps({"model": model, "tools": [TOOL_SCHEMA]})[:-1]
        return body + b',"messages":[' + orjson.dumps({"role": "user", "content": TASK})

    def parts(self, bodies: list[bytes], size: int) -> list[bytes]:
        return [f"{self.head}content-length: {size + 2}\r\n\r\n".encode(), *bodies, b"]}"]

    async def run(self, agent):
        bodies, size = [agent], len(agent)
        connection = await self.connection()
        while True:
            head = await connection.request(self.parts(bodies, size))
            message = orjson.loads(await connection.body(head))["choices"][0]["message"]
            calls = message.get("tool_calls")
            if not calls:
                self.idle.append(connection)
                return message["content"]
            if len(calls) == 1:
                results = [await self.call(calls[0]["function"])]
            else:
                results = await asyncio.gather(*(self.call(call["function"]) for call in calls))
            new = [message]
            for call, result in zip(calls, results):
                new.append({"role": "tool", "tool_call_id": call["id"], "content": result})
            bodies.append(b"," + orjson.dumps(new)[1:-1])
            size += len(bodies[-1])

    async def call(self, function):
        arguments = orjson.loads(function["arguments"])
        if asyncio.iscoroutinefunction(self.tool):
            return await self.tool(**arguments)
        return await asyncio.get_running_loop().run_in_executor(
            self.threads, lambda: self.tool(**arguments)
        )

    async def stream(self, agent):
        connection = await self.connection()
        body = agent.replace(b'{"model"', b'{"stream":true,"model"', 1)
        await connection.request(self.parts([body], len(body)))
        async for line in connection.chunks():
            if line.startswith(b"data: {"):
                for choice in orjson.loads(line[6:])["choices"]:
                    if text := choice["delta"].get("content"):
                        yield text
        self.idle.append(connection)


if __name__ == "__main__":
    main(RawLimit)
