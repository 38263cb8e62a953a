"""LiveText: the deltas of a reply as they may be shown, while it is not yet known what it is.

Thinking in tags becomes reasoning, control tokens vanish, and a text that begins like a call, or
goes on like one after a few words, is held back until the reply is complete. All other text goes
out piece by piece, as it comes.
"""

import re
from collections.abc import Sequence
from typing import Literal

from inglenook.events import ReasoningDelta, TextDelta
from inglenook.providers.call_text import TOKEN, TOKEN_BEGINS
from inglenook.providers.think_tags import CLOSING, OPENING, OPENING_BEGINS, without_tokens
from inglenook.providers.written_calls import (
    MARK,
    MAX_LEAD_IN_CHARS,
    WrittenCalls,
    begins_mark,
)

MAX_HEAD_CHARS = 400
"""A text that may be a call after this many characters is held to its end."""

SLACK_CHARS = 100
"""White space around a lead-in, which its limit does not count."""

LONGEST_TAG = 48
"""Characters of the longest tag or token that is waited for."""

State = Literal["head", "thinking", "held", "flowing"]
_CLOSING_BEGINS = re.compile(r"</?[a-z]{0,9}")


class LiveText:
    def __init__(self, calls: WrittenCalls | None, *, assume_thinking: bool = False) -> None:
        """`assume_thinking`: this model's opening tag never arrives, so the text begins inside."""
        self._calls = calls
        self._state: State = "thinking" if assume_thinking else "head"
        self._assumed = assume_thinking
        self._waiting = ""
        self._after_thinking = False
        self._ticks = 0
        self._lead_in_chars = 0
        """Characters that were shown before a call may still begin."""

    def feed(self, delta: TextDelta) -> Sequence[TextDelta]:
        text = delta.text
        is_plain = "<" not in text and not ("[" in text and self._may_lead_in())
        if self._state == "flowing" and not self._waiting and is_plain:
            self._lead_in_chars += len(text)
            if "`" in text:
                self._ticks += text.count("`")
            return (delta,)
        self._waiting += text
        return self._advance()

    def end(self, answer: str, *, is_call: bool) -> Sequence[TextDelta]:
        """What is still due when the reply is complete. `answer` is its final text; of a call
        that is what was said before it, which may have been shown by now."""
        if is_call:
            return (TextDelta(answer),) if answer and not self._lead_in_chars else ()
        if self._assumed and self._state == "thinking":
            return (TextDelta(answer),) if answer else ()  # no closing tag: it was no thinking
        if self._state == "held" and self._lead_in_chars:
            due = without_tokens(self._waiting, self._ticks)
        else:
            due = answer if self._state in ("head", "held") else self._waiting
        return (TextDelta(due),) if due and self._state != "thinking" else ()

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
            if (self._state, len(self._waiting)) == before:
                return deltas

    def _read_head(self) -> None:
        if opening := OPENING.match(self._waiting):
            self._waiting = self._waiting[opening.end() :]
            self._state = "thinking"
        elif OPENING_BEGINS.fullmatch(self._waiting):
            pass
        elif not self._may_be_call():
            self._state = "flowing"
            if self._after_thinking:
                self._waiting = self._waiting.lstrip()
        elif len(self._waiting) > MAX_HEAD_CHARS:
            self._state = "held"

    def _may_be_call(self) -> bool:
        head = self._waiting[:MAX_HEAD_CHARS]
        return self._calls is not None and self._calls.may_begin(head)

    def _read_thinking(self, deltas: list[TextDelta]) -> None:
        if closing := CLOSING.search(self._waiting):
            thought = self._waiting[: closing.start()]
            self._waiting = self._waiting[closing.end() :].lstrip()
            self._state = "head"
            self._after_thinking = True
        else:
            thought, self._waiting = _cut_before_tag(self._waiting)
        if thought:
            deltas.append(ReasoningDelta(thought))

    def _read_flowing(self, deltas: list[TextDelta]) -> None:
        ready, self._waiting = self._cut_before_call()
        self._lead_in_chars += len(ready)
        if not ready:
            return
        if cleaned := without_tokens(ready, self._ticks):
            deltas.append(TextDelta(cleaned))
        self._ticks += ready.count("`")

    def _may_lead_in(self) -> bool:
        return self._calls is not None and self._lead_in_chars <= MAX_LEAD_IN_CHARS + SLACK_CHARS

    def _cut_before_call(self) -> tuple[str, str]:
        """What may be shown of the text that waits, and the rest, held where it may be a call."""
        text = self._waiting
        if not self._may_lead_in():
            return _cut_before_tag(text)
        if mark := MARK.search(text):
            self._state = "held"
            return text[: mark.start()], text[mark.start() :]
        end = min(len(_cut_before_tag(text)[0]), begins_mark(text))
        return text[:end], text[end:]


def _cut_before_tag(text: str) -> tuple[str, str]:
    """`text` up to a tag or token that has only begun, and the rest."""
    start = text.rfind("<", -LONGEST_TAG)
    if start < 0:
        return text, ""
    tail = text[start:]
    if TOKEN.match(tail) or not (
        TOKEN_BEGINS.fullmatch(tail) or _CLOSING_BEGINS.fullmatch(tail.lower())
    ):
        return text, ""
    return text[:start], tail
