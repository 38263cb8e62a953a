"""ModelMemory: what calls have taught about models, kept in the home for the processes to come.

Nothing here is needed: a file that is gone, broken or cannot be written costs a few calls in which
the same is found out again. Keys and prompts are never in it.
"""

import json
import logging
import os
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import TypeAdapter, ValidationError

from inglenook.events import ToolMode
from inglenook.providers.base import ModelAbilities, ModelSpec

logger = logging.getLogger(__name__)

MODE_KEPT_S = 7 * 24 * 3600
"""Then it is found out again: a template may have been updated."""
MAX_MODELS = 200
"""In the file; those that were not used for longest go."""
SAVE_EVERY_S = 30.0
"""Speeds and ratios change with every call; they are worth no write each."""
SMOOTHING = 0.3
"""Weight of a new measurement."""

Because = Literal["said", "refused", "dropped", "called"]
"""How a tool mode was found: the server said so of the model, it refused tools, it dropped them
without a word, or the model made a native call."""
Key: TypeAlias = tuple[str, str, str]
"""Provider, address without a password, model."""


@dataclass(frozen=True, kw_only=True)
class Known:
    """What is known of one model; None: nothing yet."""

    tool_mode: ToolMode | None = None
    because: Because | None = None
    refuses_schema: bool = False
    """Its server takes no JSON schema for a reply."""
    found_at: float = 0.0
    """When the mode was found, in seconds since 1970."""
    token_ratio: float | None = None
    """Tokens for one of our estimate's."""
    window: int | None = None
    """Context tokens that its server was last seen to serve."""
    read_s: float | None = None
    """Seconds for 1,000 tokens of a prompt."""
    write_s: float | None = None
    """Seconds for 1,000 tokens of a reply."""
    used_at: float = 0.0


NOTHING = Known()
RATIO_STEP = 0.01


@dataclass(frozen=True, kw_only=True)
class _Entry:
    provider: str
    place: str
    model: str
    known: Known


_file: TypeAdapter[list[_Entry]] = TypeAdapter(list[_Entry])


class ModelMemory:
    def __init__(self, path: Path | None = None, *, clock: Callable[[], float] = time.time) -> None:
        """`path` None: it lasts as long as this object."""
        self._path = path
        self._clock = clock
        self._known = self._read()
        self._changed: set[Key] = set()
        self._saved_at = clock()

    def of(self, spec: ModelSpec) -> Known:
        known = self._known.get(_key(spec), NOTHING)
        if known.found_at and self._clock() - known.found_at > MODE_KEPT_S:
            return replace(known, tool_mode=None, because=None, refuses_schema=False)
        return known

    def found(self, spec: ModelSpec, mode: ToolMode, because: Because) -> None:
        known = self.of(spec)
        if (known.tool_mode, known.because) != (mode, because):
            logger.info("model %s: tool mode %s (%s)", spec.id, mode, because)
            found_at = self._clock()
            self._put(spec, replace(known, tool_mode=mode, because=because, found_at=found_at))
            self.save()

    def said(self, spec: ModelSpec, abilities: ModelAbilities) -> None:
        """Ollama's word counts for more than a refusal that is older: the model was updated. Others
        (OpenRouter) say of models what not each of their servers can. That a model has made a call,
        or was not shown its tools, counts for more than any word."""
        known = self.of(spec)
        if abilities.tools is False and known.tool_mode is None:
            self.found(spec, "envelope", "said")
        stale = ("said", "refused") if spec.provider == "ollama" else ("said",)
        if abilities.tools is True and known.because in stale:
            self.found(spec, "native", "said")
        if abilities.served_tokens:
            self._put(spec, replace(self.of(spec), window=abilities.served_tokens))
            self._save_at_times()

    def refused_schema(self, spec: ModelSpec) -> None:
        known = self.of(spec)
        found_at = known.found_at or self._clock()
        self._put(spec, replace(known, refuses_schema=True, found_at=found_at))
        self.save()

    def learned(self, spec: ModelSpec, *, token_ratio: float) -> None:
        """Small changes are let be: this is called at every step."""
        known = self._known.get(_key(spec), NOTHING).token_ratio
        if known is not None and abs(known - token_ratio) < RATIO_STEP:
            return
        self._put(spec, replace(self.of(spec), token_ratio=round(token_ratio, 4)))
        self._save_at_times()

    def measured(
        self, spec: ModelSpec, *, read_s: float | None = None, write_s: float | None = None
    ) -> None:
        """One call took so long for 1,000 tokens."""
        known = self.of(spec)
        self._put(
            spec,
            replace(
                known,
                read_s=_smoothed(known.read_s, read_s),
                write_s=_smoothed(known.write_s, write_s),
            ),
        )
        self._save_at_times()

    def save(self) -> None:
        """Write what this process has learned beside what others have; whole or not at all."""
        if self._path is None or not self._changed:
            return
        kept = self._read() | {key: self._known[key] for key in self._changed}
        newest = sorted(kept.items(), key=lambda item: item[1].used_at, reverse=True)[:MAX_MODELS]
        entries = [
            {"provider": provider, "place": place, "model": model, "known": asdict(known)}
            for (provider, place, model), known in newest
        ]
        self._known = dict(newest)
        self._changed.clear()
        self._saved_at = self._clock()
        try:
            _replace(self._path, json.dumps(entries, indent=1))
        except OSError as error:
            logger.warning("what was learned of the models is not kept: %s", error)

    def _put(self, spec: ModelSpec, known: Known) -> None:
        key = _key(spec)
        if self._known.get(key) != known:
            self._known[key] = replace(known, used_at=self._clock())
            self._changed.add(key)

    def _save_at_times(self) -> None:
        if self._clock() - self._saved_at > SAVE_EVERY_S:
            self.save()

    def _read(self) -> dict[Key, Known]:
        if self._path is None:
            return {}
        try:
            entries = _file.validate_json(self._path.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValidationError) as error:
            logger.warning(
                "%s is not read (%s); what it held is found out again",
                self._path,
                type(error).__name__,
            )
            return {}
        return {(each.provider, each.place, each.model): each.known for each in entries}


def _key(spec: ModelSpec) -> Key:
    return (spec.provider, spec.remembered_place, spec.model)


def _smoothed(before: float | None, now: float | None) -> float | None:
    if before is None or now is None:
        return before if now is None else round(now, 2)
    return round(before + SMOOTHING * (now - before), 2)


def _replace(path: Path, text: str) -> None:
    """
    Raises:
        OSError: It cannot be written; the old file stays.
    """
    new = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    try:
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text)
        new.replace(path)
    except OSError:
        with suppress(OSError):
            new.unlink()
        raise
