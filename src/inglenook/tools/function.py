"""FunctionTool: a plain function as a tool; a blocking one runs in threads of its own."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from inglenook.messages import ToolOutput
from inglenook.run_context import RunContext
from inglenook.tools.base import ToolSpec

THREADS = 64
"""For all runs together. The event loop's own pool has cores + 4, which on a small machine would
make eight parallel reads wait for each other."""

_pool = ThreadPoolExecutor(THREADS, thread_name_prefix="tool")  # its threads start when needed


class FunctionTool:
    def __init__(
        self, spec: ToolSpec, function: Callable[..., str] | Callable[..., Awaitable[str]]
    ) -> None:
        """`function` takes the fields of `spec.arguments` by name and returns text."""
        self.spec = spec
        self._function: Callable[..., Any] = function
        self._is_async = inspect.iscoroutinefunction(function)

    async def run(self, arguments: Any, run: RunContext) -> ToolOutput:
        values = {name: getattr(arguments, name) for name in self.spec.arguments.model_fields}
        if self._is_async:
            return ToolOutput(text=await self._function(**values))
        text = await asyncio.get_running_loop().run_in_executor(
            _pool, lambda: self._function(**values)
        )
        return ToolOutput(text=text)
