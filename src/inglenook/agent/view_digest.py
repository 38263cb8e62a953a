"""SHA-256 over the messages of a view, in time that does not grow with an unchanged history."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict

from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError

from inglenook.messages import Message, ToolSchema

_message = TypeAdapter(Message)


class ViewDigest:
    """Remembers the hash after each message, so that a longer view costs its new messages only."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._states = [hashlib.sha256()]

    def of(self, view: Sequence[Message]) -> str:
        same = 0
        for old, new in zip(self._messages, view, strict=False):
            if old is not new:
                break
            same += 1
        del self._messages[same:], self._states[same + 1 :]
        for message in view[same:]:
            state = self._states[-1].copy()
            state.update(canonical(message))
            self._messages.append(message)
            self._states.append(state)
        return self._states[-1].hexdigest()


def canonical(message: Message) -> bytes:
    """The message's one encoding for digests: its JSON, nothing left out; made once."""
    if (known := message.wire.get("digest")) is None:
        try:
            known = _message.dump_json(message) + b"\n"
        except PydanticSerializationError:  # a lone surrogate, which UTF-8 cannot hold
            known = json.dumps(asdict(message)).encode("ascii") + b"\n"
        message.wire["digest"] = known
    return known


def tools_digest(schemas: Sequence[ToolSchema]) -> str:
    """SHA-256 over the schemas as one JSON list."""
    encoded = b", ".join([schema.wire.get("digest") or _canonical(schema) for schema in schemas])
    return hashlib.sha256(b"[" + encoded + b"]").hexdigest()


def _canonical(schema: ToolSchema) -> bytes:
    encoded = json.dumps(asdict(schema), sort_keys=True).encode("ascii")
    schema.wire["digest"] = encoded
    return encoded
