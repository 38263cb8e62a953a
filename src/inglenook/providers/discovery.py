"""Models that are found without configuration: what the reachable servers have installed."""

from collections.abc import Sequence

import aiohttp

from inglenook.errors import shown_address
from inglenook.providers import ollama, openai_chat
from inglenook.providers.base import ModelSpec


class OllamaModels:
    """Every model of one Ollama."""

    def __init__(
        self, session: aiohttp.ClientSession, base_url: str, *, named_by: str | None = None
    ) -> None:
        self._session = session
        self._base_url = base_url
        self.name = f"Ollama at {shown_address(base_url)}"
        self.named_by = named_by

    async def find(self) -> Sequence[ModelSpec]:
        names = await ollama.list_models(self._session, self._base_url)
        return [
            ModelSpec(
                id=name,
                provider="ollama",
                model=name,
                base_url=self._base_url,
            )
            for name in names
        ]


class OpenAIModels:
    """Every model of one OpenAI-compatible server."""

    def __init__(
        self,
        session: aiohttp.ClientSession,
        base_url: str,
        api_key: str | None,
        *,
        named_by: str | None = None,
    ) -> None:
        self._session = session
        self._base_url = base_url
        self._api_key = api_key
        self.name = f"the OpenAI-compatible server at {shown_address(base_url)}"
        self.named_by = named_by

    async def find(self) -> Sequence[ModelSpec]:
        names = await openai_chat.list_models(self._session, self._base_url, self._api_key)
        return [
            ModelSpec(
                id=name,
                provider="openai",
                model=name,
                base_url=self._base_url,
                api_key=self._api_key,
            )
            for name in names
        ]
