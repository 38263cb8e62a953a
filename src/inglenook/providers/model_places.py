"""Places where models are found without configuration, and the words for one that is away."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from inglenook.errors import ConfigError, ProviderBusy, ProviderError
from inglenook.providers.base import ModelSpec


class Discovery(Protocol):
    """A place where models may be found without configuration."""

    @property
    def name(self) -> str:
        """For people, with its address and without a password."""
        ...

    @property
    def named_by(self) -> str | None:
        """The variable that names it; None: nobody does, and it may well not be there."""
        ...

    async def find(self) -> Sequence[ModelSpec]:
        """Its models; empty where it answers but has none.

        Raises:
            ProviderError: It does not answer.
            ConfigError: Its address or key cannot be used.
        """
        ...


class Away(NamedTuple):
    """A place that could not be asked, and why."""

    place: Discovery
    error: ProviderError | ConfigError

    def __str__(self) -> str:
        named_by = self.place.named_by
        name = f"{self.place.name}, named by {named_by}," if named_by else self.place.name
        if not isinstance(self.error, ProviderBusy):
            return f"{name} does not tell its models: {self.error}"
        if named_by:
            return f"{name} does not answer. Start it, correct {named_by}, or unset it."
        return f"{name} does not answer. Start it, or name a server with OLLAMA_HOST."


class Found(NamedTuple):
    specs: Sequence[ModelSpec]
    away: Sequence[Away]


async def look(places: Sequence[Discovery]) -> Found:
    """What the places have, in their order; one that is away does not hide the others."""
    specs: list[ModelSpec] = []
    away: list[Away] = []
    for place in places:
        try:
            specs += await place.find()
        except (ProviderError, ConfigError) as error:
            away.append(Away(place, error))
    return Found(specs, away)


def away_error(what: str, away: Sequence[Away], advice: str = "") -> ProviderError:
    """`what` is so because of them; busy if it may be otherwise later."""
    may_pass = any(isinstance(each.error, ProviderBusy) for each in away)
    kind = ProviderBusy if may_pass else ProviderError
    return kind(f"{what}: {' '.join(map(str, away))} {advice}".rstrip())
