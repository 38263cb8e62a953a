"""Embedders behind HTTP: Ollama's own API and the OpenAI-compatible one."""

from collections.abc import Sequence
from typing import Any, cast

import aiohttp
import numpy as np

from inglenook.egress import Egress
from inglenook.errors import ModelMissing, ProviderBusy, ProviderError, shown_address
from inglenook.knowledge.embedder import MAX_QUERY_CHARS, Vectors, embeddable, unit
from inglenook.knowledge.http_json import Answer, Unreachable, ask

TIMEOUT_S = 300.0
"""The server may have to load the model first."""
MAX_DIMENSIONS = 16_384


class OllamaEmbedder:
    """`POST /api/embed`. Source: https://docs.ollama.com/api/embed

    Shape: {"model", "input": [str]} -> {"embeddings": [[float]]}
    """

    batch = 16

    def __init__(self, session: aiohttp.ClientSession, *, base_url: str, model: str) -> None:
        self.id = f"ollama:{model}"
        self._server = _Server(session, base_url, "api/embed", model, None)

    async def embed_query(self, text: str, egress: Egress | None = None) -> Vectors:
        return (await self._embed([text[:MAX_QUERY_CHARS]], egress))[0]

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return await self._embed(texts)

    async def close(self) -> None: ...

    async def _embed(self, texts: Sequence[str], egress: Egress | None = None) -> Vectors:
        value = await self._server.ask(texts, egress)
        return self._server.vectors(value.get("embeddings"), len(texts))


class OpenAIEmbedder:
    """`POST /embeddings`. Source: https://platform.openai.com/docs/api-reference/embeddings

    Shape: {"model", "input": [str]} -> {"data": [{"index": int, "embedding": [float]}]}
    """

    batch = 16

    def __init__(
        self,
        session: aiohttp.ClientSession,
        *,
        base_url: str,
        model: str,
        api_key: str | None = None,
    ) -> None:
        self.id = f"openai:{model}"
        self._server = _Server(session, base_url, "embeddings", model, api_key)

    async def embed_query(self, text: str, egress: Egress | None = None) -> Vectors:
        return (await self._embed([text[:MAX_QUERY_CHARS]], egress))[0]

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return await self._embed(texts)

    async def close(self) -> None: ...

    async def _embed(self, texts: Sequence[str], egress: Egress | None = None) -> Vectors:
        value = await self._server.ask(texts, egress)
        data = value.get("data")
        if not isinstance(data, list):
            raise self._server.wrong("it holds no `data`")
        rows = [
            cast("dict[str, Any]", row) for row in cast("list[Any]", data) if isinstance(row, dict)
        ]
        rows.sort(key=lambda row: row["index"] if isinstance(row.get("index"), int) else 0)
        return self._server.vectors([row.get("embedding") for row in rows], len(texts))


class _Server:
    def __init__(
        self,
        session: aiohttp.ClientSession,
        base_url: str,
        path: str,
        model: str,
        api_key: str | None,
    ) -> None:
        self._session = session
        self._address = shown_address(base_url.rstrip("/"))
        self._url = f"{base_url.rstrip('/')}/{path}"
        self._model = model
        self._api_key = api_key

    async def ask(self, texts: Sequence[str], egress: Egress | None) -> dict[str, Any]:
        body = {"model": self._model, "input": [embeddable(text) for text in texts]}
        try:
            answer = await ask(
                self._session,
                "POST",
                self._url,
                bearer=self._api_key,
                body=body,
                timeout_s=TIMEOUT_S,
                egress=egress,
            )
        except Unreachable as error:
            raise ProviderBusy(
                f"The embedding server at {self._address} cannot be reached ({error}). Start it, "
                "or choose another `[knowledge] embedder`."
            ) from None
        value = answer.value
        if answer.status == 200 and isinstance(value, dict):
            return cast("dict[str, Any]", value)
        raise self._refused(answer)

    def vectors(self, rows: Any, count: int) -> Vectors:
        """
        Raises:
            ProviderError: `rows` are not `count` lists of as many finite numbers.
        """
        try:
            vectors = np.array(rows, dtype=np.float32)
        except (TypeError, ValueError):
            raise self.wrong("its vectors are no lists of numbers of one length") from None
        if vectors.ndim != 2 or len(vectors) != count or not np.isfinite(vectors).all():
            raise self.wrong(f"it sent vectors of shape {vectors.shape} for {count} texts")
        if not 1 <= vectors.shape[1] <= MAX_DIMENSIONS:
            raise self.wrong(f"its vectors have {vectors.shape[1]} dimensions")
        return unit(vectors)

    def wrong(self, what: str) -> ProviderError:
        return ProviderError(
            f"The embedding server at {self._address} gave an answer that cannot be used: {what}. "
            f"Check that {self._model!r} is an embedding model."
        )

    def _refused(self, answer: Answer) -> ProviderError:
        said = f"The embedding server at {self._address} answered HTTP {answer.status}"
        if answer.status == 404:
            return ModelMissing(
                f"{said}: it has no model {self._model!r}, or is another kind of server. "
                "Pull the model, or correct `[knowledge] embedder`.",
                status=404,
            )
        if answer.status in (401, 403):
            return ProviderError(f"{said}. Check its key.", status=answer.status)
        if answer.status == 429 or answer.status >= 500:
            return ProviderBusy(f"{said}. It is tried again.", status=answer.status)
        return ProviderError(
            f"{said} without vectors. Check `[knowledge] embedder`.", status=answer.status
        )
