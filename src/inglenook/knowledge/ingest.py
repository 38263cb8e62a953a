"""Files and folders into one index: what changed is read again, what did not costs a stat.

Links in a folder are not followed: one to another place in it is passed over, as its target is
read anyway, one that leads out of it is reported. Hidden files are passed over. A file that cannot
be read is reported and the others go on; its earlier version, if any, stays searchable.
"""

import asyncio
import hashlib
import os
import stat
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from inglenook.errors import InvalidRequest, StoreError
from inglenook.knowledge.extract import (
    KINDS_TEXT,
    MAX_FILE_BYTES,
    Extractor,
    UnreadableDocument,
    kind_of,
    too_large,
)
from inglenook.knowledge.file_names import printable_name
from inglenook.knowledge.index import FileStamp, Index, IndexedFile
from inglenook.knowledge.threads import Threads

Status = Literal["added", "updated", "unchanged", "removed", "failed"]


@dataclass(frozen=True, kw_only=True)
class FileOutcome:
    name: str
    status: Status
    file_id: str | None = None
    reason: str | None = None
    """Of `failed`: why, for people, without the name."""


Report = Callable[[FileOutcome, int, int], None]
"""Called for each file with its outcome, how many are done and how many there are."""


@dataclass(frozen=True, kw_only=True)
class FoundFile:
    path: str
    name: str
    """Printable, whatever `path` holds."""
    size_bytes: int
    mtime_ns: int


@dataclass(kw_only=True)
class Scan:
    files: list[FoundFile] = field(default_factory=list[FoundFile])
    failed: list[FileOutcome] = field(default_factory=list[FileOutcome])
    folders: list[str] = field(default_factory=list[str])
    """Read to the last file, so that what is missing in them is gone."""


async def ingest(
    index: Index,
    paths: Sequence[Path],
    *,
    extractor: Extractor,
    threads: Threads,
    report: Report,
) -> None:
    """Take `paths` in; files gone from a folder that was added before are removed.

    Raises:
        InvalidRequest: A path does not exist, or nothing in them is of a kind that is read.
        StoreError: The index cannot be written; what was done until then stays.
    """
    scan = await threads.run(scan_paths, paths)
    known = await threads.run(index.files_by_path)
    again = await threads.run(index.add_roots, scan.folders)
    gone = _gone(known, scan, again)
    changed = [file for file in scan.files if not _looks_unchanged(file, known.get(file.path))]
    tally = _Tally(report, len(scan.files) + len(scan.failed) + len(gone))
    for outcome in scan.failed:
        tally.add(outcome)
    waiting = set(map(id, changed))
    for file in scan.files:
        if id(file) not in waiting:
            file_id = known[file.path].id
            tally.add(FileOutcome(name=file.name, status="unchanged", file_id=file_id))
    intake = _Intake(index, extractor, threads, known)
    await _in_parallel(changed, extractor.workers + 1, intake.take, tally)
    if gone:
        await threads.run(index.delete, [file.id for file in gone])
        for file in gone:
            tally.add(FileOutcome(name=file.name, status="removed", file_id=file.id))
    await threads.run(index.purge)


async def ingest_bytes(
    index: Index, name: str, data: bytes, *, extractor: Extractor, threads: Threads
) -> FileOutcome:
    """One uploaded file; it replaces an earlier upload of the same name.

    Raises:
        UnreadableDocument: It was not taken in.
        StoreError: As `ingest`.
    """
    path = f"upload:{name}"
    known = (await threads.run(index.files_by_path)).get(path)
    stamp = FileStamp(
        size_bytes=len(data),
        mtime_ns=0,
        sha256=await threads.run(lambda: hashlib.sha256(data).digest()),
    )
    if known and known.stamp.sha256 == stamp.sha256:
        return FileOutcome(name=name, status="unchanged", file_id=known.id)
    document = await extractor.extract(name, data)
    file_id = await threads.run(index.put, path=path, name=name, stamp=stamp, document=document)
    await threads.run(index.purge)
    return FileOutcome(name=name, status="updated" if known else "added", file_id=file_id)


def scan_paths(paths: Sequence[Path]) -> Scan:
    """
    Raises:
        InvalidRequest: As `ingest`.
    """
    scan = Scan()
    seen: set[str] = set()
    for given in paths:
        path = given.expanduser()
        try:
            path = path.resolve(strict=True)
            is_folder = path.is_dir()
        except OSError as error:
            raise InvalidRequest(
                f"{str(given)!r}: {error.strerror or 'not found'}. Check the path.", field="paths"
            ) from error
        files = _scan_folder(path, scan) if is_folder else _scan_file(path, path.name, scan)
        for file in files:
            if file.path not in seen:
                seen.add(file.path)
                scan.files.append(file)
    scan.files.sort(key=lambda file: file.path)
    return scan


def _scan_folder(root: Path, scan: Scan) -> list[FoundFile]:
    files: list[FoundFile] = []
    closed: list[FileOutcome] = []

    def unwalkable(error: OSError) -> None:
        closed.append(_failed(str(error.filename), error.strerror or "it cannot be read"))

    for folder, folders, names in os.walk(root, onerror=unwalkable):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(folder, name)
            if not kind_of(name) or name.startswith((".", "~$")):
                continue
            if not (path.is_symlink() and path.resolve().is_relative_to(root)):
                files += _scan_file(path, path.relative_to(root).as_posix(), scan)
    scan.failed += closed
    if not closed and not files:
        raise InvalidRequest(
            f"{str(root)!r}: no file in this folder is of a kind that is read here ({KINDS_TEXT}).",
            field="paths",
        )
    if not closed:
        scan.folders.append(str(root))
    return files


def _scan_file(path: Path, name: str, scan: Scan) -> Iterator[FoundFile]:
    try:
        status = path.lstat()
    except OSError as error:
        scan.failed.append(_failed(name, error.strerror or "it cannot be read"))
        return
    if stat.S_ISLNK(status.st_mode):
        scan.failed.append(_failed(name, "a link out of its folder is not followed"))
    elif not stat.S_ISREG(status.st_mode):
        scan.failed.append(_failed(name, "not a regular file"))
    else:
        yield FoundFile(
            path=str(path),
            name=printable_name(name),
            size_bytes=status.st_size,
            mtime_ns=status.st_mtime_ns,
        )


def _failed(name: str, reason: str) -> FileOutcome:
    return FileOutcome(name=printable_name(name), status="failed", reason=reason)


def _gone(known: dict[str, IndexedFile], scan: Scan, again: set[str]) -> list[IndexedFile]:
    present = {file.path for file in scan.files}
    inside = tuple(folder.rstrip(os.sep) + os.sep for folder in again)
    return [f for path, f in known.items() if path.startswith(inside) and path not in present]


def _looks_unchanged(file: FoundFile, known: IndexedFile | None) -> bool:
    return known is not None and (
        (known.stamp.size_bytes, known.stamp.mtime_ns) == (file.size_bytes, file.mtime_ns)
    )


class _Tally:
    def __init__(self, report: Report, total: int) -> None:
        self._report = report
        self._total = total
        self._done = 0

    def add(self, outcome: FileOutcome) -> None:
        self._done += 1
        self._report(outcome, self._done, self._total)


class _Intake:
    def __init__(
        self,
        index: Index,
        extractor: Extractor,
        threads: Threads,
        known: dict[str, IndexedFile],
    ) -> None:
        self._index = index
        self._extractor = extractor
        self._threads = threads
        self._known = known

    async def take(self, file: FoundFile) -> FileOutcome:
        known = self._known.get(file.path)
        try:
            stamp, data = await self._threads.run(_load, file, known)
            if data is None:
                assert known
                await self._threads.run(self._index.touch, known.id, stamp)
                return FileOutcome(name=file.name, status="unchanged", file_id=known.id)
            document = await self._extractor.extract(file.name, data)
        except (OSError, UnreadableDocument) as error:
            reason = (
                error.reason
                if isinstance(error, UnreadableDocument)
                else error.strerror or "it cannot be read"
            )
            kept = " (its earlier version stays searchable)" if known else ""
            return _failed(file.name, reason + kept)
        file_id = await self._threads.run(
            self._index.put, path=file.path, name=file.name, stamp=stamp, document=document
        )
        return FileOutcome(name=file.name, status="updated" if known else "added", file_id=file_id)


def _load(file: FoundFile, known: IndexedFile | None) -> tuple[FileStamp, bytes | None]:
    """The file's stamp and its bytes; None for bytes that are known already."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(file.path, flags | getattr(os, "O_BINARY", 0))
    with os.fdopen(descriptor, "rb") as source:
        status = os.fstat(source.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableDocument(file.name, "not a regular file")
        if status.st_size > MAX_FILE_BYTES:
            raise UnreadableDocument(file.name, too_large(status.st_size))
        data = source.read(MAX_FILE_BYTES + 1)
    digest = hashlib.sha256(data).digest()
    stamp = FileStamp(size_bytes=status.st_size, mtime_ns=status.st_mtime_ns, sha256=digest)
    return stamp, None if known and known.stamp.sha256 == digest else data


async def _in_parallel(
    files: Sequence[FoundFile],
    width: int,
    take: Callable[[FoundFile], Awaitable[FileOutcome]],
    tally: _Tally,
) -> None:
    left = iter(files)
    faults: list[StoreError] = []

    async def work() -> None:
        for file in left:
            if faults:
                return
            try:
                tally.add(await take(file))
            except StoreError as fault:
                faults.append(fault)

    async with asyncio.TaskGroup() as group:
        for _ in range(min(width, len(files))):
            group.create_task(work())
    if faults:
        raise faults[0]
