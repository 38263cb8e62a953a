"""LiveText: the deltas of a reply as they may be shown, while it is not yet known what it is.

Thinking in tags becomes reasoning, control tokens vanish, and what begins like a call, at once or
after a few words, is held back until it is known for what it is. All other text goes out piece by
piece, as it comes.
"""

import re
from collections.abc import Sequence
from typing import Literal

from inglenook.events import ReasoningDelta, TextDelta
from inglenook.providers.call_heads import MAX_HEAD_CHARS
from inglenook.providers.call_marks import MARK, TOKEN, TOKEN_BEGINS, begins_mark
from inglenook.providers.lead_ins import MAX_LEAD_IN_CHARS, intends, is_announced
from inglenook.providers.quoting import QUOTES
from inglenook.providers.think_tags import (
    CLOSING,
    CLOSING_OF,
    LATER_OPENING,
    MAX_CLOSINGS,
    OPENING,
    PAIRS,
    may_open,
    without_tokens,
)
from inglenook.providers.written_calls import SLACK_CHARS, WrittenCalls

LEAD_IN_CHARS = MAX_LEAD_IN_CHARS + SLACK_CHARS
TAIL_PIECES = 80
MAX_FEED_CHARS = 4096
"""What is read at once; reading on may copy the rest of it for every tag."""
LONGEST_TOKENS = 200
"""Characters of tokens in a row that are waited for."""

State = Literal["head", "thinking", "held", "flowing"]
_SIGNS = re.compile(r"[<\[{`>\n]")
_LINE_START = re.compile(r"\n[ \t]{0,3}(?=\S)")
_FLOWING_TAGS = ("<think>", "</think>", "</thinking>", "</thought>", "</reasoning>")
_THINK_TAG = re.compile("|".join(_FLOWING_TAGS))
LONGEST_CLOSING = max(map(len, _FLOWING_TAGS))


class LiveText:
    def __init__(self, calls: WrittenCalls | None, *, assume_thinking: bool = False) -> None:
        """`assume_thinking`: this model's opening tag never arrives, so the text begins inside."""
        self._calls = calls
        self._state: State = "thinking" if assume_thinking else "head"
        self._closing = CLOSING
        self._assumed = assume_thinking
        self._has_text = False
        self._waiting = ""
        self._leading: list[str] = []
        """White space that the reply begins with."""
        self._held: list[str] = []
        """What came after the text was held; it may be long."""
        self._after_thinking = False
        self._shown: list[str] = []
        self._may_lead_in = calls is not None
        """What was shown is short enough for a call to follow it."""
        self._lead_in = ""
        self._is_at_line_start = True
        """So far as a call may begin there."""
        self._ticks = 0
        """Backticks in the first `_counted` of what was shown."""
        self._counted = 0
        self._closings = 0
        """Lone closing tags that were looked at."""

    def thinks_natively(self) -> None:
        """Thinking came outside of the text, so that the text does not begin with it."""
        if self._assumed and self._state == "thinking" and not self._has_text:
            self._state, self._assumed = "head", False

    def feed(self, delta: TextDelta) -> Sequence[TextDelta]:
        text = delta.text
        self._has_text = True
        if len(text) > MAX_FEED_CHARS:  # a server that does not stream
            pieces = [text[at : at + MAX_FEED_CHARS] for at in range(0, len(text), MAX_FEED_CHARS)]
            return [out for piece in pieces for out in self.feed(TextDelta(piece))]
        if self._state == "flowing" and not self._waiting and "<" not in text:
            if not self._may_lead_in:
                self._shown.append(text)
                return (delta,)
            if not _SIGNS.search(text) and not self._is_at_line_start:
                self._note(text)
                return (delta,)
        if self._state == "held":
            self._held.append(text)
            return ()
        if self._state == "head" and not self._waiting and text.isspace():
            self._leading.append(text)
            return ()
        self._waiting += text
        return self._advance()

    def end(self, answer: str, *, is_call: bool) -> Sequence[TextDelta]:
        """What is still due when the reply is complete. `answer` is its final text; of a call
        that is what was said before it, which may have been shown by now."""
        shown = "".join(self._shown)
        if is_call:
            shown = shown.lstrip()
            shown = shown if answer.startswith(shown) else shown.rstrip()
        if answer.startswith(shown):
            due = answer[len(shown) :]
        elif is_call or self._state == "thinking":
            due = ""
        else:  # what was shown turned out to be thinking whose opening tag is missing
            due = self._cleaned(self._waiting + "".join(self._held))
        return (TextDelta(due),) if due else ()

    def _note(self, shown: str) -> None:
        self._shown.append(shown)
        if self._may_lead_in:
            self._lead_in += shown
            self._may_lead_in = len(self._lead_in) <= LEAD_IN_CHARS
            if line := shown.rstrip(" \t"):
                self._is_at_line_start = line[-1] == "\n"

    def _tail(self) -> str:
        """The end of what was shown; a line break where that is nothing."""
        return ("\n" + "".join(self._shown[-TAIL_PIECES:]))[-80:]

    def _ticks_before(self, text: str) -> int:
        """Backticks in what was shown and in `text`, which goes on from there."""
        self._ticks += sum(piece.count("`") for piece in self._shown[self._counted :])
        self._counted = len(self._shown)
        return self._ticks + text.count("`")

    def _advance(self) -> Sequence[TextDelta]:
        deltas: list[TextDelta] = []
        while True:
            before = (self._state, len(self._waiting))
            if self._state == "head":
                self._read_head()
            elif self._state == "thinking":
                self._read_thinking(deltas)
            elif self._state == "flowing":
                self._read_flowing(deltas)
            if not self._waiting or (self._state, len(self._waiting)) == before:
                return deltas

    def _read_head(self) -> None:
        if opening := OPENING.match(self._waiting):
            self._begin_thinking(opening)
        elif may_open(self._waiting):
            pass
        elif not self._may_be_call(self._waiting):
            self._state = "flowing"
            if self._after_thinking:
                self._waiting = self._waiting.lstrip()
            else:
                self._waiting = "".join((*self._leading, self._waiting))
        elif len(self._waiting) > MAX_HEAD_CHARS:
            self._state = "held"

    def _begin_thinking(self, opening: re.Match[str]) -> None:
        self._waiting = self._waiting[opening.end() :]
        self._closing = CLOSING_OF[opening[1].lower()]
        self._state = "thinking"

    def _may_be_call(self, text: str) -> bool:
        return self._calls is not None and self._calls.may_begin(text[:MAX_HEAD_CHARS])

    def _read_thinking(self, deltas: list[TextDelta]) -> None:
        if closing := self._closing.search(self._waiting):
            thought = self._waiting[: closing.start()]
            self._waiting = self._waiting[closing.end() :].lstrip()
            self._state = "head"
            self._after_thinking = True
            self._closings = MAX_CLOSINGS  # further ones belong to the answer
        else:
            thought, self._waiting = _cut_before_closing(self._waiting)
        if thought:
            deltas.append(ReasoningDelta(thought))

    def _read_flowing(self, deltas: list[TextDelta]) -> None:
        ready, waiting = self._cut()
        if ready:
            cleaned = self._cleaned(ready)
            self._note(cleaned)
            if cleaned:
                deltas.append(TextDelta(cleaned))
        self._waiting = waiting
        if self._state == "flowing" and waiting:
            self._read_tag()

    def _read_tag(self) -> None:
        """Take the tag that the waiting text begins with, if it is one of thinking."""
        if opening := LATER_OPENING.match(self._waiting):
            self._begin_thinking(opening)
        elif closing := CLOSING.match(self._waiting):
            self._waiting = self._waiting[closing.end() :]
            self._closings = MAX_CLOSINGS  # further ones belong to the answer

    def _cleaned(self, text: str) -> str:
        if "<" not in text or not TOKEN.search(text):
            return text
        ticks = self._ticks_before("")
        return without_tokens(text, ticks, at_line_start=self._tail().endswith("\n"))

    def _cut(self) -> tuple[str, str]:
        """What may be shown of the text that waits, and the rest."""
        text = self._waiting
        end = self._before_thinking(text)
        mark = MARK.search(text, 0, end) if self._may_lead_in else None
        if mark is not None:
            end = mark.start()
            self._state = "held"
        else:
            if self._may_lead_in:
                end = min(end, begins_mark(text))
            end = _before_tokens(text[:end])
        if self._may_lead_in and (start := self._unmarked_call(text, end)) is not None:
            end = start
            if len(text) - start > MAX_HEAD_CHARS:
                self._state = "held"
        return text[:end], text[end:]

    def _unmarked_call(self, text: str, end: int) -> int | None:
        """Where a line before `end` begins that may be a call without a mark of its own."""
        lines = _LINE_START.finditer(text, 0, min(end, LEAD_IN_CHARS))
        starts = [line.end() for line in lines]
        if self._is_at_line_start:
            starts.insert(0, len(text) - len(text.lstrip(" \t")))
        for start in starts:
            head = text[start : start + MAX_HEAD_CHARS]
            if head and self._may_be_call(head):
                before = self._lead_in + text[:start]
                if before.count("```") % 2 == 0 and intends(before.strip()):
                    return start
        return None

    def _before_thinking(self, text: str) -> int:
        """Where a tag of thinking stands in `text`, whole or begun; its length if none does."""
        ticks: int | None = None
        counted = 0
        start = text.find("<")
        while start >= 0:
            tail = text[start : start + LONGEST_CLOSING].lower()
            if _THINK_TAG.match(tail) or _is_begun(tail):
                ticks = self._ticks_before("") if ticks is None else ticks
                ticks, counted = ticks + text.count("`", counted, start), start
                if ticks % 2 == 0:
                    find = self._closes_alone if tail[1:2] == "/" else self._opens_later
                    if (place := find(text, start)) is not None:
                        return place
            start = text.find("<", start + 1)
        return len(text)

    def _opens_later(self, text: str, start: int) -> int | None:
        """Where the line begins that `<think>` at `start` begins thinking in."""
        line = start
        while line and text[line - 1] in " \t":
            line -= 1
        before = text[max(0, line - 80) : line]
        if line < 80:
            before = self._tail() + before
        return line if before.endswith("\n") and not is_announced(before.rstrip()) else None

    def _closes_alone(self, text: str, start: int) -> int | None:
        """`start`, if the closing tag there ends thinking that was never opened."""
        if not _THINK_TAG.match(text[start : start + LONGEST_CLOSING].lower()):
            return start  # wait for the rest of it
        if self._closings == MAX_CLOSINGS or (self._tail() + text[:start])[-1:] in QUOTES:
            return None
        self._closings += 1
        before = ("".join(self._shown) + text[:start]).lower()
        if before.count("~~~") % 2:
            return None
        if any(opening in before for opening in PAIRS):
            self._closings = MAX_CLOSINGS
            return None
        return start


def _is_begun(tail: str) -> bool:
    """Whether the text ends in the beginning of a tag of thinking."""
    return len(tail) < LONGEST_CLOSING and any(tag.startswith(tail) for tag in _FLOWING_TAGS)


def _before_tokens(text: str) -> int:
    """Where the tokens begin that `text` ends in, or that it ends in the beginning of."""
    end = len(text)
    start = text.rfind("<", -LONGEST_TOKENS)
    while start >= 0 and TOKEN_BEGINS.fullmatch(text, start):
        end = start
        start = text.rfind("<", max(0, len(text) - LONGEST_TOKENS), start)
    return end


def _cut_before_closing(text: str) -> tuple[str, str]:
    """`text` up to a closing tag that has only begun, and the rest."""
    low = text.lower()
    for length in range(min(len(text), 20), 0, -1):
        if any(closing.startswith(low[-length:]) for closing in PAIRS.values()):
            return text[:-length], text[-length:]
    return text, ""
