"""ContextPolicy version 1: show everything, the fixed part first, nothing rewritten."""

from collections.abc import Sequence

from inglenook.context.base import Cut
from inglenook.messages import Message


class KeepAll:
    """For models whose window is not known to matter, and replays of runs recorded with it."""

    version = "keep-all@1"

    def view(self, history: Sequence[Message]) -> Sequence[Message]:
        return tuple(history)

    def cut(
        self, history: Sequence[Message], *, fixed: int, room_tokens: int, attempt: int
    ) -> Cut | None:
        return None
