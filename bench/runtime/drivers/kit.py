"""What every driver shares: the tool, the workloads, the accounting, one JSON line at the end.

A driver is a script that subclasses Driver and calls main(). It runs in its own venv, so this
file uses the standard library only. Options: --base-url URL --workload NAME (see WORKLOADS).
"""

import argparse
import asyncio
import json
import os
import re
import statistics
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version

TEXT = 'It said: "naïve — not so."\n\tLine two of a page, with the odd \\ and “quote” — as pages have.\n'
TASK = "Do all the work, one step after the other, then say that it is done."
marks: list[float] = []  # CPU seconds of this process at each tool call


def _result(step: int, size: int) -> str:
    marks.append(time.process_time())
    return f"#r{step:06d}#" + (TEXT * (size // len(TEXT) + 1))[:size]


async def work(step: int, size: int = 16, sleep_ms: int = 0) -> str:
    """Do one unit of work and return its result.

    Args:
        step: The number of the unit.
        size: The length of the result.
        sleep_ms: How long the work takes, in milliseconds.
    """
    if sleep_ms:
        await asyncio.sleep(sleep_ms / 1000)
    return _result(step, size)


def work_sync(step: int, size: int = 16, sleep_ms: int = 0) -> str:
    if sleep_ms:
        time.sleep(sleep_ms / 1000)
    return _result(step, size)


work_sync.__name__ = work_sync.__qualname__ = "work"
work_sync.__doc__ = work.__doc__
TOOL_SCHEMA = {
    "type": "function",
    "function": {
        "name": "work",
        "description": work.__doc__.split("\n")[0],
        "parameters": {
            "type": "object",
            "properties": {name: {"type": "integer"} for name in ("step", "size", "sleep_ms")},
            "required": ["step"],
        },
    },
}


class Driver:
    """One contender. `sync` drivers have plain methods, others coroutines; `stream` may be absent."""

    name = ""
    dists: tuple[str, ...] = ()  # distributions whose versions are reported, the main one first
    sync = False
    reusable = True  # one agent object may serve many runs at once
    stream = None
    tool = staticmethod(work)
    max_steps = 1000

    def __init__(self, base_url: str):
        self.base_url = base_url

    def load(self):
        """Import the contender's packages and make what a process makes once (clients)."""

    def agent(self, model: str):
        """A new agent for the script `model` with the one tool."""

    def run(self, agent) -> str:
        """One whole run; returns the final text."""

    def run_loop(self, job):
        asyncio.run(job)


class Bench:
    def __init__(self, driver: Driver):
        self.driver, self.agents = driver, {}

    def stats(self, reset=False) -> dict:
        with urllib.request.urlopen(
            f"{self.driver.base_url}/stats{'?reset=1' if reset else ''}"
        ) as reply:
            return json.load(reply)

    def agent(self, model: str):
        if not self.driver.reusable:
            return self.driver.agent(model)
        if model not in self.agents:
            self.agents[model] = self.driver.agent(model)
        return self.agents[model]

    async def run(self, model: str) -> str:
        text = self.driver.run(self.agent(model))
        return text if self.driver.sync else await text

    async def timed(self, model: str, runs: int, steps: int, warm: int = 2) -> dict:
        for _ in range(warm):
            await self.run(model)
        self.stats(reset=True)
        walls, waits, cpu, busy = [], [], 0.0, 0.0
        for _ in range(runs):
            start, begun = time.perf_counter(), time.process_time()
            await self.run(model)
            walls.append((time.perf_counter() - start) * 1e3)
            cpu += time.process_time() - begun
            server = self.stats()
            waits.append(walls[-1] - (server["busy_us"] - busy) / 1e3)
            busy = server["busy_us"]
        return {
            "wall_ms_step": statistics.median(walls) / steps,
            "overhead_ms_step": statistics.median(waits) / steps,
            "cpu_ms_step": cpu * 1e3 / (runs * steps),
            **self.checked(server, runs * (steps + 1)),
        }

    @staticmethod
    def checked(server: dict, replies: int) -> dict:
        """The server's counts, after a check that the script was followed to the letter."""
        keys = ("requests", "errors", "trimmed", "connections", "bytes_in", "cpu_s")
        if server["requests"] != replies or server.get("errors") or server.get("trimmed"):
            raise SystemExit(f"the script was not followed: {replies} replies expected, {server}")
        return {"server_" + key: server.get(key, 0) for key in keys}

    # --- the workloads -------------------------------------------------------------------------

    async def w1(self) -> dict:
        """1 run of 20 steps at a time."""
        return await self.timed("steps-20", runs=10, steps=20)

    async def w2(self, runs=64, steps=20) -> dict:
        """64 concurrent runs of 20 steps."""
        model = f"steps-{steps}"
        await self.run(model)
        before = memory("VmRSS")
        self.stats(reset=True)
        start, cpu = time.perf_counter(), time.process_time()
        if self.driver.sync:
            with ThreadPoolExecutor(runs) as pool:
                list(pool.map(lambda _: self.driver.run(self.agent(model)), range(runs)))
        else:
            await asyncio.gather(*(self.run(model) for _ in range(runs)))
        wall, cpu = time.perf_counter() - start, time.process_time() - cpu
        return {
            "steps_s": runs * steps / wall,
            "cpu_ms_step": cpu * 1e3 / (runs * steps),
            "peak_rss_mb": memory("VmHWM"),
            "kb_per_run": (memory("VmHWM") - before) * 1024 / runs,
            "wall_s": wall,
            **self.checked(self.stats(), runs * (steps + 1)),
        }

    async def w3(self) -> dict:
        """One reply with 8 parallel tool calls of 100 ms each."""
        result = await self.timed("parallel-8", runs=5, steps=1, warm=1)
        return {"wall_ms": result.pop("wall_ms_step"), **result}

    async def w3s(self) -> dict:
        """w3 with a blocking (non-async) tool: does the runtime run it in threads?"""
        tool, self.agents = self.driver.tool, {}
        self.driver.tool = work_sync
        try:
            return await self.w3()
        finally:
            self.driver.tool, self.agents = tool, {}

    async def w4(self, tokens=2000, repeat=4, gap=0) -> dict:
        """A streamed answer of 2000 tokens: time to the first one, CPU per 1000."""
        if self.driver.stream is None:
            return {"skipped": "no streaming"}
        model = f"tokens-{tokens},gap={gap}"
        firsts, chars = [], 0
        for n in range(repeat + 1):
            if n == 1:  # the first one was to warm up
                self.stats(reset=True)
                firsts, chars, begun, cpu = [], 0, time.perf_counter(), time.process_time()
            start, first = time.perf_counter(), None
            agent = self.agent(model)
            parts = self.driver.stream(agent)
            if self.driver.sync:
                for text in parts:
                    first = first or time.perf_counter()
                    chars += len(text)
            else:
                async for text in parts:
                    first = first or time.perf_counter()
                    chars += len(text)
            firsts.append(first - start)
        wall, cpu = time.perf_counter() - begun, time.process_time() - cpu
        if chars < tokens * repeat * 5:
            raise SystemExit(f"only {chars} characters streamed")
        return {
            "ttft_ms": statistics.median(firsts) * 1e3,
            "cpu_ms_1k": cpu * 1e6 / (tokens * repeat),
            "wall_ms_1k": wall * 1e6 / (tokens * repeat),
            **self.checked(self.stats(), repeat),
        }

    async def w4p(self) -> dict:
        """w4 with the tokens 1 ms apart, so that each one wakes the client."""
        return await self.w4(repeat=1, gap=1)

    async def w5(self) -> dict:
        """A fresh process: import, one agent, one run of 20 steps (load() was timed by main)."""
        start = time.perf_counter()
        await self.run("steps-20")
        first = time.perf_counter() - start
        rss = memory("VmHWM")
        self.driver.agent("steps-20")
        made, cpu = 0, time.process_time()
        while made < 100 and time.process_time() - cpu < 0.5:
            self.driver.agent("steps-20")
            made += 1
        agent = (time.process_time() - cpu) / made
        return {"first_run_ms": first * 1e3, "run_rss_mb": rss, "agent_cpu_us": agent * 1e6}

    async def w6(self, steps=200) -> dict:
        """One run of 200 steps with 2 kB tool results: how CPU per step grows."""
        await self.run("steps-20")
        marks.clear()
        self.stats(reset=True)
        start, cpu = time.perf_counter(), time.process_time()
        await self.run(f"steps-{steps},size=2000")
        wall, cpu = time.perf_counter() - start, time.process_time() - cpu
        server = self.stats()
        each = [b - a for a, b in zip(marks, marks[1:])]
        early, late = (statistics.mean(part) * 1e3 for part in (each[4:24], each[-20:]))
        return {
            "cpu_ms_early": early,
            "cpu_ms_late": late,
            "growth_us_per_step": (late - early) * 1e3 / (len(each) - 34),
            "cpu_s": cpu,
            "wall_s": wall,
            "overhead_s": wall - server["busy_us"] / 1e6,
            "peak_rss_mb": memory("VmHWM"),
            **self.checked(server, steps + 1),
        }

    async def runs(self, model: str) -> dict:
        """--workload run:MODEL or run:MODEL*N is N runs and no more (to count instructions)."""
        model, _, times = model.partition("*")
        texts = [await self.run(model) for _ in range(int(times or 1))]
        return {"text": texts[-1]}


WORKLOADS = ("w1", "w2", "w3", "w3s", "w4", "w4p", "w5", "w6")


def memory(field: str) -> float:
    """MB from /proc/self/status; VmHWM, unlike ru_maxrss, is not inherited from the parent."""
    with open("/proc/self/status") as file:
        return int(re.search(rf"{field}:\s+(\d+)", file.read())[1]) / 1024


def main(driver_class: type[Driver]) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--base-url", required=True)
    parser.add_argument(
        "--workload", required=True, help="of " + ",".join(WORKLOADS) + " or run:MODEL, run:MODEL*N"
    )
    args = parser.parse_args()
    driver = driver_class(args.base_url)
    bare, wall, cpu = memory("VmRSS"), time.perf_counter(), time.process_time()
    driver.load()
    loaded = {
        "import_ms": (time.perf_counter() - wall) * 1e3,
        "import_cpu_ms": (time.process_time() - cpu) * 1e3,
        "import_rss_mb": memory("VmHWM"),
        "bare_rss_mb": bare,
    }
    bench = Bench(driver)

    async def work_through():
        for workload in [args.workload] if ":" in args.workload else args.workload.split(","):
            kind, _, model = workload.partition(":")
            result = await (bench.runs(model) if model else getattr(bench, kind)())
            if kind == "w5":
                result.update(loaded)
            versions = {dist: version(dist) for dist in driver.dists}
            line = {"driver": driver.name, "workload": kind, "versions": versions, **result}
            print("\n" + json.dumps(line), flush=True)

    driver.run_loop(work_through())
    sys.stdout.flush()
    os._exit(0)  # exporters and pools of some contenders linger at exit; that is not measured
