"""What the commands share around local knowledge bases: names to ids, files to a base, progress."""

import hashlib
import os
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from inglenook.bootstrap.runtime import Runtime, open_runtime
from inglenook.cli.render import Progress, counted
from inglenook.errors import InvalidRequest, NotFound
from inglenook.knowledge.base import KnowledgeBase
from inglenook.knowledge.ingest import FileOutcome
from inglenook.knowledge.knowledge_folder import name_key
from inglenook.knowledge.local import LocalKnowledge
from inglenook.settings.load import Loaded

GLYPHS = {"added": "+", "updated": "~", "unchanged": "=", "removed": "-", "failed": "✕"}


def library_of(runtime: Runtime) -> LocalKnowledge:
    """
    Raises:
        InvalidRequest: Knowledge lives in Open WebUI, which keeps it itself.
    """
    if runtime.library is None:
        raise InvalidRequest(
            "knowledge bases are kept in Open WebUI here",
            hint='Add documents there, or set [knowledge] provider = "local".',
        )
    return runtime.library


async def resolve_bases(loaded: Loaded, names: Sequence[str]) -> list[str]:
    """Ids of the knowledge bases that a user named by id or name.

    Raises:
        NotFound: One of them is unknown; lists those that there are.
        InvalidRequest: A name stands for several.
    """
    if not names:
        return []
    async with open_runtime(loaded) as runtime:
        if runtime.library is not None:
            return [(await runtime.library.resolve(name)).id for name in names]
        if loaded.open_webui_key is None:
            return list(names)  # the run itself is refused then, with the way out
        bases = await runtime.knowledge.list(loaded.open_webui_key)
        return [_id_among(bases, name) for name in names]


def _id_among(bases: Sequence[KnowledgeBase], id_or_name: str) -> str:
    """In Open WebUI several knowledge bases may have one name."""
    for base in bases:
        if base.id == id_or_name:
            return base.id
    named = [base.id for base in bases if name_key(base.name) == name_key(id_or_name)]
    if len(named) == 1:
        return named[0]
    if named:
        raise InvalidRequest(
            f"{len(named)} knowledge bases in Open WebUI are called {id_or_name!r}",
            hint=f"Take the id of one: {', '.join(named)}.",
        )
    names = ", ".join(repr(base.name) for base in bases[:20]) or "none"
    raise NotFound(f"Open WebUI shows you no knowledge base {id_or_name!r}; you have: {names}")


@asynccontextmanager
async def removed_if_empty(library: LocalKnowledge, base: KnowledgeBase) -> AsyncGenerator[None]:
    """Around filling a base that was made for it: if nothing came in, it is gone again."""
    try:
        yield
    finally:
        if not await library.files(base.id):
            await library.remove(base.id)


async def take_in(
    library: LocalKnowledge, base: KnowledgeBase, paths: Sequence[Path], progress: Progress
) -> list[FileOutcome]:
    """Ingest with a line for each file that changed or failed, then embed with progress."""
    outcomes: list[FileOutcome] = []

    def report(outcome: FileOutcome, done: int, total: int) -> None:
        outcomes.append(outcome)
        if outcome.status == "unchanged":
            return
        text = f"{done}/{total} {GLYPHS[outcome.status]} {outcome.name}"
        if outcome.reason:
            text += f": {outcome.reason}"
        progress.line(text, "red" if outcome.status == "failed" else "dim")

    await library.add_paths(base.id, paths, report)
    return outcomes


async def embed(library: LocalKnowledge, progress: Progress) -> None:
    """Fill in the missing vectors in the foreground; text search works all the while."""
    shown = ""

    def report(base: KnowledgeBase) -> None:
        nonlocal shown
        line = f"vectors: {base.embedded} of {counted(base.chunks, 'chunk')}"
        if sys.stderr.isatty() and shown:
            sys.stderr.write("\x1b[1A\x1b[2K")
        if sys.stderr.isatty() or base.embedded == base.chunks:
            progress.line(line, "dim")
        shown = line

    await library.embed_pending(report=report)


async def adhoc_base(loaded: Loaded, files: Sequence[Path], progress: Progress) -> str:
    """A knowledge base of just these files, made once for the same paths; its id."""
    paths = sorted(str(path.resolve()) for path in files)
    name = "files-" + hashlib.sha256(os.fsencode("\n".join(paths))).hexdigest()[:8]
    async with open_runtime(loaded) as runtime:
        library = library_of(runtime)
        known = {base.name: base for base in await library.list()}
        base = known.get(name) or await library.create(name)
        async with removed_if_empty(library, base):
            outcomes = await take_in(library, base, files, progress)
            if all(outcome.status == "failed" for outcome in outcomes):
                raise InvalidRequest("none of the files could be read", field="file")
        if name not in known:
            progress.line(f"kept as knowledge base {name} (`inglenook kb remove {name}`)", "dim")
        await embed(library, progress)
        return base.id
