"""Thinking and control tokens that a server left in the text of a reply.

Pure. `recovery.py` applies it to whole replies; `live_text.py` to what is shown meanwhile. Each
text is read a bounded number of times, however many tags are in it.
"""

import re
from itertools import islice
from typing import NamedTuple

from inglenook.providers.call_marks import TOKEN_RUN
from inglenook.providers.lead_ins import is_announced
from inglenook.providers.quoting import is_quoted

_WORDS = ("think", "thinking", "thought", "reasoning")
PAIRS = {
    **{f"<{word}>": f"</{word}>" for word in _WORDS},
    "<seed:think>": "</seed:think>",
    "[think]": "[/think]",  # Magistral
    "<|start_thinking|>": "<|end_thinking|>",  # Command R
    "<|channel|>analysis<|message|>": "<|end|>",  # gpt-oss
    "◁think▷": "◁/think▷",  # Kimi
}
"""Opening and closing tags, in lower case."""
OPENING = re.compile(
    rf"\s*(?:<\|start\|>assistant)?({'|'.join(map(re.escape, PAIRS))})", re.IGNORECASE
)
CLOSING_OF = {
    opening: re.compile(re.escape(closing), re.IGNORECASE) for opening, closing in PAIRS.items()
}
CLOSING = re.compile(rf"</({'|'.join(_WORDS)})>", re.IGNORECASE)
LATER_OPENING = re.compile(r"^[ \t]*(<think>)", re.IGNORECASE | re.MULTILINE)
"""Thinking that goes on within an answer has a line of its own."""
MAX_CLOSINGS = 50
"""Lone closing tags that are looked at; each look counts the fences before it."""

_THINKERS = re.compile(
    r"\b(?:deepseek-)?r1\b|qwq|think(?:er|ing)|reasoner|magistral", re.IGNORECASE
)
_ANY_OPENING = re.compile(rf"<({'|'.join(_WORDS)})>", re.IGNORECASE)
_SIGNS = ("<", "[", "◁")


class Split(NamedTuple):
    thinking: str
    answer: str
    opening_is_missing: bool
    """The template had put the opening tag into the prompt, so only the closing one came."""


def split_thinking(text: str) -> Split:
    """`text` as what the model thought and what it says.

    Thinking stands in front: `<think>…</think>answer`, unclosed `<think>…`, or `…</think>answer`.
    Within the answer `<think>` begins it at the beginning of a line, unless it is announced there.
    Other pairs of tags, and tags in code or quotes, belong to the answer.
    """
    if not any(sign in text for sign in _SIGNS):
        return Split("", text, False)
    thinking: list[str] = []
    position = 0
    while opening := OPENING.match(text, position):
        position = _take_thinking(text, opening, thinking)
    if not thinking:
        for closing in islice(CLOSING.finditer(text), MAX_CLOSINGS):
            if _closes_alone(text, closing):
                before = text[: closing.start()].strip()
                return Split(before, text[closing.end() :].lstrip(), True)
    answer: list[str] = []
    start, ticks, counted = position, 0, position
    while opening := LATER_OPENING.search(text, position):
        ticks += text.count("`", counted, opening.start())
        counted = position = opening.end()
        if ticks % 2 or is_announced(text[max(0, opening.start() - 80) : opening.start()].rstrip()):
            continue
        answer.append(text[start : opening.start()])
        start = counted = position = _take_thinking(text, opening, thinking)
    answer.append(text[start:])
    return Split("\n\n".join(thinking), "".join(answer), False)


def _take_thinking(text: str, opening: re.Match[str], thinking: list[str]) -> int:
    """Add what is behind `opening` to `thinking`; where the answer goes on."""
    closing = CLOSING_OF[opening[1].lower()].search(text, opening.end())
    if closing is None:
        thinking.append(text[opening.end() :].strip())
        return len(text)
    thinking.append(text[opening.end() : closing.start()].strip())
    after = closing.end()
    while after < len(text) and text[after].isspace():
        after += 1
    return after


def _closes_alone(text: str, closing: re.Match[str]) -> bool:
    """Whether a closing tag ends thinking that was never opened.

    Any does that is not quoted and has no opening tag before it: an answer that loses its first
    words to the thinking is the smaller harm than thinking that is shown as the answer.
    """
    word = closing[1].lower()
    opening = _ANY_OPENING.search(text, 0, closing.start())
    while opening and opening[1].lower() != word:
        opening = _ANY_OPENING.search(text, opening.end(), closing.start())
    return opening is None and not is_quoted(text, *closing.span())


def without_tokens(text: str, ticks: int = 0, *, at_line_start: bool = True) -> str:
    """`text` without the `<|token|>`s that leaked at the beginning or end of a line.

    Those within a line, and those in code, are somebody's words about a template. `ticks` is the
    number of backticks that came before `text`, `at_line_start` whether it begins a line.
    """
    if "<" not in text:
        return text
    kept: list[str] = []
    position = counted = 0
    for run in TOKEN_RUN.finditer(text):
        start, end = run.span()
        ticks += text.count("`", counted, start)
        counted = end
        begins = text[start - 1] == "\n" if start else at_line_start
        if ticks % 2 == 0 and (begins or end == len(text) or text[end] == "\n"):
            kept.append(text[position:start])
            position = end
    kept.append(text[position:])
    return "".join(kept)


def begins_thinking(model: str) -> bool:
    """Whether a model of that name is known to think at once, so that its template opens the tag
    and a server that does not know of it passes on the closing one alone."""
    return bool(_THINKERS.search(model))


def may_open(text: str) -> bool:
    """Whether `text` may still become an opening tag of thinking."""
    low = text.lstrip().lower()
    return any(opening.startswith(low) for opening in _OPENINGS)


_OPENINGS = (*PAIRS, *(f"<|start|>assistant{opening}" for opening in PAIRS))
