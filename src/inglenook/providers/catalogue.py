"""ModelCatalogue: which models this installation offers, and the provider of each.

Configured models, or else what the reachable servers have, or else the built-in demo model.
"""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from inglenook.egress import Egress
from inglenook.errors import ConfigError, InvalidRequest, NotFound, ProviderError, RuntimeFault
from inglenook.providers.base import ModelAbilities, ModelProvider, ModelSpec
from inglenook.providers.model_memory import Known, ModelMemory
from inglenook.providers.model_places import Away, Discovery, Found, away_error, look

THREE_WAYS = (
    "Three ways to get one: install Ollama and run `ollama pull qwen3`; "
    "set OPENAI_BASE_URL to a server you run (llama.cpp, vLLM, LM Studio); "
    "or run `inglenook models pull` once where there is a network, for the small demo model."
)
HOW_TO_FETCH = "the first question fetches it (1.1 GB), or `inglenook models pull`"
ABILITIES_KEPT_S = 60.0


@dataclass(frozen=True, kw_only=True)
class Offered:
    spec: ModelSpec
    provider: ModelProvider


@dataclass(frozen=True, kw_only=True)
class ModelReport:
    """One line of the model list; `error` says why a model cannot be used now."""

    spec: ModelSpec
    abilities: ModelAbilities
    error: str | None = None
    is_fetched: bool = True
    """False: the first question fetches it."""
    known: Known = field(default_factory=Known)
    """What earlier calls have taught."""


@dataclass(frozen=True, kw_only=True)
class DemoOffer:
    """The built-in model. Nothing is fetched or started before `ensure`."""

    spec: ModelSpec
    """As it will be; where it answers is known when it runs."""
    is_fetched: Callable[[], bool]
    ensure: Callable[[], Awaitable[ModelSpec]]
    """Raises a ProviderError where it cannot be had."""


class ModelCatalogue:
    def __init__(
        self,
        *,
        configured: Sequence[ModelSpec],
        discoveries: Sequence[Discovery],
        make_provider: Callable[[ModelSpec], ModelProvider],
        demo: DemoOffer | None = None,
        faults: Mapping[str, str] | None = None,
        memory: ModelMemory | None = None,
    ) -> None:
        """
        Args:
            make_provider: Raises a ConfigError for a model that cannot be asked as configured.
            demo: Offered only where nothing else is there.
            faults: Why a configured model cannot be used, by its id. It is listed all the same.
            memory: The one that `make_provider` uses.
        """
        self._configured = list(configured)
        self._discoveries = discoveries
        self._make_provider = make_provider
        self._demo = demo
        self._faults = faults or {}
        self.memory = memory or ModelMemory()
        self._offered: dict[str, Offered] = {}
        self._abilities: dict[str, tuple[float, ModelAbilities]] = {}
        """What servers said of their models, and when, by model id."""

    async def specs(self) -> Sequence[ModelSpec]:
        """Every model on offer now, the default first; the demo model is not started for it."""
        specs, _ = await self._find()
        return specs or ([self._demo.spec] if self._demo else [])

    async def get(self, model_id: str) -> Offered:
        """The model of this id; the demo model is fetched and started for it.

        Raises:
            NotFound: No such model; names those that there are.
            InvalidRequest: It cannot be used as configured; says why.
            ProviderBusy: It may be at a place that does not answer now; names the place.
            ProviderError: Its place answers with an error, or the demo model cannot be had.
        """
        if offered := self._offered.get(model_id):
            return offered
        specs, away = await self._find()
        for spec in specs:
            if spec.id in (model_id, f"{model_id}:latest"):  # Ollama's tag for no tag
                return self._offer(model_id, spec)
        # where others answer, a default place that does not is nobody's model server
        away = [each for each in away if each.place.named_by or not specs]
        if not specs and self._demo is not None:
            if model_id == self._demo.spec.id:
                return self._offer(model_id, await self._demo.ensure())
            specs = [self._demo.spec]
        names = ", ".join(spec.id for spec in specs) or "none"
        if away:
            raise away_error(f"model {model_id!r} cannot be had now (models here: {names})", away)
        raise NotFound(
            f"there is no model {model_id!r}; models here: {names}.",
            field="model",
            hint=None if specs else THREE_WAYS,
        )

    async def abilities(self, offered: Offered, egress: Egress | None = None) -> ModelAbilities:
        """What the model's server says of it, asked at most once a minute.

        Nothing is known where it does not say or does not answer; the run's own call tells more.
        """
        model_id, now = offered.spec.id, time.monotonic()
        known = self._abilities.get(model_id)
        if known is None or now - known[0] > ABILITIES_KEPT_S:
            try:
                known = (now, await self._asked(offered, egress))
            except ProviderError:
                known = (now, ModelAbilities())
            self._abilities[model_id] = known
        return known[1]

    async def default_id(self) -> str:
        """The model that is used when nobody names one. Nothing is fetched or started for it.

        Raises:
            ProviderError: A server that somebody named does not answer; nothing takes its place.
            InvalidRequest: There is no model at all; says how to get one.
        """
        specs, away = await self._find()
        if specs:
            return specs[0].id
        if self._demo is not None:
            return self._demo.spec.id
        raise _no_model(away)

    async def reports(self, *, start_demo: bool = True) -> list[ModelReport]:
        """Each model with what its server says of it.

        Args:
            start_demo: False: of the demo model is told only whether it is fetched.

        Raises:
            ProviderError, InvalidRequest: There is none, as `default_id`.
            ProviderError: The demo model cannot be had.
        """
        specs, away = await self._find()
        if not specs and self._demo is None:
            raise _no_model(away)
        if not specs and self._demo is not None:
            if not start_demo:
                return [_unstarted(self._demo, self.memory.of(self._demo.spec))]
            specs = [await self._demo.ensure()]
        return [await self._report(spec) for spec in specs]

    async def unanswered(self) -> list[str]:
        """A sentence for each server that somebody named and that cannot be asked now."""
        _, away = await self._find()
        return [str(each) for each in away if each.place.named_by]

    @property
    def has_fetched_demo(self) -> bool:
        """To start the demo model takes seconds and no network."""
        return self._demo is not None and self._demo.is_fetched()

    async def _find(self) -> Found:
        """What is configured, or else what the servers have; the demo model is not among it."""
        return Found(self._configured, []) if self._configured else await look(self._discoveries)

    def _offer(self, model_id: str, spec: ModelSpec) -> Offered:
        """
        Raises:
            InvalidRequest: As `get`.
        """
        if offered := self._offered.get(model_id):
            return offered
        if fault := self._faults.get(spec.id):
            raise InvalidRequest(fault, field="model", status=422)
        try:
            provider = self._make_provider(spec)
        except ConfigError as error:
            raise InvalidRequest(str(error), field="model", status=422) from error
        offered = self._offered[model_id] = Offered(spec=spec, provider=provider)
        return offered

    async def _report(self, spec: ModelSpec) -> ModelReport:
        try:
            abilities = await self._asked(self._offer(spec.id, spec))
        except (ProviderError, InvalidRequest) as error:
            known = self.memory.of(spec)
            return ModelReport(spec=spec, abilities=ModelAbilities(), error=str(error), known=known)
        if abilities.tools is None and spec.tool_mode == "native":
            abilities = replace(abilities, tools=True)  # configured by who knows
        return ModelReport(spec=spec, abilities=abilities, known=self.memory.of(spec))

    async def _asked(self, offered: Offered, egress: Egress | None = None) -> ModelAbilities:
        """What the model's server says of it; what there is to learn from that is remembered.

        Raises:
            ProviderError: As `ModelProvider.abilities`.
        """
        abilities = await offered.provider.abilities(egress)
        self.memory.said(offered.spec, abilities)
        return abilities


def _unstarted(demo: DemoOffer, known: Known) -> ModelReport:
    is_fetched = demo.is_fetched()
    state = "Fetched." if is_fetched else f"Not fetched yet: {HOW_TO_FETCH}."
    return ModelReport(
        spec=replace(demo.spec, note=f"{state} {demo.spec.note}"),
        abilities=ModelAbilities(tools=True, context_tokens=demo.spec.context_tokens),
        is_fetched=is_fetched,
        known=known,
    )


def _no_model(away: Sequence[Away]) -> RuntimeFault:
    if named := [each for each in away if each.place.named_by]:
        return away_error("no model is available", named, THREE_WAYS)
    return InvalidRequest(
        "no model is available: no model server has one and none is configured.",
        hint=THREE_WAYS,
        status=422,
    )
