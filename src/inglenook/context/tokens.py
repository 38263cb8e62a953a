"""Token counts without a tokenizer: estimated from the text, calibrated by what servers report.

A model's own tokenizer is not at hand for most local models. A token of English, Russian or Chinese
holds about as many bytes; digits and signs stand alone. `python -m bench.tokens` holds the estimate
against a real tokenizer: the median of each kind of text (code, JSON, tables, prose in four
languages) is within 10 %, single texts may be further off.
"""

import re
from collections.abc import Sequence

from inglenook.messages import Message, ToolSchema
from inglenook.providers import wire_json

BYTES_PER_TOKEN = 4.7
"""Of words, in any script."""
TOKENS_PER_DIGIT = 1.15
"""Most local models have a token for every digit, and one for what parts two numbers."""
TOKENS_PER_SIGN = 0.58
PLAIN_BYTES_PER_TOKEN = 3.6
"""Of a text of which only the length is known."""
SHORT_BYTES = 120
TOKENS_PER_MESSAGE = 6
"""The role and the marks around it, in the common chat templates."""
TOKENS_PER_TOOL = 12

_RUN = re.compile(rb"([\s\-=_*#.~|])\1{3,}")
"""Rules, indentation and dots: many characters, few tokens."""
_DIGITS = b"0123456789"
_SIGNS = b""",.:;"'{}[]()=<>/_-`|#*"""


def message_estimate(message: Message) -> int:
    total = TOKENS_PER_MESSAGE + text_estimate(message.text)
    for call in message.tool_calls:
        total += TOKENS_PER_TOOL + text_estimate(f"{call.name}{call.arguments}")
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
    data = text.encode("utf-8", "replace")
    if len(data) < SHORT_BYTES:  # calls and short results: nothing to be right about
        return round(len(data) / PLAIN_BYTES_PER_TOKEN) + 1
    words, digits, signs = _counts(data)
    if 4 * signs > words or b"    " in data:  # the regular expression costs more than all the rest
        words, digits, signs = _counts(_RUN.sub(rb"\1\1", data))
    total = words / BYTES_PER_TOKEN + digits * TOKENS_PER_DIGIT + signs * TOKENS_PER_SIGN
    return round(total) + 1


def _counts(data: bytes) -> tuple[int, int, int]:
    no_digits = data.translate(None, _DIGITS)
    words = len(no_digits.translate(None, _SIGNS))
    return words, len(data) - len(no_digits), len(no_digits) - words


def chars_for(tokens: int, ratio: float) -> int:
    """How many characters of a text probably fit into so many tokens of a model of this ratio."""
    return int(tokens * PLAIN_BYTES_PER_TOKEN / max(ratio, 1.0))
