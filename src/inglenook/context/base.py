"""ContextPolicy: which messages the model sees, and what goes when they are too many."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from inglenook.messages import Message


@dataclass(frozen=True, kw_only=True)
class Cut:
    """Where a history is cut: what comes before `end` is summed up, the rest is kept."""

    start: int
    """First message that is summed up; the fixed part lies before it."""
    end: int
    """First message that is kept; never in the middle of a reply and its results."""
    shorten_to: int | None = None
    """Tool results that are kept are shown with at most so many characters; None: as they are."""


class ContextPolicy(Protocol):
    @property
    def version(self) -> str: ...

    def view(self, history: Sequence[Message]) -> Sequence[Message]:
        """The messages to send now; `history` itself is never changed."""
        ...

    def cut(
        self, history: Sequence[Message], *, fixed: int, room_tokens: int, attempt: int
    ) -> Cut | None:
        """What to give up so that the view takes about `room_tokens`; None: nothing is left to.

        Args:
            fixed: Messages at the start that stay, whatever happens.
            room_tokens: Estimated tokens, as of `context/tokens.py`, for all messages together.
            attempt: 1 for the first cut of this size, 2 after one that did not help enough.
        """
        ...
