"""Which embedder `[knowledge] embedder` names, and what to tell people where there is none."""

from dataclasses import dataclass

import aiohttp

from inglenook.errors import ConfigError
from inglenook.knowledge.embed_http import OllamaEmbedder, OpenAIEmbedder
from inglenook.knowledge.embedder import BuiltinEmbedder, Embedder


@dataclass(frozen=True, kw_only=True)
class EmbedderChoice:
    embedder: Embedder | None
    note: str | None = None
    """Why documents are searched by full text alone, where nobody asked for that."""


def choose_embedder(
    setting: str,
    session: aiohttp.ClientSession,
    *,
    ollama_url: str,
    openai_url: str,
    openai_key: str | None = None,
) -> EmbedderChoice:
    """
    Raises:
        ConfigError: The setting names no embedder.
    """
    kind, _, model = setting.partition(":")
    if kind == "ollama" and model:
        return EmbedderChoice(embedder=OllamaEmbedder(session, base_url=ollama_url, model=model))
    if kind == "openai" and model:
        if not openai_url:
            return EmbedderChoice(
                embedder=None,
                note=f"`[knowledge] embedder` is {setting!r}, and no OPENAI_BASE_URL names its "
                "server. Documents are found by full text alone; set it, or choose another.",
            )
        return EmbedderChoice(
            embedder=OpenAIEmbedder(session, base_url=openai_url, model=model, api_key=openai_key)
        )
    if setting == "none":
        return EmbedderChoice(embedder=None)
    if setting != "builtin":
        raise ConfigError(
            f"`[knowledge] embedder` is {setting!r}; it must be builtin, ollama:<model>, "
            "openai:<model> or none."
        )
    try:
        return EmbedderChoice(embedder=BuiltinEmbedder())
    except ConfigError as missing:
        return EmbedderChoice(embedder=None, note=str(missing))
