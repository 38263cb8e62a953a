"""Token counts without a tokenizer: estimated from the text, calibrated by what servers report.

A model's own tokenizer is not at hand for most local models. Bytes tell more than characters: a
token of English, Russian or Chinese holds about as many of them. `bench/tokens.py` measures it.
"""

import re
from collections.abc import Sequence

from inglenook.messages import Message, ToolSchema
from inglenook.providers import wire_json

BYTES_PER_TOKEN = 3.8
TOKENS_PER_DIGIT = 0.8
"""Most local models have a token for every digit."""
TOKENS_PER_MESSAGE = 6
"""The role and the marks around it, in the common chat templates."""
TOKENS_PER_TOOL = 12

_RUN = re.compile(r"([\s\-=_*#.~|])\1{3,}")
"""Rules, indentation and dots: many characters, few tokens."""
_DIGITS = tuple("0123456789")


class Meter:
    """Estimates views; remembers the last one, so that a longer one costs its new messages."""

    def __init__(self, schemas: Sequence[ToolSchema] = ()) -> None:
        self._tools = tools_estimate(schemas)
        self._view: tuple[Message, ...] = ()
        self._sum = 0

    def of(self, view: Sequence[Message]) -> int:
        """Tokens of the whole request, tools included, uncalibrated."""
        known = len(self._view)
        if tuple(view[:known]) != self._view:  # what came before was rewritten
            known, self._sum = 0, 0
        self._sum += sum(message_estimate(message) for message in view[known:])
        self._view = tuple(view)
        return self._tools + self._sum


def message_estimate(message: Message) -> int:
    total = TOKENS_PER_MESSAGE + text_estimate(message.text)
    for call in message.tool_calls:
        total += TOKENS_PER_TOOL + text_estimate(call.key)
    if message.tool_calls and message.reasoning is not None:  # it goes back with its calls
        total += text_estimate(message.reasoning.text)
    return total


def tools_estimate(schemas: Sequence[ToolSchema]) -> int:
    return sum(
        TOKENS_PER_TOOL
        + text_estimate(schema.description)
        + text_estimate(wire_json.encode(schema.parameters).decode())
        for schema in schemas
    )


def text_estimate(text: str) -> int:
    if not text:
        return 0
    shortened = _RUN.sub(r"\1\1", text)
    digits = sum(map(shortened.count, _DIGITS))
    size = len(shortened) if shortened.isascii() else len(shortened.encode("utf-8", "replace"))
    return round((size - digits) / BYTES_PER_TOKEN + digits * TOKENS_PER_DIGIT) + 1


def chars_for(tokens: int, ratio: float) -> int:
    """How much plain text surely fits into so many tokens of a model with this ratio."""
    return int(tokens * BYTES_PER_TOKEN / max(ratio, 1.0))
