"""Inglenook in the harness: the shipped loop, provider, registry and durable event log.

Every event of every run is stored in SQLite as in production; the other contenders keep no log.
`--ollama` speaks Ollama's native API in place of Chat Completions; `--uvloop` has the event loop of
the extra `fast`.
"""

import sys
import tempfile
from pathlib import Path

from kit import TASK, Driver, main

OLLAMA, UVLOOP = "--ollama" in sys.argv, "--uvloop" in sys.argv
sys.argv = [argument for argument in sys.argv if argument not in ("--ollama", "--uvloop")]


class Inglenook(Driver):
    name = "inglenook" + "-ollama" * OLLAMA + "-uvloop" * UVLOOP
    dists = ("inglenook", "aiohttp", "pydantic")
    bench = None

    def load(self):
        global parts
        import inglenook_parts as parts

    def run_loop(self, job):
        if not UVLOOP:
            return super().run_loop(job)
        import uvloop

        uvloop.run(job)

    def agent(self, model):
        return model

    async def open(self):
        if self.bench is None:
            home = Path(tempfile.mkdtemp(prefix="inglenook-bench-", dir="/var/tmp"))
            self.bench = await parts.open_bench(home, self.base_url, lambda: self.tool, OLLAMA)
        return self.bench

    async def run(self, model):
        bench = await self.open()
        return await bench.run(model, TASK)

    async def stream(self, model):
        bench = await self.open()
        async for text in bench.stream(model, TASK):
            yield text


if __name__ == "__main__":
    main(Inglenook)
