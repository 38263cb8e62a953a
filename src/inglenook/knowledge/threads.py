"""Worker threads for the index's blocking calls, apart from the interpreter's default pool."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Threads:
    def __init__(self, count: int) -> None:
        self._pool = ThreadPoolExecutor(count, "knowledge")

    async def run(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """A cancelled caller leaves at once; the function still runs to its end."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, lambda: function(*args, **kwargs))

    def close(self) -> None:
        self._pool.shutdown(wait=False)
