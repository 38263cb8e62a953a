"""How many written calls are recovered, and how many answers are mistaken for calls.

    python -m tests.corpus.rates [--failures]

Reads `written_calls/*.jsonl` (what models of a family write in place of a call, and what is meant)
and `talk_about_calls.jsonl` (answers that only speak of calls). All were made for this test in the
recorded style of the families, none is a recording.

Entries with `held_out` were written before the recogniser saw them and never looked at to improve
it. There were three rounds (`round`; none is 1); what failed in the later two was looked at,
mended, and is no longer held out. So the honest estimate for texts that nobody has seen is how each
round did at first sight: calls 43 of 60 (the recogniser as it was before), 40 of 44, 36 of 36;
answers mistaken 0 of 61, 1 of 45, 2 of 38.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inglenook.messages import Message, Reasoning, ToolSchema
from inglenook.providers.base import ModelReply
from inglenook.providers.recovery import RecoveringProvider
from inglenook.providers.scripted import ScriptedProvider
from inglenook.providers.think_tags import begins_thinking
from tests.providers.streaming import Streamed, streamed

FOLDER = Path(__file__).parent
Entry = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Verdict:
    id: str
    group: str
    held_out: bool
    fault: str | None
    """None where the reply was understood."""


def tool_sets() -> dict[str, tuple[ToolSchema, ...]]:
    sets = json.loads((FOLDER / "tools.json").read_text(encoding="utf-8"))
    return {name: tuple(ToolSchema(**tool) for tool in tools) for name, tools in sets.items()}


def written_calls() -> list[Entry]:
    return [
        entry | {"group": path.stem}
        for path in sorted((FOLDER / "written_calls").glob("*.jsonl"))
        for entry in _lines(path)
    ]


def talk_about_calls() -> list[Entry]:
    entries = _lines(FOLDER / "talk_about_calls.jsonl")
    return [entry | {"group": entry["topic"]} for entry in entries]


def _lines(path: Path) -> list[Entry]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


async def understood(entry: Entry, tools: Sequence[ToolSchema], piece_chars: int) -> Streamed:
    """The entry as a whole model call, streamed in pieces of that size (0: as one)."""
    thinking = entry.get("thinking")
    message = Message(
        role="assistant",
        text=entry["text"],
        reasoning=Reasoning(text=thinking, field="thinking") if thinking else None,
    )
    reply = ModelReply(message=message, finish_reason=entry.get("finish", "stop"))
    provider = RecoveringProvider(
        ScriptedProvider([reply], piece_chars=piece_chars),
        begins_thinking=begins_thinking(entry.get("model", "")),
    )
    return await streamed(provider, tools=tools)


def fault_in_call(entry: Entry, got: Streamed, tools: Sequence[ToolSchema]) -> str | None:
    """What is wrong with what was made of a written call; None: nothing."""
    said = entry.get("said", "")
    if "never" in entry:
        return _fault_in_refusal(entry, got, {tool.name for tool in tools})
    found = [{"name": name, "arguments": arguments} for name, arguments in got.calls]
    if json.dumps(found) != json.dumps(entry["calls"]):
        return f"found {found!r}, malformed: {got.reply.malformed_call}"
    if got.reply.recovered_from is None:
        return "recovered_from is missing"
    if entry["text"] and not any(entry["text"].strip()[-25:] in each for each in _kept(got)):
        return "the raw reply was not kept"
    if got.reply.message.text != said or got.text.strip() != said:
        return f"shown: {got.text!r}, answer: {got.reply.message.text!r}"
    return None


def _fault_in_refusal(entry: Entry, got: Streamed, allowed: set[str]) -> str | None:
    if entry["never"] == "not allowed":
        names = [name for name, _ in got.calls if name in allowed]
        return f"calls {names}" if names else None
    if got.calls:
        return f"calls {got.calls!r}"
    if entry["text"] and got.reply.malformed_call is None:
        return "passes for an answer"
    shown = got.text + got.reply.message.text
    return f"shown: {shown!r}" if shown.strip() else None


def _kept(got: Streamed) -> list[str]:
    reasoning = got.reply.message.reasoning
    return [*got.reply.repairs, reasoning.text if reasoning else ""]


def fault_in_answer(entry: Entry, got: Streamed) -> str | None:
    """What is wrong with what was made of an answer; None: nothing."""
    if got.calls:
        return f"false call {got.calls!r}"
    if got.reply.malformed_call is not None:
        return f"taken for a broken call: {got.reply.malformed_call}"
    if not got.text == got.reply.message.text == entry["text"]:
        return f"shown: {got.text!r}, answer: {got.reply.message.text!r}"
    return None


@dataclass(frozen=True, kw_only=True)
class Judged:
    calls: list[Verdict]
    """Whole calls to tools that there are: each is to be found."""
    broken: list[Verdict]
    """Cut calls, and calls to tools that there are not: none may run or pass for an answer."""
    answers: list[Verdict]
    """Each is to stay one, to the letter."""


async def judged(piece_chars: int) -> Judged:
    sets = tool_sets()

    async def verdict(entry: Entry, *, is_call: bool) -> Verdict:
        tools = sets[entry["tools"]]
        got = await understood(entry, tools, piece_chars)
        fault = fault_in_call(entry, got, tools) if is_call else fault_in_answer(entry, got)
        return Verdict(
            id=entry["id"], group=entry["group"], held_out=entry["held_out"], fault=fault
        )

    written = written_calls()
    return Judged(
        calls=[await verdict(entry, is_call=True) for entry in written if "never" not in entry],
        broken=[await verdict(entry, is_call=True) for entry in written if "never" in entry],
        answers=[await verdict(entry, is_call=False) for entry in talk_about_calls()],
    )


def rate(verdicts: Iterable[Verdict]) -> float:
    """The share without a fault."""
    faults = [verdict.fault for verdict in verdicts]
    return faults.count(None) / len(faults)


def table(verdicts: Sequence[Verdict]) -> str:
    """Per group and in all: right of all, and the same of the entries that were held out."""
    groups = [*dict.fromkeys(verdict.group for verdict in verdicts), "all"]
    lines = [f"{'':<14}{'right':>10}{'held out':>12}"]
    for group in groups:
        those = [v for v in verdicts if group in ("all", v.group)]
        held = [v for v in those if v.held_out]
        lines.append(f"{group:<14}{_share(those):>10}{_share(held):>12}")
    return "\n".join(lines)


def _share(verdicts: Sequence[Verdict]) -> str:
    right = sum(verdict.fault is None for verdict in verdicts)
    return f"{right}/{len(verdicts)}"


def report(judged: Judged) -> str:
    parts = {
        "written calls recovered": judged.calls,
        "broken and forbidden calls kept from running": judged.broken,
        "answers that only speak of calls left alone": judged.answers,
    }
    tables = [f"{title}\n{table(verdicts)}\n" for title, verdicts in parts.items()]
    totals = [
        f"{rate(verdicts):6.1%} of {len(verdicts)} {title}; held out: "
        f"{rate(held):.1%} of {len(held)}"
        for title, verdicts in parts.items()
        if (held := [verdict for verdict in verdicts if verdict.held_out])
    ]
    return "\n".join([*tables, *totals])


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--failures", action="store_true", help="what went wrong, without the held-out entries"
    )
    args = parser.parse_args()
    found = asyncio.run(judged(piece_chars=5))
    if args.failures:
        for verdict in (*found.calls, *found.broken, *found.answers):
            if verdict.fault and not verdict.held_out:
                print(f"{verdict.id}: {verdict.fault}")
    print(report(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
