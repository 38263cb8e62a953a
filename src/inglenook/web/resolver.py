"""Names to addresses, in bounded time."""

import asyncio
import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

MAX_LOOK_UPS = 8
"""At once. One that a name server never answers holds its thread for half a minute, so they have
threads of their own and none of anybody else's."""


class Resolver(Protocol):
    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """Every address of `host`, best first.

        Raises:
            OSError: There is none.
        """
        ...


class SystemResolver:
    """What the machine's own configuration says: hosts file, name servers."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(MAX_LOOK_UPS, thread_name_prefix="look-up")

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        def look_up() -> list[str]:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            return list(dict.fromkeys(str(address[0]) for *_, address in found))

        return await asyncio.get_running_loop().run_in_executor(self._threads, look_up)
