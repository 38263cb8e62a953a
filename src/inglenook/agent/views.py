"""A view's digest and size, in time that does not grow with an unchanged history."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError

from inglenook.context.tokens import message_estimate
from inglenook.messages import Message, ToolSchema

_to_json = TypeAdapter(Message).serializer.to_json


@dataclass(frozen=True)
class View:
    digest: str
    """SHA-256 over the messages, in hexadecimal."""
    tokens: int
    """Of the messages, by our estimate, uncalibrated."""


class Views:
    """Remembers the last view, so that a longer one costs its new messages only."""

    def __init__(self) -> None:
        self._last: tuple[Message, ...] = ()
        self._hash = hashlib.sha256()
        self._tokens = 0

    def take(self, messages: Sequence[Message]) -> View:
        known = len(self._last)
        if tuple(messages[:known]) != self._last:  # what came before was rewritten
            known, self._tokens = 0, 0
            self._hash = hashlib.sha256()
        for message in messages[known:]:
            self._hash.update(canonical(message))
            self._tokens += message_estimate(message)
        self._last = tuple(messages)
        return View(self._hash.hexdigest(), self._tokens)


def canonical(message: Message) -> bytes:
    """The message's one encoding for digests: its JSON, nothing left out."""
    try:
        return _to_json(message) + b"\n"
    except PydanticSerializationError:  # a lone surrogate, which UTF-8 cannot hold
        return json.dumps(asdict(message)).encode("ascii") + b"\n"


def tools_digest(schemas: Sequence[ToolSchema]) -> str:
    """SHA-256 over the schemas as one JSON list."""
    encoded = b", ".join([schema.wire.get("digest") or _canonical(schema) for schema in schemas])
    return hashlib.sha256(b"[" + encoded + b"]").hexdigest()


def _canonical(schema: ToolSchema) -> bytes:
    encoded = json.dumps(asdict(schema), sort_keys=True).encode("ascii")
    schema.wire["digest"] = encoded
    return encoded
