"""`inglenook kb …`: local knowledge bases."""

import json
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

from inglenook.bootstrap.runtime import open_runtime
from inglenook.cli.client import running_server
from inglenook.cli.library import embed, library_of, removed_if_empty, take_in
from inglenook.cli.render import Progress, counted, one_line, print_line
from inglenook.errors import NotFound
from inglenook.settings.load import Loaded


def _print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, indent=2) + "\n")


async def add(
    loaded: Loaded, *, name: str, paths: Sequence[Path], confidential: bool, as_json: bool
) -> int:
    """Exit code 1 if nothing could be read; a base that was made for it is then gone again."""
    progress = Progress()
    async with open_runtime(loaded) as runtime:
        library = library_of(runtime)
        try:
            base = await library.resolve(name)
            if confidential:
                await library.set_label(base.id, "confidential")
            made_here = AsyncExitStack()
        except NotFound:
            base = await library.create(name, "confidential" if confidential else "normal")
            made_here = removed_if_empty(library, base)
        async with made_here:
            outcomes = await take_in(library, base, paths, progress)
            base = await library.resolve(base.id)
        counts = Counter(outcome.status for outcome in outcomes)
        said = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
        progress.line(
            f"{base.name}: {said}; {counted(base.chunks, 'chunk')}, searchable by text now"
        )
        if base.embedded < base.chunks:
            if running_server(loaded.home) is None:
                await embed(library, progress)
            else:
                progress.line("the running server fills in the vectors", "dim")
    if as_json:
        _print_json(
            {
                "id": base.id,
                "name": base.name,
                "files": [asdict(outcome) for outcome in outcomes],
            }
        )
    return 1 if outcomes and counts["failed"] == len(outcomes) else 0


async def list_bases(loaded: Loaded, *, as_json: bool) -> int:
    async with open_runtime(loaded) as runtime:
        bases = await library_of(runtime).list()
    if as_json:
        _print_json(
            [
                {
                    "id": base.id,
                    "name": base.name,
                    "label": base.label,
                    "files": base.files,
                    "chunks": base.chunks,
                    "embedded": base.embedded,
                }
                for base in bases
            ]
        )
        return 0
    for base in bases:
        label = "  confidential" if base.label == "confidential" else ""
        print_line(
            f"{base.id}  {one_line(base.name)}  {counted(base.files, 'file')}, "
            f"{counted(base.chunks, 'chunk')}, {base.embedded} embedded{label}"
        )
    if not bases:
        Progress().line("no knowledge bases yet; `inglenook kb add NAME PATH` makes one", "dim")
    return 0


async def search(loaded: Loaded, *, name: str, query: str, k: int, as_json: bool) -> int:
    async with open_runtime(loaded) as runtime:
        library = library_of(runtime)
        passages = await library.search((await library.resolve(name)).id, query, k)
    if as_json:
        _print_json([asdict(passage) for passage in passages])
        return 0
    for passage in passages:
        place = passage.file_name + (f" § {passage.heading}" if passage.heading else "")
        print_line(f"{passage.score:.3f}  {one_line(place, 200)}")
        print_line(f"       {one_line(passage.text, 160)}")
    if not passages:
        Progress().line("nothing found", "dim")
    return 0


async def files(loaded: Loaded, *, name: str, as_json: bool) -> int:
    async with open_runtime(loaded) as runtime:
        library = library_of(runtime)
        documents = await library.files((await library.resolve(name)).id)
    if as_json:
        _print_json([asdict(document) for document in documents])
        return 0
    for document in documents:
        print_line(f"{document.id}  {one_line(document.name, 300)}")
    return 0


async def remove(loaded: Loaded, *, name: str, as_json: bool) -> int:
    async with open_runtime(loaded) as runtime:
        library = library_of(runtime)
        base = await library.resolve(name)
        await library.remove(base.id)
    if as_json:
        _print_json({"removed": base.id})
    else:
        Progress().line(f"removed {base.name}; the documents stay where they are")
    return 0
