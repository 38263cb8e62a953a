"""Tool calls as they come from servers, made into `ToolCall`s with usable ids and arguments."""

from collections.abc import Iterable, Mapping, Sequence, Set
from hashlib import blake2b
from typing import Any, NamedTuple, cast

from inglenook.messages import Message, ToolCall
from inglenook.providers import wire_json
from inglenook.providers.wire_json import repeats_a_key

MALFORMED_ARGUMENTS = "malformed_arguments"
"""The one key of arguments that were no JSON object, or had a key twice; its value is what the
model wrote. The call is kept, so that the model gets an error for it, and nothing is guessed."""
MAX_ID_CHARS = 512
"""Some gateways hide a signature of several hundred characters in the id and want it back."""


class RawCall(NamedTuple):
    id: object
    name: object
    arguments: object
    """An object, or JSON text of one."""


def finished_calls(
    raw: Iterable[RawCall], messages: Sequence[Message]
) -> tuple[tuple[ToolCall, ...], tuple[str, ...]]:
    """The calls of one reply to `messages`, and what had to be mended, one sentence each."""
    taken = {call.id for message in messages for call in message.tool_calls}
    calls: list[ToolCall] = []
    repairs: list[str] = []
    for position, call in enumerate(raw):
        name = call.name if isinstance(call.name, str) else ""
        id_ = usable_id(call.id)
        if id_ is None or id_ in taken:
            id_ = made_id(messages, position, name, taken)
        taken.add(id_)
        arguments = kept_arguments(call.arguments)
        if MALFORMED_ARGUMENTS in arguments:
            text = str(arguments[MALFORMED_ARGUMENTS])
            fault = "had a key twice" if repeats_a_key(text) else "were no JSON object"
            repairs.append(f"the arguments of {name!r} {fault} and were kept as text")
        calls.append(ToolCall(id=id_, name=name, arguments=arguments))
    return tuple(calls), tuple(repairs)


def kept_arguments(value: object) -> Mapping[str, Any]:
    """As `arguments_of`, with what is none kept as text under `MALFORMED_ARGUMENTS`."""
    arguments = arguments_of(value)
    if arguments is not None:
        return arguments
    text = value if isinstance(value, str) else wire_json.encode(value).decode()
    return {MALFORMED_ARGUMENTS: text}


def arguments_of(value: object) -> Mapping[str, Any] | None:
    """The arguments object; None if `value` holds none, or text of one with a key twice.

    Absent arguments are an empty object.
    """
    for _ in range(2):  # some servers encode the text of an object once more
        if not isinstance(value, str):
            break
        if not value.strip():
            return {}
        text = value
        try:
            value = wire_json.decode(value.encode("utf-8", "surrogatepass"))
        except ValueError:
            return None
        if isinstance(value, dict):
            keys = len(cast("dict[str, Any]", value))
            # every key has a colon: where there are no more of them, no key was lost
            if text.count(":") > keys and repeats_a_key(text):
                return None
    if value is None or value == []:  # an empty object as PHP writes it
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def made_id(messages: Sequence[Message], position: int, name: str, taken: set[str]) -> str:
    """An id for a call that came without one: the same for the same place in a conversation.

    The last result's own id goes in, so that ids differ from step to step even where a compacted
    history has become as short as before.
    """
    last = messages[-1] if messages else Message(role="user")
    return fresh_id(f"{len(messages)} {position} {name} {last.call_id} {last.text[-200:]}", taken)


def fresh_id(place: str, taken: Set[str]) -> str:
    """The same for the same `place`, and none of `taken`. Nine hex digits: Mistral takes no other
    length."""
    salt = 0
    while True:
        text = f"{place} {salt}".encode("utf-8", "surrogatepass")
        id_ = blake2b(text, digest_size=5).hexdigest()[:9]
        if id_ not in taken:
            return id_
        salt += 1


def usable_id(value: object) -> str | None:
    if isinstance(value, str) and 0 < len(value) <= MAX_ID_CHARS and value.isprintable():
        return value if value.strip() else None
    return None
