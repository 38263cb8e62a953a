"""Settings for people: each value with its key and origin, what is wrong with one, no secret."""

import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from inglenook.errors import shown_address
from inglenook.settings.sections import VARIABLE_NAME, Section, Settings

_SECRET = re.compile(r"(token|secret|password|key)(_env)?$", re.IGNORECASE)
"""The end of a key's name, also of one that there is not: somebody may have guessed it."""


def flatten(settings: Settings) -> Iterator[tuple[str, Any]]:
    """Every key with its value, dotted; tokens and passwords are masked."""
    yield from _leaves("", settings.model_dump(mode="json"))


def origin_of(dotted: str, origins: Mapping[str, str]) -> str:
    """Where a value came from: its key was given, or the table that it stands in."""
    while dotted:
        if dotted in origins:
            return origins[dotted]
        dotted = dotted.rpartition(".")[0]
    return "default"


def place_of(dotted: str, origins: Mapping[str, str]) -> str:
    """Where to look for what is wrong with a key: its origin, or its nearest neighbour's."""
    while dotted:
        for key, origin in origins.items():
            if key == dotted or key.startswith(f"{dotted}."):
                return origin
        dotted = dotted.rpartition(".")[0]
    return "configuration"


def explain(problem: Any, origins: Mapping[str, str]) -> str:
    """One of pydantic's errors as a sentence that names key, value and place."""
    dotted = ".".join(str(part) for part in problem["loc"])
    place = place_of(dotted, origins)
    if problem["type"] == "extra_forbidden":
        close = difflib.get_close_matches(dotted, _known_keys(), n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        return f"{place}: unknown key {dotted!r}{hint}"
    if dotted == "models":  # about the tables together; all of them would bury the message
        return f"{place}: {problem['msg'].removeprefix('Value error, ')}"
    name = next((part for part in reversed(problem["loc"]) if isinstance(part, str)), "")
    return f"{place}: {dotted} = {_shown(name, problem['input'])!r}: {problem['msg']}"


def _leaves(above: str, table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, dict) and value:
            yield from _leaves(f"{above}{key}.", cast(dict[str, Any], value))
        else:
            yield above + key, _shown(key, value)


def _shown(key: str, value: Any) -> Any:
    """`value` for people and logs, without what is secret in it."""
    if isinstance(value, dict):
        return {name: _shown(name, inner) for name, inner in cast(dict[str, Any], value).items()}
    if isinstance(value, list):
        return [_shown(key, inner) for inner in cast(list[Any], value)]
    if key.endswith("_env") and isinstance(value, str) and VARIABLE_NAME.fullmatch(value):
        return value
    if _SECRET.search(key):
        return value and "********"
    if (key.endswith("url") or key == "proxy") and isinstance(value, str):
        return shown_address(value)  # it may hold `user:password@`
    return value


def _known_keys() -> list[str]:
    keys: list[str] = []
    for name, section in Settings.model_fields.items():
        keys.append(name)
        if isinstance(section.annotation, type) and issubclass(section.annotation, Section):
            keys += [f"{name}.{key}" for key in section.annotation.model_fields]
    return keys
