"""Gets one wheel of an exact version from the package index, as bytes; nothing is installed.

With pip where there is one, since it knows the user's index, proxy and credentials; else over
the index's own simple API.
"""

import asyncio
import hashlib
import json
import re
import sys
import tempfile
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Protocol
from urllib.parse import urldefrag, urljoin

import aiohttp

from inglenook.errors import ProviderError, shown_address

SIMPLE_JSON = "application/vnd.pypi.simple.v1+json"
ACCEPT = f"{SIMPLE_JSON}, text/html;q=0.1"
MAX_LISTING_BYTES = 32 << 20
PIP_TIMEOUT_S = 1800


class WheelIndex(Protocol):
    async def wheel(self, package: str, version: str, *, max_bytes: int) -> bytes:
        """The bytes of the package's platform-independent wheel.

        Checked by the hash that the index gives, where it gives one.

        Raises:
            ProviderError: It cannot be had; says why.
        """
        ...


class PipIndex:
    """`pip download` of another interpreter or this one."""

    def __init__(self, python: str, folder: Path) -> None:
        """`folder` takes the wheel for a moment; it must be on a disk with room for it."""
        self._python = python
        self._folder = folder

    @staticmethod
    async def find(folder: Path) -> "PipIndex | None":
        """One that works: of this interpreter, or of the one that its environment came from."""
        base = "python.exe" if sys.platform == "win32" else "bin/python3"
        for python in dict.fromkeys((sys.executable, str(Path(sys.base_prefix) / base))):
            try:
                code, _ = await _output(python, "-m", "pip", "--version")
            except OSError:
                continue
            if code == 0:
                return PipIndex(python, folder)
        return None

    async def wheel(self, package: str, version: str, *, max_bytes: int) -> bytes:
        with tempfile.TemporaryDirectory(dir=self._folder, prefix="wheel-") as folder:
            options = ["--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--retries", "1"]
            target = f"{package}=={version}"
            pip = [self._python, "-m", "pip", "download", "-q", *options, "-d", folder, target]
            try:
                async with asyncio.timeout(PIP_TIMEOUT_S):
                    code, said = await _output(*pip)
            except TimeoutError:
                raise ProviderError(f"pip took over {PIP_TIMEOUT_S} s for {target}") from None
            if code != 0:
                raise ProviderError(f"pip could not download {target}: {_last_line(said)}")
            return await asyncio.to_thread(_only_wheel, Path(folder), max_bytes)


def _only_wheel(folder: Path, max_bytes: int) -> bytes:
    (wheel,) = folder.glob("*.whl")
    if (size := wheel.stat().st_size) > max_bytes:
        raise ProviderError(f"{wheel.name} has {size:,} bytes; expected at most {max_bytes:,}")
    return wheel.read_bytes()


class SimpleIndex:
    """The index's simple API, JSON or HTML.

    Source: https://packaging.python.org/en/latest/specifications/simple-repository-api/
    """

    def __init__(self, session: aiohttp.ClientSession, index_url: str) -> None:
        self._session = session
        self._index_url = index_url.rstrip("/")

    async def wheel(self, package: str, version: str, *, max_bytes: int) -> bytes:
        name = re.sub(r"[-_.]+", "_", package)
        wanted = f"{name}-{version}-py3-none-any.whl"
        listing = f"{self._index_url}/{package}/"
        shown = shown_address(self._index_url)
        try:
            async with self._session.get(listing, headers={"Accept": ACCEPT}) as response:
                response.raise_for_status()
                text = (await _bounded(response, MAX_LISTING_BYTES)).decode("utf-8", "replace")
                is_json, base = response.content_type.endswith("+json"), str(response.url)
            files = _json_files(text) if is_json else _html_files(text)
            found = next((each for each in files if each[0] == wanted), None)
            if found is None:
                raise ProviderError(f"{shown} does not offer {wanted}")
            _, url, sha256 = found
            async with self._session.get(urljoin(base, url)) as response:
                response.raise_for_status()
                data = await _bounded(response, max_bytes)
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise ProviderError(f"{wanted} from {shown}: {_words(error)}") from error
        if sha256 and hashlib.sha256(data).hexdigest() != sha256:
            raise ProviderError(f"{wanted} differs from the checksum that its index gives")
        return data


async def _output(*command: str) -> tuple[int, str]:
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        said, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode or 0, said.decode("utf-8", "replace")


async def _bounded(response: aiohttp.ClientResponse, max_bytes: int) -> bytes:
    data = bytearray()
    async for chunk in response.content.iter_any():
        data += chunk
        if len(data) > max_bytes:
            raise ProviderError(f"{response.url} sends more than {max_bytes:,} bytes")
    return bytes(data)


def _json_files(text: str) -> Iterator[tuple[str, str, str]]:
    for file in json.loads(text)["files"]:
        yield file["filename"], file["url"], file["hashes"].get("sha256", "")


class _Anchors(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.links += [value for name, value in attrs if name == "href" and value]


def _html_files(text: str) -> Iterator[tuple[str, str, str]]:
    parser = _Anchors()
    parser.feed(text)
    for link in parser.links:
        url, fragment = urldefrag(link)
        yield url.rsplit("/", 1)[-1], url, fragment.removeprefix("sha256=")


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return next((line for line in reversed(lines) if "ERROR" in line), lines[-1] if lines else "?")


def _words(error: BaseException) -> str:
    return str(error) or type(error).__name__
