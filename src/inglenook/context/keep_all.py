"""The ContextPolicy that gives nothing up: a run that outgrows its window ends and says so."""

from collections.abc import Sequence

from inglenook.context.base import Cut
from inglenook.messages import Message


class KeepAll:
    version = "keep-all@1"

    def view(self, history: Sequence[Message]) -> Sequence[Message]:
        return tuple(history)

    def cut(
        self, history: Sequence[Message], *, fixed: int, room_tokens: int, attempt: int
    ) -> Cut | None:
        return None
