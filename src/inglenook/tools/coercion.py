"""A call's arguments made to fit their tool's JSON Schema, field by field, each change noted.

It stands here and not in `providers/`, where nobody knows a tool's effect: what may be guessed for
a tool that reads is never guessed for one that writes or leaves the machine. Bounds, patterns and
formats are left to the tool's own validation.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from inglenook.errors import ToolError
from inglenook.providers.call_values import closing_bracket, python_literal
from inglenook.providers.wire_json import decode, repeats_a_key
from inglenook.tools.scalars import AS_TYPE, Read, as_null, as_one_of
from inglenook.tools.schema import (
    Schema,
    allowed_values,
    alternatives,
    entries,
    field_of,
    required_fields,
    resolved,
    shown,
    wanted,
)

MAX_DEPTH = 40
"""Steps into schema and value together; more are hostile or broken."""
MAX_STEPS = 20_000
"""Values looked at in one call. A schema of nested alternatives could ask for any number."""
MAX_TOLD = 10
"""Problems and changes that are spelled out; more are counted."""
NO_GUESS = "; nothing is guessed for a tool that changes or sends something"


class _Problem(NamedTuple):
    """Becomes a sentence where it is told: most are of alternatives that were not taken."""

    path: str
    before: str
    wanted: object
    after: str = ""


class _Reading(NamedTuple):
    value: Any
    changes: tuple[str, ...] = ()
    """Empty: the value is as it was sent."""
    problems: tuple[_Problem, ...] = ()
    is_guess: bool = False


def coerced(
    arguments: Mapping[str, Any], schema: Schema, *, may_guess: bool
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The arguments as `schema` wants them, and what was changed to get there.

    What the schema does not name is left out; so is a null where none is wanted, and the default
    holds. Coercing the result again changes nothing.

    Args:
        schema: Of the whole object; any JSON Schema, with references only into itself.
        may_guess: Take also what has more than one reading, or loses something.

    Raises:
        ToolError: They cannot be made to fit; names each field, what was sent and what is wanted.
    """
    reader = _Reader(schema, may_guess=may_guess)
    reading = reader.object_of(dict(arguments), resolved(schema, schema), "", 0)
    if reading.problems:
        problems = [
            f"{path}: {before}{wanted(schema, what)}{after}"
            for path, before, what, after in reading.problems[:MAX_TOLD]
        ]
        raise ToolError("; ".join(problems + _more(reading.problems)))
    return reading.value, (*reading.changes[:MAX_TOLD], *_more(reading.changes))


class _Reader:
    """Reads one call's arguments; `path` is a value's dotted place in them."""

    def __init__(self, root: Schema, *, may_guess: bool) -> None:
        self._root = root
        self._may_guess = may_guess
        self._steps = 0

    def read(self, value: object, schema: object, path: str, depth: int) -> _Reading:
        self._steps += 1
        if depth > MAX_DEPTH or self._steps > MAX_STEPS:
            problem = _Problem(path, "too much or nested too deeply, wanted a smaller ", schema)
            return _Reading(value, problems=(problem,))
        known = resolved(self._root, schema)
        if allowed := allowed_values(known):
            return self._plain(value, as_one_of(value, allowed), known, path, depth)
        if branches := alternatives(known):
            return self._any_of(value, branches, path, depth)
        kind: object = known.get("type")
        if kind == "object" or (kind is None and "properties" in known):
            return self.object_of(value, known, path, depth)
        if kind == "array" or (kind is None and "items" in known):
            return self._array(value, known, path, depth)
        if isinstance(kind, str) and kind in AS_TYPE:
            return self._plain(value, AS_TYPE[kind](value), known, path, depth)
        return _Reading(value)

    def object_of(self, value: object, schema: Schema, path: str, depth: int) -> _Reading:
        if not isinstance(value, dict):
            return self._written(value, dict, schema, path, depth)
        sent = cast("dict[str, object]", value)
        required = required_fields(schema)
        fields = _Collected()
        kept: dict[str, Any] = {}
        for name, inner in sent.items():
            place = _place(path, name)
            inner_schema = field_of(schema, name)
            if inner_schema is None:
                fields.changes.append(f"dropped unknown argument {place!r:.80}")
                continue
            reading = self.read(inner, inner_schema, place, depth + 1)
            if reading.problems and name not in required and self._means_nothing(inner):
                fields.leave_out(place, inner)
                continue
            kept[name] = fields.add(reading)
        for name in required:
            if name not in sent:
                inner_schema = field_of(schema, name)
                fields.problems.append(
                    _Problem(_place(path, name), "is missing, wanted ", inner_schema)
                )
        return fields.reading(sent, kept)

    def _array(self, value: object, schema: Schema, path: str, depth: int) -> _Reading:
        if not isinstance(value, (list, tuple)):
            return self._written(value, list, schema, path, depth)
        sent = cast("Sequence[object]", value)
        by_place = entries(schema.get("prefixItems"))
        every: object = schema.get("items", {})
        fields = _Collected()
        kept: list[Any] = []
        for n, entry in enumerate(sent):
            entry_schema = by_place[n] if n < len(by_place) else every
            kept.append(fields.add(self.read(entry, entry_schema, f"{path}.{n}", depth + 1)))
        return fields.reading(sent, kept)

    def _written(
        self, value: object, kind: type, schema: Schema, path: str, depth: int
    ) -> _Reading:
        """A list or an object that came as text, or one value where a list is wanted."""
        found = _in_text(value) if isinstance(value, str) else None
        if found is not None and isinstance(found.value, kind):
            begun = self._changed(value, found, schema, path)
            inner = self.read(found.value, schema, path, depth + 1)
            return inner._replace(
                changes=begun.changes + inner.changes,
                problems=begun.problems + inner.problems,
                is_guess=begun.is_guess or inner.is_guess,
            )
        if kind is dict or "prefixItems" in schema or (found is None and _is_no_entry(value)):
            return self._unwrapped(value, schema, path, depth)
        entry = self.read(found.value if found else value, schema.get("items", {}), path, depth + 1)
        if entry.problems:
            return self._problem(value, schema, path)
        is_guess = entry.is_guess or _has_readings(value)
        return self._changed(value, Read([entry.value], is_guess=is_guess), schema, path)

    def _any_of(self, value: object, branches: Sequence[object], path: str, depth: int) -> _Reading:
        """The reading that fits best: as it was sent, then lossless, then guessed."""
        readings: list[_Reading] = []
        for branch in branches:
            reading = self.read(value, branch, path, depth + 1)
            if not reading.problems and not reading.changes:
                return reading
            readings.append(reading)
        fitting = [each for each in readings if not each.problems]
        best = [each for each in fitting if not each.is_guess] or fitting
        if best and all(each.value == best[0].value for each in best):
            return best[0]
        if best and not best[0].is_guess and self._may_guess:
            note = f"{path}: {shown(value)} has more than one reading{_guess_note(True)}"
            return best[0]._replace(changes=(*best[0].changes, note), is_guess=True)
        inside = [each for each in readings if each.problems and each.problems[0].path != path]
        if len(inside) == 1:
            return inside[0]
        return self._problem(value, {"anyOf": branches}, path)

    def _plain(
        self, value: object, found: Read | None, schema: Schema, path: str, depth: int
    ) -> _Reading:
        if found is None:
            return self._unwrapped(value, schema, path, depth)
        return (
            _Reading(value) if found.value is value else self._changed(value, found, schema, path)
        )

    def _unwrapped(self, value: object, schema: Schema, path: str, depth: int) -> _Reading:
        """A list of one where no list is wanted: by guess, the one."""
        listed = entries(value)
        if self._may_guess and len(listed) == 1:
            entry = self.read(listed[0], schema, path, depth + 1)
            if not entry.problems:
                return self._changed(value, Read(entry.value, is_guess=True), schema, path)
        return self._problem(value, schema, path)

    def _changed(self, value: object, found: Read, schema: Schema, path: str) -> _Reading:
        if found.is_guess and not self._may_guess:
            return self._problem(value, schema, path, NO_GUESS)
        taken = f"{path}: {shown(value)} taken as {shown(found.value)}"
        change = taken + _guess_note(found.is_guess)
        return _Reading(found.value, changes=(change,), is_guess=found.is_guess)

    def _problem(self, value: object, schema: Schema, path: str, why: str = "") -> _Reading:
        problem = _Problem(path, "wanted ", schema, f", got {shown(value)}{why}")
        return _Reading(value, problems=(problem,))

    def _means_nothing(self, value: object) -> bool:
        return value is None or (self._may_guess and as_null(value) is not None)


class _Collected:
    """The readings of an object's fields or a list's entries."""

    def __init__(self) -> None:
        self.changes: list[str] = []
        self.problems: list[_Problem] = []
        self._is_guess = False

    def add(self, reading: _Reading) -> Any:
        self.changes += reading.changes
        self.problems += reading.problems
        self._is_guess = self._is_guess or reading.is_guess
        return reading.value

    def leave_out(self, place: str, value: object) -> None:
        is_guess = value is not None
        self.changes.append(f"{place}: {shown(value)} left out{_guess_note(is_guess)}")
        self._is_guess = self._is_guess or is_guess

    def reading(self, sent: object, kept: object) -> _Reading:
        value = kept if self.changes else sent
        return _Reading(value, tuple(self.changes), tuple(self.problems), self._is_guess)


def _in_text(text: str) -> Read | None:
    """The list or object that `text` is: in JSON, or by guess a list as Python writes it."""
    text = text.strip()
    if text[:1] not in ("[", "{"):
        return None
    try:
        value: object = decode(text.encode("utf-8", "surrogatepass"))
    except ValueError:
        return _python_list(text)
    return None if repeats_a_key(text) else Read(value)


def _python_list(text: str) -> Read | None:
    if "{" in text or closing_bracket(text, 0) != len(text):
        return None
    try:
        return Read(json.loads(json.dumps(python_literal(text))), is_guess=True)
    except (TypeError, ValueError):
        return None


def _is_no_entry(value: object) -> bool:
    """`value` is nothing, or a list or an object that was cut off in writing."""
    return value is None or (isinstance(value, str) and value.lstrip()[:1] in ("[", "{"))


def _has_readings(value: object) -> bool:
    """`value` may be a list in writing, or nothing, instead of one entry."""
    if not isinstance(value, str):
        return False
    return as_null(value) is not None or any(mark in value for mark in ",;\n")


def _place(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _guess_note(is_guess: bool) -> str:
    return ", a guess" if is_guess else ""


def _more(told: Sequence[object]) -> list[str]:
    return [f"and {len(told) - MAX_TOLD} more"] if len(told) > MAX_TOLD else []
