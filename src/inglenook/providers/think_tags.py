"""Thinking and control tokens that a server left in the text of a reply.

Pure. `recovery.py` applies it to whole replies; `live_text.py` to what is shown meanwhile.
"""

import re
from itertools import islice
from typing import NamedTuple

from inglenook.providers.call_text import TOKEN
from inglenook.providers.quoting import is_quoted

_WORDS = "think|thinking|thought|reasoning"
OPENING = re.compile(rf"\s*<({_WORDS})>", re.IGNORECASE)
OPENING_BEGINS = re.compile(
    r"\s*(?:<(?:" + "|".join(w[:n] for w in _WORDS.split("|") for n in range(len(w) + 1)) + r")?)?",
    re.IGNORECASE,
)
"""What may still become an opening tag."""
CLOSING = re.compile(rf"</({_WORDS})>", re.IGNORECASE)
MAX_CLOSINGS = 50
"""Closing tags that are looked at; each look copies the text before it."""


class Split(NamedTuple):
    thinking: str
    answer: str
    opening_is_missing: bool
    """The template had put the opening tag into the prompt, so only the closing one came."""


def split_thinking(text: str) -> Split:
    """`text` as what the model thought and what it says.

    Thinking stands in front: `<think>…</think>answer`, unclosed `<think>…`, or `…</think>answer`.
    Pairs of tags further on, and tags in code or quotes, belong to the answer.
    """
    if "<" not in text:
        return Split("", text, False)
    thinking: list[str] = []
    rest = text
    while opening := OPENING.match(rest):
        closing = re.compile(rf"</{opening[1]}>", re.IGNORECASE).search(rest, opening.end())
        end, after = closing.span() if closing else (len(rest), len(rest))
        thinking.append(rest[opening.end() : end].strip())
        rest = rest[after:]
    if thinking:
        return Split("\n\n".join(thinking), rest.lstrip(), False)
    for closing in islice(CLOSING.finditer(text), MAX_CLOSINGS):
        before = text[: closing.start()]
        if _closes_alone(text, closing):
            return Split(before.strip(), text[closing.end() :].lstrip(), True)
    return Split("", text, False)


def _closes_alone(text: str, closing: re.Match[str]) -> bool:
    """Whether a closing tag ends thinking that was never opened.

    Any does that is not quoted and has no opening tag before it: an answer that loses its first
    words to the thinking is the smaller harm than thinking that is shown as the answer.
    """
    opening = re.compile(rf"<{closing[1]}>", re.IGNORECASE)
    return not opening.search(text, 0, closing.start()) and not is_quoted(text, *closing.span())


def without_tokens(text: str, ticks: int = 0) -> str:
    """`text` without `<|token|>`s, except in code, where somebody shows a template.

    `ticks` is the number of backticks that came before `text`.
    """
    if "<|" not in text and "<｜" not in text:
        return text
    kept: list[str] = []
    position = counted = 0
    for token in TOKEN.finditer(text):
        ticks += text.count("`", counted, token.start())
        counted = token.end()
        if ticks % 2 == 0:
            kept.append(text[position : token.start()])
            position = token.end()
    kept.append(text[position:])
    return "".join(kept)
