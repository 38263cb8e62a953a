"""The figures of the runtime's speed, each with its target: lines in, verdicts out."""

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

OURS, BASE = "inglenook", "raw-aiohttp"
STEP_RATIO = 2.7
INSTRUCTION_RATIO = 2.7
"""The target of a step's cost, here without noise; it is 2.4 to 2.5, start and end of a run
included."""
PEER_STEP_RATIO, PEER_RATE_RATIO = 6.0, 7.0
FASTEST_PEER_STEPS_S = 135.0
"""Of the fastest peer when the targets were set; `--peers` measures it anew."""
RUN_LIMIT_KB = 120.0
GROWTH_LIMIT_US = 10.0
STREAM_RATIO = 2.0
FIRST_TOKEN_LIMIT_MS = 2.0
READS_LIMIT_MS = 110.0

Line = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Row:
    """One contender's median, and how many times the baseline's that is (within a round)."""

    contender: str
    measured: float
    ratio: float | None


@dataclass(frozen=True, kw_only=True)
class Figure:
    title: str
    unit: str
    target: str
    is_met: bool
    measured: float
    ratio: float | None = None
    """To the hand-written aiohttp loop."""
    rows: tuple[Row, ...] = ()

    def table(self) -> str:
        rows = self.rows or (Row(contender=OURS, measured=self.measured, ratio=self.ratio),)
        lines = [
            f"| {row.contender} | {number(row.measured)} | {times(row.ratio)} |"
            for row in sorted(rows, key=lambda row: row.measured)
        ]
        head = f"\n### {self.title}\n\n| contender | {self.unit} | × {BASE} |\n|---|---:|---:|"
        return "\n".join([head, *lines, f"\nTarget: {self.target}: {verdict(self.is_met)}"])

    def summary(self) -> str:
        measured = f"{number(self.measured)} {self.unit}"
        return (
            f"| {self.title} | {self.target} | {measured} | {times(self.ratio)} "
            f"| {verdict(self.is_met)} |"
        )


class Results:
    """The harness's lines by workload and contender."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self._lines = list(lines)

    def contenders(self, workload: str, metric: str) -> list[str]:
        found = (
            line["driver"]
            for line in self._lines
            if line["workload"] == workload and metric in line
        )
        return list(dict.fromkeys(found))

    def rounds(self, contender: str, workload: str, metric: str) -> dict[int, float]:
        return {
            line["round"]: line[metric]
            for line in self._lines
            if line["driver"] == contender and line["workload"] == workload and metric in line
        }

    def median(self, contender: str, workload: str, metric: str) -> float:
        return statistics.median(self.rounds(contender, workload, metric).values())

    def compared(
        self,
        contender: str,
        base: str,
        workload: str,
        metric: str,
        how: Callable[[float, float], float],
    ) -> float:
        """The median over the rounds of what `how` makes of the two: slow drifts cancel out."""
        ours = self.rounds(contender, workload, metric)
        theirs = self.rounds(base, workload, metric)
        return statistics.median(how(ours[n], theirs[n]) for n in ours if n in theirs)

    def ratio(self, contender: str, base: str, workload: str, metric: str) -> float:
        return self.compared(contender, base, workload, metric, lambda ours, other: ours / other)

    def rows(self, workload: str, metric: str) -> tuple[Row, ...]:
        return tuple(
            Row(
                contender=name,
                measured=self.median(name, workload, metric),
                ratio=self.ratio(name, BASE, workload, metric),
            )
            for name in self.contenders(workload, metric)
        )


def runtime_figures(results: Results, peers: Sequence[str]) -> list[Figure]:
    def figure(
        title: str, workload: str, metric: str, unit: str, target: str, met: Callable[[Row], bool]
    ) -> Figure:
        rows = results.rows(workload, metric)
        ours = next(row for row in rows if row.contender == OURS)
        return Figure(
            title=title,
            unit=unit,
            target=target,
            is_met=met(ours),
            measured=ours.measured,
            ratio=ours.ratio,
            rows=rows,
        )

    def at_most(limit: float) -> Callable[[Row], bool]:
        return lambda row: row.measured <= limit

    def ratio_at_most(limit: float) -> Callable[[Row], bool]:
        return lambda row: row.ratio is not None and row.ratio <= limit

    lateness = results.compared(OURS, BASE, "w4p", "ttft_ms", lambda ours, base: ours - base)
    rate = FASTEST_PEER_STEPS_S * PEER_RATE_RATIO
    figures = [
        figure(
            "CPU a step, 20 steps, events stored",
            "w1",
            "cpu_ms_step",
            "ms",
            f"at most {STEP_RATIO} × {BASE}",
            ratio_at_most(STEP_RATIO),
        ),
        figure(
            "steps a second, 64 runs at once",
            "w2",
            "steps_s",
            "steps/s",
            f"at least {rate:.0f} ({PEER_RATE_RATIO:g} × the fastest peer's)",
            lambda row: row.measured >= rate,
        ),
        figure(
            "memory a run, 64 runs at once",
            "w2",
            "kb_per_run",
            "kB",
            f"under {RUN_LIMIT_KB:g} kB",
            at_most(RUN_LIMIT_KB),
        ),
        figure(
            "growth of the CPU a step, 200 steps with 2 kB results",
            "w6",
            "growth_us_per_step",
            "µs a step",
            f"at most {GROWTH_LIMIT_US:g} µs",
            at_most(GROWTH_LIMIT_US),
        ),
        figure(
            "CPU per 1,000 tokens that come 1 ms apart",
            "w4p",
            "cpu_ms_1k",
            "ms",
            f"at most {STREAM_RATIO:g} × {BASE}",
            ratio_at_most(STREAM_RATIO),
        ),
        figure(
            "time to the first token",
            "w4p",
            "ttft_ms",
            "ms",
            f"at most {FIRST_TOKEN_LIMIT_MS:g} ms more than {BASE} (is {lateness:.1f})",
            lambda _: lateness <= FIRST_TOKEN_LIMIT_MS,
        ),
        figure(
            "8 parallel async reads of 100 ms",
            "w3",
            "wall_ms",
            "ms",
            f"under {READS_LIMIT_MS:g} ms",
            at_most(READS_LIMIT_MS),
        ),
        figure(
            "8 parallel blocking reads of 100 ms",
            "w3s",
            "wall_ms",
            "ms",
            f"under {READS_LIMIT_MS:g} ms",
            at_most(READS_LIMIT_MS),
        ),
    ]
    return figures + (peer_figures(results, peers) if peers else [])


def peer_figures(results: Results, peers: Sequence[str]) -> list[Figure]:
    cheaper = min(results.ratio(peer, OURS, "w1", "cpu_ms_step") for peer in peers)
    faster = min(results.ratio(OURS, peer, "w2", "steps_s") for peer in peers)
    return [
        Figure(
            title="CPU a step, the leanest peer's to ours",
            unit="×",
            target=f"at least {PEER_STEP_RATIO:g} ×",
            is_met=cheaper >= PEER_STEP_RATIO,
            measured=cheaper,
        ),
        Figure(
            title="steps a second with 64 runs, ours to the fastest peer's",
            unit="×",
            target=f"at least {PEER_RATE_RATIO:g} ×",
            is_met=faster >= PEER_RATE_RATIO,
            measured=faster,
        ),
    ]


def instruction_figure(millions: dict[str, float]) -> Figure:
    if min(millions.values()) <= 0:
        raise RuntimeError(f"instructions were counted as {millions}: measure again")
    ratio = millions[OURS] / millions[BASE]
    return Figure(
        title="user-space instructions a step",
        unit="million",
        target=f"at most {INSTRUCTION_RATIO} × {BASE}",
        is_met=ratio <= INSTRUCTION_RATIO,
        measured=millions[OURS],
        ratio=ratio,
        rows=tuple(
            Row(contender=name, measured=count, ratio=count / millions[BASE])
            for name, count in millions.items()
        ),
    )


def limit_figure(title: str, measured: float, unit: str, limit: float) -> Figure:
    return Figure(
        title=title,
        unit=unit,
        target=f"under {limit:g} {unit}",
        is_met=measured < limit,
        measured=measured,
    )


def summary(figures: Iterable[Figure]) -> str:
    head = f"| figure | target | measured | × {BASE} | |\n|---|---|---:|---:|---|\n"
    return head + "\n".join(figure.summary() for figure in figures)


def number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def times(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}"


def verdict(is_met: bool) -> str:
    return "met" if is_met else "MISSED"
