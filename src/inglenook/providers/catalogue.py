"""ModelCatalogue: which models this installation offers, and the provider of each.

Configured models, or else what the reachable servers have, or else the built-in demo model.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from inglenook.errors import InvalidRequest, NotFound, ProviderError
from inglenook.providers.base import ModelAbilities, ModelProvider, ModelSpec

THREE_WAYS = (
    "Three ways to get one: install Ollama and run `ollama pull qwen3`; "
    "set OPENAI_BASE_URL to a server you run (llama.cpp, vLLM, LM Studio); "
    "or run `inglenook models pull` once where there is a network, for the small demo model."
)


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


class Discovery(Protocol):
    """A place where models may be found without configuration."""

    @property
    def name(self) -> str: ...

    async def find(self) -> Sequence[ModelSpec]:
        """Its models; empty where it answers but has none.

        Raises:
            ProviderError: It does not answer.
        """
        ...


class ModelCatalogue:
    def __init__(
        self,
        *,
        configured: Sequence[ModelSpec],
        discoveries: Sequence[Discovery],
        make_provider: Callable[[ModelSpec], ModelProvider],
        demo: Callable[[], Awaitable[ModelSpec]] | None = None,
    ) -> None:
        """`demo` fetches and starts the demo model; it is asked only when nothing else is there."""
        self._configured = list(configured)
        self._discoveries = discoveries
        self._make_provider = make_provider
        self._demo = demo
        self._offered: dict[str, Offered] = {}

    async def specs(self) -> list[ModelSpec]:
        """Every model on offer now, the default first; the demo model is not started for it."""
        if self._configured:
            return self._configured
        found: list[ModelSpec] = []
        for discovery in self._discoveries:
            try:
                found += await discovery.find()
            except ProviderError:
                continue
        return found

    async def get(self, model_id: str) -> Offered:
        """The model of this id.

        Raises:
            NotFound: No such model; names those that there are.
        """
        if offered := self._offered.get(model_id):
            return offered
        specs = await self.specs() or await self._demo_specs()
        for spec in specs:
            if spec.id in (model_id, f"{model_id}:latest"):  # Ollama's tag for no tag
                offered = Offered(spec=spec, provider=self._make_provider(spec))
                self._offered[model_id] = offered
                return offered
        names = ", ".join(spec.id for spec in specs) or "none"
        raise NotFound(
            f"there is no model {model_id!r}; models here: {names}.",
            field="model",
            hint=None if specs else THREE_WAYS,
        )

    async def default_id(self) -> str:
        """The model that is used when nobody names one.

        Raises:
            InvalidRequest: There is no model at all; says how to get one.
        """
        specs = await self.specs() or await self._demo_specs()
        if not specs:
            raise InvalidRequest(
                "no model is available: no model server answers and none is configured.",
                hint=THREE_WAYS,
                status=422,
            )
        return specs[0].id

    async def reports(self) -> list[ModelReport]:
        """Each model with what its server says of it."""
        reports: list[ModelReport] = []
        for spec in await self.specs() or await self._demo_specs():
            try:
                abilities = await (await self.get(spec.id)).provider.abilities()
                if abilities.tools is None and spec.tool_mode == "native":
                    abilities = replace(abilities, tools=True)  # configured by who knows
                reports.append(ModelReport(spec=spec, abilities=abilities))
            except (ProviderError, NotFound) as error:
                reports.append(ModelReport(spec=spec, abilities=ModelAbilities(), error=str(error)))
        return reports

    async def _demo_specs(self) -> list[ModelSpec]:
        return [await self._demo()] if self._demo else []
