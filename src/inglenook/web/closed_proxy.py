"""The proxy that a browser is told to use for everything, and that leads nowhere.

A browser goes past interception in many ways: WebSockets, workers, connections made ahead, its own
services. All of them end here, so nothing leaves that the ledger does not show, and no page reaches
this machine or its network. Chromium leaves loopback out of a proxy unless it is told otherwise
(`<-loopback>`), which is why whoever uses this must say so.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

BYPASS_NOTHING = "<-loopback>"
"""Chromium's words for: loopback too goes through the proxy."""
MAX_LINE_BYTES = 1024
MAX_KEPT = 100


@dataclass
class ClosedProxy:
    port: int
    turned_away: list[str] = field(default_factory=list[str])
    """Method and target of what came, the first of them."""

    @property
    def host_and_port(self) -> str:
        return f"127.0.0.1:{self.port}"


@asynccontextmanager
async def closed_proxy() -> AsyncGenerator[ClosedProxy]:
    async def turn_away(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            line = (await reader.readline()).decode("latin-1").split(" ")
            if len(line) > 1 and len(proxy.turned_away) < MAX_KEPT:
                proxy.turned_away.append(" ".join(line[:2]))
            writer.write(
                b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            )
            await writer.drain()
        except (OSError, ValueError):  # the latter of a line beyond the limit
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(turn_away, "127.0.0.1", 0, limit=MAX_LINE_BYTES)
    proxy = ClosedProxy(port=server.sockets[0].getsockname()[1])
    try:
        yield proxy
    finally:
        server.close()
