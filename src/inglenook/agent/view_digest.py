"""SHA-256 over the messages of a view, in time that does not grow with an unchanged history."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict

from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError

from inglenook.messages import Message, ToolSchema

_to_json = TypeAdapter(Message).serializer.to_json


class ViewDigest:
    """Remembers the hash of the last view, so that a longer one costs its new messages only."""

    def __init__(self) -> None:
        self._view: tuple[Message, ...] = ()
        self._hash = hashlib.sha256()

    def of(self, view: Sequence[Message]) -> str:
        known = len(self._view)
        if tuple(view[:known]) != self._view:  # the context policy rewrote what came before
            known = 0
            self._hash = hashlib.sha256()
        for message in view[known:]:
            self._hash.update(canonical(message))
        self._view = tuple(view)
        return self._hash.hexdigest()


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
