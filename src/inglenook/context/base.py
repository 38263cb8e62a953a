"""ContextPolicy: which messages the model sees."""

from collections.abc import Sequence
from typing import Protocol

from inglenook.messages import Message


class ContextPolicy(Protocol):
    @property
    def version(self) -> str: ...

    def view(self, history: Sequence[Message]) -> Sequence[Message]:
        """The messages to send now; `history` itself is never changed."""
        ...
