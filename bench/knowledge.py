"""What a look-up in 10,000 chunks costs, and what adding files again costs.

    python bench/knowledge.py [--files 1000] [--sections 10] [--queries 200]

The whole of it is the shipped code on a made-up library: Markdown files with sections of 180
words by Zipf's law, clustered random vectors of 384 dimensions. The embedding of the query is
not in the figures: it depends on the embedder (the built-in one is timed apart).
Exits 1 if the median hybrid look-up takes 20 ms or more, or 1,000 unchanged files 2 s.
"""

import argparse
import asyncio
import hashlib
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from inglenook.egress import Egress
from inglenook.knowledge.embedder import BuiltinEmbedder, Vectors, unit
from inglenook.knowledge.local import LocalKnowledge
from inglenook.knowledge.local_retriever import LocalRetriever

DIMENSIONS = 384
WORDS = 30_000
WORDS_A_SECTION = 180
SEARCH_LIMIT_MS = 20.0
AGAIN_LIMIT_S = 2.0


class RandomEmbedder:
    """Clustered vectors, at once: what is measured is the search."""

    id = "bench:random"
    batch = 256

    def __init__(self) -> None:
        self._centres = np.random.default_rng(1).standard_normal((64, DIMENSIONS), np.float32)

    async def embed_query(self, text: str, egress: Egress | None = None) -> Vectors:
        return self._vector(text)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return np.vstack([self._vector(text) for text in texts])

    async def close(self) -> None: ...

    def _vector(self, text: str) -> Vectors:
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
        rng = np.random.default_rng(seed)
        centre = self._centres[rng.integers(len(self._centres))]
        return unit(centre + rng.standard_normal(DIMENSIONS, np.float32))


def write_library(folder: Path, files: int, sections: int) -> None:
    rng = random.Random(1)
    weights = [1 / (rank + 10) for rank in range(WORDS)]
    names = [f"{'bcdfghklmnprstvz'[n % 16]}{'aeiou'[n % 5]}{n:x}" for n in range(WORDS)]
    for number in range(files):
        words = rng.choices(names, weights, k=sections * WORDS_A_SECTION)
        parts = [
            f"## Section {n}\n\n" + " ".join(words[n * WORDS_A_SECTION : (n + 1) * WORDS_A_SECTION])
            for n in range(sections)
        ]
        (folder / f"{number}.md").write_text("\n\n".join(parts))


def make_queries(count: int) -> list[str]:
    rng = random.Random(2)
    weights = [1 / (rank + 10) for rank in range(WORDS)]
    names = [f"{'bcdfghklmnprstvz'[n % 16]}{'aeiou'[n % 5]}{n:x}" for n in range(WORDS)]
    return [" ".join(rng.choices(names, weights, k=rng.randint(2, 12))) for _ in range(count)]


async def timed_searches(retriever: LocalRetriever, queries: Sequence[str]) -> list[float]:
    """Milliseconds of each, the first few left out."""
    times: list[float] = []
    for query in [*queries[:5], *queries]:
        began = time.perf_counter()
        passages = await retriever.retrieve(query, 5)
        times.append((time.perf_counter() - began) * 1000)
        assert len(passages) == 5
    return times[5:]


async def timed_embedding() -> float:
    embedder = BuiltinEmbedder()
    await embedder.embed_query("warm up")
    times: list[float] = []
    for n in range(10):
        began = time.perf_counter()
        await embedder.embed_query(f"How many days of leave do I have in year {n}?")
        times.append((time.perf_counter() - began) * 1000)
    await embedder.close()
    return statistics.median(times)


async def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--sections", type=int, default=10)
    parser.add_argument("--queries", type=int, default=200)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        docs = Path(folder, "docs")
        docs.mkdir()
        write_library(docs, args.files, args.sections)
        knowledge = LocalKnowledge(Path(folder, "home"), embedder=RandomEmbedder())
        base = await knowledge.create("library")

        began = time.perf_counter()
        await knowledge.add_paths(base.id, [docs], lambda *_: None)
        print(f"{args.files} files taken in: {time.perf_counter() - began:.2f} s")
        await knowledge.embed_pending()
        (base,) = await knowledge.list()
        print(f"chunks: {base.chunks}, with vectors: {base.embedded}")

        began = time.perf_counter()
        await knowledge.add_paths(base.id, [docs], lambda *_: None)
        again_s = time.perf_counter() - began
        print(f"{args.files} unchanged files added again: {again_s:.3f} s (limit {AGAIN_LIMIT_S})")

        began_cpu = time.process_time()
        times = await timed_searches(await knowledge.open([base.id]), make_queries(args.queries))
        cpu_ms = (time.process_time() - began_cpu) * 1000 / (len(times) + 5)
        median = statistics.median(times)
        print(
            f"hybrid search over {base.chunks} chunks: median {median:.1f} ms, p95 "
            f"{statistics.quantiles(times, n=20)[-1]:.1f} ms, CPU {cpu_ms:.1f} ms "
            f"(limit {SEARCH_LIMIT_MS:g} ms)"
        )
        await knowledge.close()
    print(f"embedding a query, built-in embedder: {await timed_embedding():.0f} ms")
    return 0 if median < SEARCH_LIMIT_MS and again_s < AGAIN_LIMIT_S else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
