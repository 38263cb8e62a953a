"""What Inglenook costs, against hand-written loops, peers and the targets. `make bench`.

    python -m bench                    our runtime and three hand-written loops; some 10 minutes
    python -m bench --peers            also six other runtimes; their packages take 1 GB
    python -m bench --retrieval        also how well search finds sections of the Debian FAQ
    python -m bench --only runtime     one group of: runtime, instructions, startup, knowledge,
                                       page, recovery, web, cache

What it needs is set up in `.bench/`, with the newest versions. Measure on an idle machine: ratios
are taken within a round, but wall times are not. Exits 1 if a target was missed.
"""

import argparse
import asyncio
import importlib.util
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence

from bench.cache import cache_figures
from bench.coercion import coercion_figures
from bench.figures import (
    BASE,
    OURS,
    Figure,
    Line,
    Results,
    instruction_figure,
    limit_figure,
    runtime_figures,
    summary,
)
from bench.knowledge import AGAIN_LIMIT_S, SEARCH_LIMIT_MS
from bench.page import EVENTS, OPEN_LIMIT_S, can_open, open_s
from bench.recovery import recovery_figures
from bench.runtime import run_all
from bench.startup import ASK_LIMIT_S, HELP_LIMIT_S, ask_cpu_s, help_cpu_s, median_of
from bench.web import web_figures

GROUPS = ("runtime", "instructions", "startup", "knowledge", "page", "recovery", "web", "cache")
PEERS = ("agno", "langchain", "openai-agents", "pydantic-ai", "strands", "smolagents")
BATCHES = ("w1,w3,w3s,w4,w4p", "w2", "w6")
FAST = "inglenook-uvloop"
SEARCH = re.compile(r"hybrid search .*median ([\d.]+) ms")
AGAIN = re.compile(r"unchanged files added again: ([\d.]+) s")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--retrieval", action="store_true")
    parser.add_argument("--only", choices=GROUPS, action="append")
    args = parser.parse_args()
    groups = args.only or GROUPS
    figures: list[Figure] = []
    if "runtime" in groups:
        figures += runtime(PEERS if args.peers else (), args.rounds)
    if "instructions" in groups:
        figures += instructions()
    if "startup" in groups:
        figures += startup()
    if "knowledge" in groups:
        figures += knowledge()
    if "page" in groups:
        figures += page()
    if "recovery" in groups:
        figures += recovery()
    if "web" in groups:
        figures += web_figures()
    if "cache" in groups:
        figures += cache_figures()
    for figure in figures:
        print(figure.table())
    print(f"\n## All figures\n\n{summary(figures)}")
    missed = [figure.title for figure in figures if not figure.is_met]
    if args.retrieval and script("bench.retrieval_faq")[0] != 0:
        missed.append("retrieval")
    if missed:
        print(f"\nMissed: {'; '.join(missed)}.")
    return 1 if missed else 0


def runtime(peers: Sequence[str], rounds: int) -> list[Figure]:
    names = [*run_all.BASIC, *peers]
    if importlib.util.find_spec("uvloop"):  # the extra `fast`; reported, never judged
        names.append(FAST)
    run_all.setup(names, upgrade=False)
    known = run_all.commands()
    lines: list[Line] = []
    with (
        run_all.scripted_server(str(run_all.VENVS / "server" / "bin" / "python")) as base_url,
        open(run_all.VENVS / "results.jsonl", "w") as kept,
    ):
        contenders = {name: known[name] for name in names}
        for line in run_all.measure(base_url, contenders, rounds=rounds, batches=BATCHES):
            lines.append(line)
            kept.write(json.dumps(line) + "\n")
    return runtime_figures(Results(lines), peers)


def instructions() -> list[Figure]:
    if not shutil.which("valgrind"):
        print("valgrind is missing: instructions are not counted.", file=sys.stderr)
        return []
    run_all.setup([BASE], upgrade=False)
    known = run_all.commands()
    with run_all.scripted_server(sys.executable) as base_url:
        return [
            instruction_figure(
                {
                    name: run_all.instructions_per_step(known[name], base_url)
                    for name in (OURS, BASE)
                }
            )
        ]


def recovery() -> list[Figure]:
    """What mending a small model's replies costs, mostly where nothing is to be mended."""
    return [*recovery_figures(), *coercion_figures()]


def startup() -> list[Figure]:
    return [
        limit_figure("`inglenook --help`", median_of(help_cpu_s, 7), "s of CPU", HELP_LIMIT_S),
        limit_figure(
            "`inglenook ask` to its first model request",
            median_of(ask_cpu_s, 7),
            "s of CPU",
            ASK_LIMIT_S,
        ),
    ]


def knowledge() -> list[Figure]:
    _, said = script("bench.knowledge")
    search, again = SEARCH.search(said), AGAIN.search(said)
    if not search or not again:
        raise RuntimeError(f"bench/knowledge.py said something else:\n{said}")
    return [
        limit_figure(
            "hybrid search over 10,000 chunks, median", float(search[1]), "ms", SEARCH_LIMIT_MS
        ),
        limit_figure("adding 1,000 unchanged files again", float(again[1]), "s", AGAIN_LIMIT_S),
    ]


def page() -> list[Figure]:
    if not can_open():
        print("Chromium or the built page is missing: opening runs is not timed.", file=sys.stderr)
        return []
    title = f"the page opens a run of {EVENTS:,} events"
    return [limit_figure(title, asyncio.run(open_s(5)), "s", OPEN_LIMIT_S)]


def script(module: str) -> tuple[int, str]:
    """Run one of the other measurements as it stands; its exit code, and what it said."""
    done = subprocess.run([sys.executable, "-m", module], stdout=subprocess.PIPE, text=True)
    print(done.stdout)
    return done.returncode, done.stdout


if __name__ == "__main__":
    sys.exit(main())
