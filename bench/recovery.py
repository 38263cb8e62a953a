"""What it costs to look for written calls in a reply that holds none: CPU beside the same stream
without the look. Also how that grows with the reply, and what a hostile reply may cost.

    python -m bench --only recovery
"""

import asyncio
import time
from contextlib import aclosing

from bench.figures import Figure, limit_figure
from inglenook.messages import Message, ToolSchema
from inglenook.providers.base import ModelProvider, ModelReply, StreamOptions
from inglenook.providers.recovery import RecoveringProvider
from inglenook.providers.scripted import ScriptedProvider

LIMIT_MS = 1.0
LINEAR_LIMIT = 1.5
"""Times what the short reply costs for each of its characters."""
HOSTILE_LIMIT_S = 2.0
"""For the worst million characters that are known."""
ROUNDS = 15
SHORT, LONG = 2_000, 100_000
PIECE_CHARS = 4
"""About a token."""
ANSWER = (
    "Debian keeps a package back [1] when its new version needs packages that are not installed "
    "yet. Run `apt full-upgrade` where you want them, and look at the list first:\n\n"
    '- new packages are named under "NEW"\n'
    "- removed ones (< 5 as a rule) under {REMOVED}\n\n"
)
HOSTILE = (
    *("<think>", "</think>x", "<think>\n</think>\n", "x\n<think>a</think>\n", "<|a|>", "<"),
    *("<tool_call>", "<tool_call>{", '{"name": ', "[calculate(", "```json\n", "<function=", "</"),
    *("</parameter>", "Action: a\n", ">>>a\n", "`", "\n \t", "I will.\n", "<｜a｜>"),
)
BEFORE = ("", "I will look.\n", "calculate")
TOOLS = tuple(
    ToolSchema(
        name=name,
        description="",
        parameters={"type": "object", "properties": {field: {"type": "string"}}},
    )
    for name, field in (("search_knowledge_base", "query"), ("calculate", "expression"))
)


def recovery_figures() -> list[Figure]:
    short, long = asyncio.run(added_ms(SHORT)), asyncio.run(added_ms(LONG))
    growth = (long / LONG) / (short / SHORT)
    return [
        limit_figure(
            "looking for calls in an answer of 2 kB, streamed", short, "ms of CPU", LIMIT_MS
        ),
        limit_figure("the same for 100 kB, a character, to that", growth, "×", LINEAR_LIMIT),
        limit_figure(
            "the worst of hostile replies of 1 MB", asyncio.run(hostile_s()), "s", HOSTILE_LIMIT_S
        ),
    ]


async def added_ms(chars: int) -> float:
    """Least of several rounds, less the least of the bare stream: both are noise upwards only."""
    text = (ANSWER * (chars // len(ANSWER) + 1))[:chars]
    with_it = min([await cpu_s(text, is_mended=True) for _ in range(ROUNDS)])
    without = min([await cpu_s(text, is_mended=False) for _ in range(ROUNDS)])
    return (with_it - without) * 1000


async def hostile_s() -> float:
    texts = [
        f"{before}{piece * (1_000_000 // len(piece))}" for before in BEFORE for piece in HOSTILE
    ]
    return max([await cpu_s(text, is_mended=True, piece_chars=1000) for text in texts])


async def cpu_s(text: str, *, is_mended: bool, piece_chars: int = PIECE_CHARS) -> float:
    reply = ModelReply(message=Message(role="assistant", text=text), finish_reason="stop")
    provider: ModelProvider = ScriptedProvider([reply], piece_chars=piece_chars)
    if is_mended:
        provider = RecoveringProvider(provider)
    began = time.process_time()
    async with aclosing(provider.stream((), TOOLS, StreamOptions())) as parts:
        async for _ in parts:
            pass
    return time.process_time() - began
