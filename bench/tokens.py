"""How far the token estimate is from a real tokenizer's count: the demo model's, by kind of text.

    python -m bench.tokens [--cache FOLDER]

Needs the demo model's weights (`inglenook models pull`) and apt, for the Debian FAQ in four
languages. Prints counted / estimated for each kind; 1.0 is exact.
"""

import argparse
import asyncio
import json
from collections.abc import Iterable
from pathlib import Path
from statistics import median

import aiohttp
import platformdirs

from bench.retrieval_faq import PACKAGES, fetch, sections
from inglenook.context.tokens import text_estimate
from inglenook.providers.demo_model import DemoModel
from inglenook.providers.demo_weights import DemoWeights
from inglenook.store.locks import FileLock

PIECE_CHARS = 4_000
PIECES = 20


def texts(cache: Path) -> dict[str, str]:
    source = Path(__file__).parents[1]
    rows = [
        {"id": n, "name": f"row {n}", "price": n * 1.37, "open": n % 2 == 0} for n in range(4_000)
    ]
    kinds = {
        "Python": joined(source.glob("src/**/*.py")),
        "TypeScript": joined(source.glob("frontend/src/**/*.ts*")),
        "Markdown": joined(source.glob("docs/**/*.md")),
        "JSON": json.dumps(rows),
        "CSV of numbers": "\n".join(f"{n},{n * 37 % 9_973},{n * 0.731:.3f}" for n in range(8_000)),
    }
    fetch(cache)
    for language, package in PACKAGES.items():
        parts = sections(cache, package).values()
        kinds[f"prose, {language}"] = "\n".join(part.text for part in parts)
    return kinds


def joined(paths: Iterable[Path]) -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(paths))


async def counted(session: aiohttp.ClientSession, url: str, key: str, text: str) -> int:
    headers = {"Authorization": f"Bearer {key}"}
    async with session.post(f"{url}/tokenize", json={"content": text}, headers=headers) as answer:
        return len((await answer.json())["tokens"])


async def main() -> None:
    default = platformdirs.user_cache_path("inglenook") / "bench" / "debian-faq"
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, default=default)
    args = parser.parse_args()
    models = platformdirs.user_cache_path("inglenook")
    weights = DemoWeights(models / "models", FileLock(models / "models.lock"))
    demo = DemoModel(weights, models / "bench" / "demo-model.log")
    (models / "bench").mkdir(parents=True, exist_ok=True)
    spec = await demo.ensure(lambda _: None)
    url = spec.base_url.removesuffix("/v1")
    print(f"| {'text':20} | counted / estimated, median | lowest | highest |\n|---|---:|---:|---:|")
    async with aiohttp.ClientSession() as session:
        for kind, text in texts(args.cache).items():
            pieces = [text[at : at + PIECE_CHARS] for at in range(0, len(text), PIECE_CHARS)]
            step = max(1, len(pieces) // PIECES)
            ratios: list[float] = []
            for piece in pieces[::step][:PIECES]:
                tokens = await counted(session, url, spec.api_key or "", piece)
                ratios.append(tokens / text_estimate(piece))
            print(f"| {kind:20} | {median(ratios):.2f} | {min(ratios):.2f} | {max(ratios):.2f} |")
    await demo.stop()


if __name__ == "__main__":
    asyncio.run(main())
