"""Runs every driver over every workload, interleaved, and prints tables of medians and ratios.

    python run_all.py --setup                      make the venvs (newest versions) and stop
    python run_all.py --rounds 5 --out r.jsonl     measure; results are appended to r.jsonl
    python run_all.py --report r.jsonl             print the tables of an earlier run
    python run_all.py --instructions --out i.jsonl count instructions per step with valgrind
    --only inglenook,raw-aiohttp                   these contenders and their venvs alone
    --driver ours=/path/to/python:/path/to/driver.py   adds a contender (repeatable)

Each round runs all contenders in a new random order; a ratio is the median over the rounds of
(contender / baseline in the same round), so slow drifts of a noisy machine cancel out.
"""

import argparse
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
VENVS = ROOT / ".bench"
OURS = ROOT / ".venv" / "bin" / "python"
PACKAGES = {
    "server": "uvloop orjson",
    "raw": "httpx aiohttp orjson uvloop",
    "openai": "openai",
    "pydantic_ai": "pydantic-ai-slim[openai]",
    "openai_agents": "openai-agents",
    "langchain": "langchain langgraph langchain-openai deepagents",
    "agno": "agno openai",
    "strands": "strands-agents[openai]",
    "smolagents": "smolagents[openai]",
}
DRIVERS = {  # name: venv (None: the project's own), script, further arguments
    "inglenook": (None, "inglenook_driver.py"),
    "inglenook-uvloop": (None, "inglenook_driver.py", "--uvloop"),
    "inglenook-ollama": (None, "inglenook_driver.py", "--ollama"),
    "raw-limit": ("raw", "raw_limit.py"),
    "raw-aiohttp": ("raw", "raw_aiohttp.py"),
    "raw-httpx": ("raw", "raw_httpx.py"),
    "raw-ollama": ("raw", "raw_ollama.py"),
    "raw-openai": ("openai", "raw_openai.py"),
    "raw-openai-bypass": ("openai", "raw_openai.py", "--bypass"),
    "agno": ("agno", "agno_driver.py"),
    "smolagents": ("smolagents", "smolagents_driver.py"),
    "langchain": ("langchain", "langchain_driver.py"),
    "openai-agents": ("openai_agents", "openai_agents_driver.py"),
    "pydantic-ai": ("pydantic_ai", "pydantic_ai_driver.py"),
    "deepagents": ("langchain", "langchain_driver.py", "--deep"),
    "strands": ("strands", "strands_driver.py"),
    "strands-shared": ("strands", "strands_driver.py", "--shared"),
}
BASIC = ("inglenook", "raw-limit", "raw-aiohttp", "raw-httpx")
BATCHES = ("w1,w3,w3s,w4,w4p", "w2", "w5", "w6")  # what shares a process
# workload: (title, the metric whose ratios are shown, further metrics)
TABLES = {
    "w1": ("1 run x 20 steps", "cpu_ms_step", ("overhead_ms_step", "wall_ms_step", "server_connections")),
    "w2": ("64 concurrent runs x 20 steps", "cpu_ms_step", ("steps_s", "peak_rss_mb", "kb_per_run")),
    "w3": ("8 parallel async tools of 100 ms", "wall_ms", ("cpu_ms_step",)),
    "w3s": ("8 parallel blocking tools of 100 ms", "wall_ms", ("cpu_ms_step",)),
    "w4": ("2000 tokens streamed at once", "cpu_ms_1k", ("ttft_ms", "wall_ms_1k")),
    "w4p": ("2000 tokens streamed 1 ms apart", "cpu_ms_1k", ("ttft_ms", "wall_ms_1k")),
    "w5": ("a fresh process", "import_cpu_ms",
           ("import_ms", "bare_rss_mb", "import_rss_mb", "run_rss_mb", "first_run_ms", "agent_cpu_us")),
    "w6": ("1 run x 200 steps, 2 kB results", "cpu_s",
           ("cpu_ms_early", "cpu_ms_late", "growth_us_per_step", "overhead_s", "peak_rss_mb")),
    "instructions": ("millions of user-space instructions (valgrind)", "step", ("growth", "first_run")),
}  # fmt: skip
ENV = {
    "PATH": os.environ["PATH"],
    "HOME": os.environ.get("TMPDIR", "/tmp"),
    "PYTHONHASHSEED": "0",
    "NO_PROXY": "127.0.0.1",
    "AGNO_TELEMETRY": "false",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "LANGSMITH_TRACING": "false",
    "OTEL_SDK_DISABLED": "true",
    "OPENAI_API_KEY": "none",
}


def setup(contenders: Iterable[str] = tuple(DRIVERS), *, upgrade: bool = True) -> None:
    """Make the venvs of these contenders and of the server, each with the newest versions."""
    names = {"server"} | {DRIVERS[name][0] for name in contenders if name in DRIVERS}
    for name in sorted(filter(None, names)):
        if upgrade or not (VENVS / name / "done").exists():
            print(f"setting up {VENVS / name} ({PACKAGES[name]})", flush=True)
            make_venv(VENVS / name, PACKAGES[name].split())


def make_venv(folder: Path, packages: Sequence[str]) -> None:
    python = str(folder / "bin" / "python")
    uv = shutil.which("uv", path=f"{ROOT / '.uv'}:{os.environ['PATH']}")
    if uv:
        make = [uv, "venv", "--quiet", "--allow-existing", "--python", sys.executable, str(folder)]
        install = [uv, "pip", "install", "--quiet", "--upgrade", "--python", python]
    else:  # needs ensurepip, which Debian has in python3-venv
        make = [sys.executable, "-m", "venv", str(folder)]
        install = [python, "-m", "pip", "install", "--quiet", "--upgrade"]
    subprocess.run(make, check=True)
    subprocess.run([*install, *packages], check=True)
    (folder / "done").touch()


def commands(extra: Iterable[str] = ()) -> dict[str, list[str]]:
    """How each contender's driver is started."""
    found = {}
    for name, (venv, script, *more) in DRIVERS.items():
        python = VENVS / venv / "bin" / "python" if venv else OURS
        found[name] = [str(python), str(HERE / "drivers" / script), *more]
    for item in extra:
        name, _, rest = item.partition("=")
        found[name] = rest.split(":")
    return found


@contextmanager
def scripted_server(python: str) -> Generator[str]:
    """The scripted model server as a process of its own; its address."""
    command = [python, str(HERE / "scripted_server.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


def run(command: Sequence[str], base_url: str, workload: str, timeout: int) -> list[dict[str, Any]]:
    """Run one driver process; returns its JSON lines, each with the whole process's accounting."""
    process = subprocess.Popen(
        ["timeout", str(timeout), *command, "--base-url", base_url, "--workload", workload],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV, text=True,
    )  # fmt: skip
    out, err = process.communicate()
    lines = [json.loads(line) for line in out.splitlines() if line.startswith('{"driver"')]
    if process.returncode or not lines:
        print(f"  FAILED ({process.returncode}): {err.strip()[-300:]}", file=sys.stderr)
    return lines


def measure(
    base_url: str,
    contenders: dict[str, list[str]],
    *,
    rounds: int,
    batches: Sequence[str] = BATCHES,
    timeout: int = 300,
) -> Iterator[dict[str, Any]]:
    """A line for each contender, workload and round, as they come."""
    names = list(contenders)
    for n in range(rounds):
        for batch in batches:
            random.shuffle(names)
            for name in names:
                start = time.time()
                for line in run(contenders[name], base_url, batch, timeout):
                    yield {**line, "driver": name, "round": n, "load": os.getloadavg()[0]}
                print(f"round {n} {batch} {name} {time.time() - start:.1f} s", file=sys.stderr)


def count_instructions(command: Sequence[str], base_url: str, workload: str) -> float:
    """Millions of user-space instructions of one driver process, counted by valgrind."""
    tool = "valgrind --tool=cachegrind --cache-sim=no --branch-sim=no"
    options = "--cachegrind-out-file=/dev/null"
    done = subprocess.run(
        [*tool.split(), options, *command, "--base-url", base_url, "--workload", workload],
        capture_output=True, text=True, env=ENV, timeout=900,
    )  # fmt: skip
    found = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
    if done.returncode or not found:
        raise RuntimeError(done.stderr[-2000:])
    return int(found[1].replace(",", "")) / 1e6


def instructions_per_step(
    command: Sequence[str], base_url: str, steps: int = 20, runs: int = 20
) -> float:
    """Millions, as the difference between one run of so many steps and `runs` more.

    A start takes as many as 1,000 steps and differs by 1 %, so that fewer steps would be lost in it.
    """
    run(command, base_url, f"run:steps-{steps}", 60)  # so that neither of them compiles anything
    few, many = (
        count_instructions(command, base_url, f"run:steps-{steps}*{n}") for n in (1, 1 + runs)
    )
    return (many - few) / (runs * steps)


def all_instructions(base_url: str, contenders: dict[str, list[str]]) -> Iterator[dict]:
    """Instructions per step and its growth with the history (2 kB results)."""
    for name, command in contenders.items():
        try:
            c = {
                s: count_instructions(command, base_url, f"run:steps-{s},size=2000")
                for s in (2, 12, 22)
            }
            yield {
                "driver": name, "workload": "instructions", "round": 0, "versions": {},
                "first_run": c[2], "step": instructions_per_step(command, base_url),
                "growth": ((c[22] - c[12]) - (c[12] - c[2])) / 100,
            }  # fmt: skip
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            print(f"{name} FAILED: {error!r}", flush=True)


def number(x: float) -> str:
    return f"{x:.0f}" if abs(x) >= 100 else f"{x:.3g}"


def report(path: str, baselines=("raw-limit", "raw-httpx")) -> None:
    values = defaultdict(lambda: defaultdict(dict))  # workload -> driver -> round -> line
    versions = {}
    with open(path) as file:
        for line in map(json.loads, file):
            values[line["workload"]][line["driver"]][line["round"]] = line
            versions[line["driver"]] = {**versions.get(line["driver"], {}), **line["versions"]}
    for workload, (title, metric, more) in TABLES.items():
        if workload not in values:
            continue
        rows = {}
        for driver, rounds in values[workload].items():
            rounds = {n: line for n, line in rounds.items() if metric in line}
            if not rounds:
                continue
            cells = [
                statistics.median(line[m] for line in rounds.values() if m in line)
                for m in (metric, *more)
            ]
            ratios = []
            for baseline in baselines:
                base = values[workload].get(baseline, {})
                pairs = [line[metric] / base[n][metric] for n, line in rounds.items() if n in base]
                ratios.append(number(statistics.median(pairs)) + "x" if pairs else "-")
            rows[driver] = (cells, ratios, len(rounds))
        print(f"\n### {workload}: {title}\n")
        print(
            "| contender |",
            " | ".join((metric, *(f"vs {b}" for b in baselines), *more, "rounds")),
            "|",
        )
        print("|---|" + "---:|" * (len(more) + len(baselines) + 2))
        for driver, (cells, ratios, n) in sorted(rows.items(), key=lambda row: row[1][0][0]):
            first, *others = map(number, cells)
            print(f"| {driver} |", " | ".join((first, *ratios, *others, str(n))), "|")
    print(
        "\nVersions:",
        "; ".join(
            f"{d}: {', '.join(f'{p} {v}' for p, v in ps.items())}"
            for d, ps in versions.items()
            if ps
        ),
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--setup", action="store_true")
    parser.add_argument("--report", metavar="FILE")
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", help="names of contenders, with commas")
    parser.add_argument("--batches", help="workloads; ',' within a process, ';' between processes")
    parser.add_argument("--driver", action="append", default=[], metavar="NAME=PYTHON:SCRIPT")
    parser.add_argument("--timeout", type=int, default=300, help="seconds for one process")
    parser.add_argument("--out", default="results.jsonl")
    args = parser.parse_args()
    known = commands(args.driver)
    optional = {"inglenook-uvloop"}  # needs the extra `fast`
    chosen = args.only.split(",") if args.only else [name for name in known if name not in optional]
    if args.setup:
        return setup(chosen)
    if args.report:
        return report(args.report)
    contenders = {name: known[name] for name in chosen}
    batches = args.batches.split(";") if args.batches else BATCHES
    with scripted_server(str(VENVS / "server/bin/python")) as base_url, open(args.out, "a") as out:
        if args.instructions:
            lines = all_instructions(base_url, contenders)
        else:
            lines = measure(
                base_url, contenders, rounds=args.rounds, batches=batches, timeout=args.timeout
            )
        for line in lines:
            out.write(json.dumps(line) + "\n")
            out.flush()
    report(args.out)


if __name__ == "__main__":
    main()
