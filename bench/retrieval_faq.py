"""How well is a section found by its heading? The Debian FAQ in four languages, by section id.

    python bench/retrieval_faq.py [--cache FOLDER] [--whole] [--sweep] [--only en,de,fr,zh]

`--whole` puts each section into one chunk, as LIBRARIES section 5 measured the embedder.

Each section's text (heading taken out) is one file of a local knowledge base, each heading one
query; the shipped chunking, index and ranking answer, by words alone, by meaning alone and by
both. A rank is that of the section, over its best chunk. Needs apt-get and dpkg (the packages
debian-faq, -de, -fr, -zh-cn are fetched and unpacked into the cache folder) and, the first time,
some ten minutes of CPU for the vectors, which are kept there too.
Exits 1 if both together are worse than either alone on R@1 or R@5 in any language.
"""

import argparse
import asyncio
import hashlib
import html
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import platformdirs

from inglenook.egress import Egress
from inglenook.knowledge import ranking
from inglenook.knowledge.chunking import Chunk
from inglenook.knowledge.embedder import BuiltinEmbedder, Vectors
from inglenook.knowledge.extract import Extracted, Extractor
from inglenook.knowledge.index import Index
from inglenook.knowledge.local import LocalKnowledge

PACKAGES = {
    "en": "debian-faq",
    "de": "debian-faq-de",
    "fr": "debian-faq-fr",
    "zh": "debian-faq-zh-cn",
}
SECTION_CHARS = 2000
MIN_SECTION_CHARS, MIN_HEADING_CHARS = 60, 6
K = 5


@dataclass(frozen=True)
class Section:
    heading: str
    text: str


class CachedEmbedder:
    """The built-in embedder, each text once."""

    batch = BuiltinEmbedder.batch
    id = BuiltinEmbedder.id

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "vectors"
        self._folder.mkdir(parents=True, exist_ok=True)
        self._model = BuiltinEmbedder()

    async def embed_query(self, text: str, egress: Egress | None = None) -> Vectors:
        return await self._cached("query", text)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return np.vstack([await self._cached("passage", text) for text in texts])

    async def close(self) -> None:
        await self._model.close()

    async def _cached(self, kind: str, text: str) -> Vectors:
        digest = hashlib.sha256(f"{self.id}\n{kind}\n{text}".encode()).hexdigest()
        path = self._folder / f"{digest}.npy"
        if not path.exists():
            if kind == "query":
                vector = await self._model.embed_query(text)
            else:
                (vector,) = await self._model.embed_passages([text])
            np.save(path, vector)
        return np.load(path)


class WholeExtractor(Extractor):
    """One chunk a document."""

    async def extract(self, name: str, data: bytes) -> Extracted:
        text = data.decode()
        return Extracted(text=text, chunks=(Chunk(start=0, end=len(text), heading=""),))


def fetch(cache: Path) -> None:
    cache.mkdir(parents=True, exist_ok=True)
    for package in PACKAGES.values():
        target = cache / package
        if target.exists():
            continue
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            subprocess.run(["apt-get", "download", package], cwd=folder, check=True)
            (archive,) = Path(folder).glob("*.deb")
            subprocess.run(["dpkg", "-x", archive, target], check=True)


def sections(cache: Path, package: str) -> dict[str, Section]:
    found: dict[str, Section] = {}
    for path in sorted((cache / package / "usr/share/doc/debian/FAQ").rglob("*.html")):
        if "index" in path.name:
            continue
        page = path.read_text(encoding="utf-8")
        parts = re.split(r'(<h[23] class="title">.*?</h[23]>)', page, flags=re.DOTALL)
        for head, body in zip(parts[1::2], parts[2::2], strict=True):
            anchor = re.search(r'<a id="([^"]+)"', head)
            if anchor:
                heading = re.sub(r"^(第)?\s*[\d.]+\s*(章)?\s*", "", plain(head))
                text = plain(re.split(r'<div class="navfooter"', body)[0])[:SECTION_CHARS]
                found[anchor[1]] = Section(heading, text)
    return {
        key: section
        for key, section in found.items()
        if len(section.text) >= MIN_SECTION_CHARS and len(section.heading) >= MIN_HEADING_CHARS
    }


def plain(markup: str) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", markup))).strip()


async def build(
    home: Path, embedder: CachedEmbedder, extractor: Extractor, texts: Sequence[str]
) -> Path:
    """A knowledge base with the texts as files `0.txt`, `1.txt`…; its folder."""
    knowledge = LocalKnowledge(home, embedder=embedder, extractor=extractor)
    base = await knowledge.create("faq")
    for number, text in enumerate(texts):
        await knowledge.add_bytes(base.id, f"{number}.txt", text.encode())
    await knowledge.embed_pending(
        report=lambda b: print(f"\rvectors {b.embedded}/{b.chunks} ", end="", file=sys.stderr)
    )
    (base,) = await knowledge.list()
    print(f"\r{base.files} sections, {base.chunks} chunks      ", file=sys.stderr)
    await extractor.close()
    await knowledge._threads.run(knowledge._indexes[base.id].close)  # reopened below
    knowledge._threads.close()
    return home / "knowledge" / base.id


def rank_of(index: Index, number: int, words: str, vector: Vectors | None) -> float:
    """The place of section `number` among the sections found; infinite if it is not."""
    candidates = index.search.candidates(words, vector, CachedEmbedder.id)
    best = ranking.ranked(candidates, len(candidates))
    passages = index.search.passages({c.chunk_id: score for c, score in best})
    names = list(dict.fromkeys(passage.file_name for passage in passages))
    name = f"{number}.txt"
    return names.index(name) + 1 if name in names else float("inf")


@dataclass(frozen=True)
class Score:
    at_1: float
    at_k: float
    mrr: float

    @classmethod
    def of(cls, ranks: Sequence[float]) -> "Score":
        array = np.array(ranks)
        return cls(
            float(np.mean(array == 1)), float(np.mean(array <= K)), float(np.mean(1 / array))
        )

    def __str__(self) -> str:
        return f"{self.at_1:.3f} / {self.at_k:.3f} / {self.mrr:.3f}"


async def compare(
    index: Index, embedder: CachedEmbedder, queries: Sequence[str]
) -> tuple[Score, Score, Score]:
    """By words, by meaning, by both."""
    ranks: tuple[list[float], ...] = ([], [], [])
    for number, query in enumerate(queries):
        vector = await embedder.embed_query(query)
        ranks[0].append(rank_of(index, number, query, None))
        ranks[1].append(rank_of(index, number, "", vector))
        ranks[2].append(rank_of(index, number, query, vector))
    return Score.of(ranks[0]), Score.of(ranks[1]), Score.of(ranks[2])


async def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = platformdirs.user_cache_path("inglenook") / "bench" / "debian-faq"
    parser.add_argument("--cache", type=Path, default=default)
    parser.add_argument("--only", default=",".join(PACKAGES))
    parser.add_argument("--sweep", action="store_true", help="other weights of words too")
    parser.add_argument("--whole", action="store_true", help="one chunk a section")
    args = parser.parse_args()
    fetch(args.cache)
    faq = {language: sections(args.cache, package) for language, package in PACKAGES.items()}
    ids = [key for key in faq["en"] if all(key in faq[language] for language in PACKAGES)]
    embedder = CachedEmbedder(args.cache)
    is_worse = False
    print(f"{len(ids)} sections; R@1 / R@{K} / MRR")
    print("| queries -> texts | words (BM25) | meaning | both | |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as home:
        for language in args.only.split(","):
            extractor = WholeExtractor() if args.whole else Extractor()
            texts = [faq[language][key].text for key in ids]
            folder = await build(Path(home, language), embedder, extractor, texts)
            index = Index(folder)
            for asked in [language] if language != "en" else list(PACKAGES):
                queries = [faq[asked][key].heading for key in ids]
                words, meaning, both = await compare(index, embedder, queries)
                holds = both.at_1 >= max(words.at_1, meaning.at_1) and both.at_k >= max(
                    words.at_k, meaning.at_k
                )
                is_worse = is_worse or (asked == language and not holds)
                verdict = "at least the better" if holds else "WORSE"
                if asked != language:
                    verdict = ""  # no promise across languages: words are of no help there
                print(f"| {asked} -> {language} | {words} | {meaning} | {both} | {verdict} |")
                if args.sweep and asked == language:
                    shipped = ranking.WORD_WEIGHT
                    for weight in (0.1, 0.15, 0.2, 0.25, 0.35, 0.4, 0.45, 0.5, 0.7, 1.0):
                        ranking.WORD_WEIGHT = weight
                        _, _, both = await compare(index, embedder, queries)
                        print(f"|   weight {weight} | | | {both} | |")
                    ranking.WORD_WEIGHT = shipped
            index.close()
    await embedder.close()
    return 1 if is_worse else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
