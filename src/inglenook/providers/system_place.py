"""Where system messages may stand, for chat templates that take them in one place only.

The runtime's notices are system messages in the middle of a conversation. Templates of several
families refuse that (`System message must be at the beginning`), some refuse the role altogether.
"""

from collections.abc import Sequence
from dataclasses import replace
from enum import IntEnum

from inglenook.messages import Message


class SystemPlace(IntEnum):
    ANYWHERE = 0
    FIRST = 1
    """All in one message, at the start."""
    IN_QUESTION = 2
    """Nowhere: what they say stands before the first question."""


def placed(messages: Sequence[Message], place: SystemPlace) -> Sequence[Message]:
    """The same conversation with its system messages where they may stand, in their order."""
    if place is SystemPlace.ANYWHERE:
        return messages
    said = "\n\n".join(message.text for message in messages if message.role == "system")
    rest = [message for message in messages if message.role != "system"]
    if not said:
        return rest
    if place is SystemPlace.FIRST:
        return [Message(role="system", text=said), *rest]
    first = next((i for i, message in enumerate(rest) if message.role == "user"), None)
    if first is None:
        return [Message(role="user", text=said), *rest]
    rest[first] = replace(rest[first], text=f"{said}\n\n{rest[first].text}")
    return rest
