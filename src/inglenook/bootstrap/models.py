"""The models that the settings and the environment offer: where they are found, and their parts."""

import aiohttp

from inglenook.errors import ProviderError
from inglenook.providers.base import ModelProvider, ModelSpec
from inglenook.providers.catalogue import THREE_WAYS, DemoOffer, ModelCatalogue
from inglenook.providers.demo_model import DemoModel
from inglenook.providers.demo_weights import DemoWeights
from inglenook.providers.discovery import OllamaModels, OpenAIModels
from inglenook.providers.envelope import EnvelopeProvider
from inglenook.providers.model_memory import ModelMemory
from inglenook.providers.ollama import OllamaProvider
from inglenook.providers.openai_chat import OpenAIChatProvider
from inglenook.providers.recovery import RecoveringProvider
from inglenook.providers.retry import RetryingProvider
from inglenook.providers.speed import MeasuredProvider
from inglenook.providers.think_tags import begins_thinking
from inglenook.providers.tool_mode import ToolModeProvider
from inglenook.providers.weights_file import Report
from inglenook.providers.window import WindowGuard
from inglenook.settings.load import Loaded
from inglenook.settings.sections import Model
from inglenook.store.locks import FileLock


def demo_model(loaded: Loaded) -> DemoModel:
    """Neither fetched nor started; `stop` it at the end."""
    weights = DemoWeights(
        loaded.cache / "models",
        FileLock(loaded.cache / "models.lock"),
        index_url=loaded.index_url,
    )
    return DemoModel(weights, loaded.home / "demo-model.log")


def offered_models(
    loaded: Loaded, session: aiohttp.ClientSession, demo: DemoModel, report: Report
) -> ModelCatalogue:
    memory = ModelMemory(loaded.home / "models.json")
    discoveries: list[OllamaModels | OpenAIModels] = []
    if loaded.openai_url:
        named_by = loaded.named_by("openai_url")
        url, key = loaded.openai_url, loaded.openai_key
        discoveries.append(OpenAIModels(session, url, key, named_by=named_by))
    named_by = loaded.named_by("ollama_url")
    discoveries.append(OllamaModels(session, loaded.ollama_url, named_by=named_by))

    async def demo_spec() -> ModelSpec:
        try:
            return await demo.ensure(report)
        except (ProviderError, OSError) as error:
            raise ProviderError(f"no demo model: {error}. {THREE_WAYS}") from error

    return ModelCatalogue(
        configured=[_spec(loaded, model) for model in loaded.settings.models],
        discoveries=discoveries,
        make_provider=lambda spec: _provider(session, spec, demo, memory),
        demo=None
        if loaded.names_a_server
        else DemoOffer(spec=demo.spec, is_fetched=demo.is_cached, ensure=demo_spec),
        faults={
            model.id: fault
            for model in loaded.settings.models
            if (fault := _fault(loaded, model)) is not None
        },
        memory=memory,
    )


def _fault(loaded: Loaded, model: Model) -> str | None:
    """Why a configured model cannot be used, which is no reason to offer none."""
    if model.api_key_env and model.api_key_env not in loaded.model_keys:
        return (
            f"model {model.id!r}: the environment has no {model.api_key_env}; set it to the key "
            "and start again"
        )
    if model.base_url is None and model.provider == "openai" and loaded.openai_url is None:
        return f"model {model.id!r}: base_url is missing (its server, with /v1)"
    return None


def _spec(loaded: Loaded, model: Model) -> ModelSpec:
    default_url = loaded.ollama_url if model.provider == "ollama" else loaded.openai_url
    return ModelSpec(
        id=model.id,
        provider=model.provider,
        model=model.model,
        base_url=model.base_url or default_url or "",
        api_key=loaded.model_keys.get(model.api_key_env or "")
        or (loaded.openai_key if model.provider == "openai" and not model.base_url else None),
        context_tokens=model.context_tokens,
        thinking=model.thinking,
        reasoning_effort=model.reasoning_effort,
        tool_mode=model.tool_mode,
    )


def _provider(
    session: aiohttp.ClientSession, spec: ModelSpec, demo: DemoModel, memory: ModelMemory
) -> ModelProvider:
    transport = transport_of(session, spec, memory)
    if demo.serves(spec):
        transport = demo.kept(transport, spec, session)
    return wrapped(transport, spec, memory)


def transport_of(
    session: aiohttp.ClientSession, spec: ModelSpec, memory: ModelMemory
) -> ModelProvider:
    """What speaks to the model's server, and how fast that is."""
    transport = OllamaProvider if spec.provider == "ollama" else OpenAIChatProvider
    return MeasuredProvider(transport(session, spec), spec, memory)


def wrapped(transport: ModelProvider, spec: ModelSpec, memory: ModelMemory) -> ModelProvider:
    """`transport` with all that makes its replies ones to rely on.

    Envelopes hold text, so they are inside of one recovery, which takes the thinking away, and
    within another, for models that write a call of their own kind all the same.
    """
    guarded = WindowGuard(transport, counts_whole_prompt=spec.provider != "ollama")
    recovering = RecoveringProvider(guarded, begins_thinking=begins_thinking(spec.model))
    native = RetryingProvider(recovering)  # what was held back was not seen, and may come again
    envelope = RecoveringProvider(EnvelopeProvider(native, spec, memory))
    return ToolModeProvider(native, envelope, spec, memory)
