"""ContextPolicy version 1: show everything, the fixed part first, nothing rewritten.

Compaction and repair of foreign histories build on this; a view is never longer than the history.
"""

from collections.abc import Sequence

from inglenook.messages import Message


class KeepAll:
    version = "keep-all@1"

    def view(self, history: Sequence[Message]) -> Sequence[Message]:
        return tuple(history)
