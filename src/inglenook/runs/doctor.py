"""Checks of an installation: one line each, with the state, why it matters and the exact fix."""

import asyncio
import shutil
import sys
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from inglenook.errors import ProviderError, RuntimeFault
from inglenook.messages import Message
from inglenook.providers.base import StreamOptions
from inglenook.providers.catalogue import THREE_WAYS, ModelCatalogue, ModelReport
from inglenook.runs.model_words import mode_in_words, speed_in_words, window_in_words, yes_or_no
from inglenook.store.base import RuntimeStore
from inglenook.store.locks import Owners
from inglenook.web.search import EngineStatus
from inglenook.web.tab import BrowserError

State = Literal["ok", "warn", "fail"]
MIN_FREE_BYTES = 1_000_000_000
"""Below this an ingest or a download is likely to end in the middle."""
NO_ENGINES = "off: [web] engines is empty"
MEASURE = (Message(role="user", text="Count from one to ten."),)
MEASURE_TOKENS = 16
MEASURE_TIMEOUT_S = 60.0
"""A model of 8B is loaded from a disk by then."""


@dataclass(frozen=True, kw_only=True)
class Check:
    name: str
    state: State
    why: str
    fix: str = ""


async def check_models(models: ModelCatalogue) -> list[Check]:
    """One line for each model: does it answer, can it call tools, how large is its window?"""
    try:
        reports = await models.reports(start_demo=models.has_fetched_demo)
    except RuntimeFault as error:
        why = str(error).removesuffix(THREE_WAYS).rstrip()
        return [Check(name="models", state="fail", why=why, fix=THREE_WAYS)]
    measured = await _measure(models, reports[0])
    checks = [measured, *map(_check_model, reports[1:])]
    away = await models.unanswered()
    return checks + [Check(name="model server", state="fail", why=sentence) for sentence in away]


async def _measure(models: ModelCatalogue, report: ModelReport) -> Check:
    """The default model's line; it is asked one small question where its speed is not known."""
    if report.error or not report.is_fetched or report.known.write_s is not None:
        return _check_model(report)
    try:
        async with asyncio.timeout(MEASURE_TIMEOUT_S):
            offered = await models.get(report.spec.id)
            options = StreamOptions(max_output_tokens=MEASURE_TOKENS)
            async with aclosing(offered.provider.stream(MEASURE, (), options)) as parts:
                async for _ in parts:
                    pass
    except TimeoutError:
        outcome = f"did not end within {MEASURE_TIMEOUT_S:.0f} s"
    except ProviderError as error:
        return _check_model(replace(report, error=f"It does not answer a question: {error}"))
    else:
        outcome = "was made to measure it"
    check = _check_model(replace(report, known=models.memory.of(report.spec)))
    return replace(check, why=f"{check.why} (one call of {MEASURE_TOKENS} tokens {outcome})")


def _check_model(report: ModelReport) -> Check:
    name = f"model {report.spec.id}"
    if report.error is not None:
        return Check(
            name=name,
            state="fail",
            why=report.error,
            fix="Do as said, or take the model out of the configuration.",
        )
    if not report.is_fetched:
        return Check(
            name=name,
            state="warn",
            why=report.spec.note,
            fix="`inglenook models pull` fetches it now. A better one: `ollama pull qwen3`.",
        )
    why = (
        f"answers; tools: {yes_or_no(report.abilities.tools)}, "
        f"thinking: {yes_or_no(report.abilities.thinking)}, window: {window_in_words(report)}; "
        f"calls: {mode_in_words(report)}; {speed_in_words(report)}"
        + (f". {report.spec.note}" if report.spec.note else "")
    )
    if report.abilities.tools is False and report.spec.tool_mode != "native":
        return Check(
            name=name,
            state="warn",
            why=why + ". It takes no tools, so its calls travel as JSON in its text.",
            fix="It works. A tool-capable model does better, for example `ollama pull qwen3`.",
        )
    return Check(name=name, state="ok", why=why)


async def check_web_search(
    engines: Sequence[EngineStatus],
    missing: Collection[tuple[str, str]],
    *,
    is_blocked: bool,
    proxy: str | None,
) -> list[Check]:
    """Tells what is set and how each engine was when it was last asked by this process; nothing is
    sent, as no user turned the web on for it. `missing`: engines that are named and left out, and
    what to do."""
    name = "web search"
    if is_blocked:
        return [Check(name=name, state="ok", why='off: [approvals] web_search = "block"')]
    left_out = [
        Check(name=f"{name} by {engine}", state="warn", why="left out: it cannot be asked", fix=fix)
        for engine, fix in missing
    ]
    if not engines:
        why = "off: [web] engines names none that can be asked" if missing else NO_ENGINES
        return [Check(name=name, state="warn" if missing else "ok", why=why), *left_out]
    through = f", through the proxy {proxy}" if proxy else ""
    told = ", ".join(map(_engine_in_words, engines))
    why = f"{told}{through}; for runs whose user turned the web on. Nothing was sent."
    failed = [engine.health.detail for engine in engines if engine.health.state != "ok"]
    if not failed:
        return [Check(name=name, state="ok", why=why), *left_out]
    fix = "It is asked again then. Another engine in [web] engines helps meanwhile."
    return [Check(name=name, state="warn", why=" ".join([why, *failed]), fix=fix), *left_out]


def _engine_in_words(engine: EngineStatus) -> str:
    health = engine.health
    words = f"{engine.name} at {engine.host}"
    if health.since is None:
        return f"{words} (not asked yet)"
    state = f"{health.state.replace('_', ' ')} since {health.since:%Y-%m-%d %H:%M} UTC"
    if health.retry_at is None:
        return f"{words} ({state})"
    return f"{words} ({state}, asked again from {health.retry_at:%Y-%m-%d %H:%M} UTC on)"


async def check_browser(find: Callable[[], str], port: int | None) -> Check:
    """`find` gives the program of the browser that is set; `port`: where one is met instead."""
    if port is not None:
        why = f"one is met at port {port}, where you started it; not asked now"
        return Check(name="browser", state="ok", why=why)
    try:
        why = f"{find()}; started for pages that need JavaScript"
        return Check(name="browser", state="ok", why=why)
    except BrowserError as error:
        why = "pages that need JavaScript are not read"
        return Check(name="browser", state="warn", why=why, fix=str(error))


async def check_workspace() -> Check:
    why = "not built yet: in this version no run works on files or starts programs"
    return Check(name="workspace", state="warn", why=why)


async def check_engine(kind: str, store: RuntimeStore, owners: Owners) -> Check:
    rows = await store.unfinished_runs()
    why = f"{kind}; {counted(len(rows), 'unfinished run')}"
    if rows and not owners.has_server():
        fix = "Start `inglenook serve`: what nobody works on goes on then."
        return Check(name="engine", state="warn", why=f"{why}, and no server runs here", fix=fix)
    return Check(name="engine", state="ok", why=why)


async def check_store(store: RuntimeStore) -> Check:
    report = await store.verify()
    if report.problems:
        return Check(
            name="store",
            state="fail",
            why=f"{counted(len(report.problems), 'problem')} in the event log; first: "
            f"{report.problems[0]}",
            fix="See `inglenook runs verify`; restore the home from a backup you trust.",
        )
    return Check(
        name="store",
        state="ok",
        why=f"{counted(report.runs, 'run')}, {counted(report.events, 'event')}, the hash chain is "
        "whole",
    )


async def check_home(home: Path) -> Check:
    free = shutil.disk_usage(home).free
    why = f"{home}, {free / 1e9:.1f} GB free"
    if free < MIN_FREE_BYTES:
        return Check(
            name="home",
            state="warn",
            why=why + f" (less than {MIN_FREE_BYTES / 1e9:.0f} GB)",
            fix="Free some space, or set INGLENOOK_HOME to a folder on another disk.",
        )
    return Check(name="home", state="ok", why=why)


async def check_page(folder: Path) -> Check:
    if (folder / "index.html").is_file():
        return Check(name="page", state="ok", why="built")
    return Check(
        name="page",
        state="warn",
        why="The web page is not built; everything else works.",
        fix="Install npm (`apt-get install npm`) and run `make page`.",
    )


async def check_python() -> Check:
    return Check(name="python", state="ok", why=sys.version.split()[0])


async def run_checks(
    checks: Mapping[str, Callable[[], Awaitable[Check | list[Check]]]],
) -> list[Check]:
    """All of them, one after the other; a check that fails in itself is a failed check."""
    results: list[Check] = []
    for name, check in checks.items():
        try:
            found = await check()
        except (RuntimeFault, OSError) as error:
            found = Check(name=name, state="fail", why=str(error))
        results += found if isinstance(found, list) else [found]
    return results


def counted(n: int, thing: str) -> str:
    return f"{n} {thing}{'s' if n != 1 else ''}"
