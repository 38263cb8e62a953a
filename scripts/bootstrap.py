#!/usr/bin/env python3
"""Makes `.venv` ready for `make`: finds or fetches uv, then installs what `uv.lock` pins.

Needs Python 3.11 and nothing else: no pip, no venv module. A second run with an unchanged lock
only compares a checksum.
"""

import contextlib
import hashlib
import json
import os
import platform
import re
import shutil
import ssl
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NEEDED_PYTHON = (3, 11)
OLDEST_UV = (0, 8)
"""Older ones cannot read the lock file."""
UV_VERSION = "0.13.9"
UV_WHEELS = {
    "macosx_10_12_x86_64": "c16ed11e013557536b3e60065f1b912f6407bd6518e041b961e23ef9e6b4fbf5",
    "macosx_11_0_arm64": "66c512266d633bef48384a1f53003f41f2a8e7b36fe6e7fbfd3e0fd52d96fa63",
    "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64": (
        "5435c5ce14a56431208ca0996416d310f1598e8c2c8ba707688985a16bb82dbe"
    ),
    "manylinux_2_28_aarch64": "ecb6028d79dc96fbeafffe5c8af62a7099487ebc05a701e76714eebcffd06375",
    "manylinux_2_17_x86_64.manylinux2014_x86_64": (
        "d7f459fe4fd247d830351c75686d3996ace3c6f3f728eb0e85a30b7ada0cef19"
    ),
    "musllinux_1_1_x86_64": "2c45530751517d6c3bbc69a19473f6effe47cce047bede01ffd8af7ea7b36b25",
    "win_amd64": "6a44b2ed8111d2f60d2b92627c5dccda3f7ed7570b18ce115e569cd68c28246b",
    "win_arm64": "eeb92051c2123b9730c46b04cc843cfa4bc7d7b0aec56df431a2215ef4cb0273",
}
"""SHA-256 of each of this version's wheels, as the package index gives them."""
PUBLIC_INDEX = "https://pypi.org/simple"
TIMEOUT_S = 60
IS_WINDOWS = sys.platform == "win32"


class SetupError(Exception):
    """The message is for the person at the terminal."""


def main() -> int:
    if sys.version_info < NEEDED_PYTHON:
        wanted, found = _dotted(NEEDED_PYTHON), platform.python_version()
        print(
            f"Inglenook needs Python {wanted} or newer; {sys.executable} is {found}.\n"
            f"Install a newer one and name it: make PYTHON=python{wanted} run",
            file=sys.stderr,
        )
        return 1
    try:
        _set_up(ROOT / ".venv", ROOT / ".uv")
    except SetupError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _set_up(venv: Path, uv_folder: Path) -> None:
    python = venv / ("Scripts/python.exe" if IS_WINDOWS else "bin/python")
    stamp, wanted = venv / "set-up-from.txt", _lock_digest()
    if python.exists() and stamp.is_file() and stamp.read_text(encoding="ascii") == wanted:
        return
    uv = _find_uv(uv_folder) or _fetch_uv(uv_folder)
    _say(f"Installing what uv.lock pins into {venv.name} …")
    settings = {
        # Start-up time depends on it: the first run would otherwise compile 2,000 files.
        "UV_COMPILE_BYTECODE": "1",
        "UV_PYTHON_DOWNLOADS": "never",
        # Companies put their own authority into the system's store.
        "UV_SYSTEM_CERTS": "1",
        "UV_NATIVE_TLS": "1",
        "UV_PROJECT_ENVIRONMENT": str(venv),
    }
    command = [uv, "sync", "--frozen", "--quiet", "--python", sys.executable]
    done = subprocess.run(command, cwd=ROOT, env={**settings, **os.environ}, check=False)
    if done.returncode != 0:
        raise SetupError(
            f"uv could not install the locked packages (its own words are above). Without a "
            f"network the packages must be in uv's cache; behind a proxy set HTTPS_PROXY. "
            f"Try again with: make setup ({uv} sync --frozen)"
        )
    stamp.write_text(wanted, encoding="ascii")


def _lock_digest() -> str:
    digest = hashlib.sha256()
    for name in ("uv.lock", "pyproject.toml"):
        digest.update((ROOT / name).read_bytes())
    return digest.hexdigest()


def _find_uv(folder: Path) -> "str | None":
    own = folder / ("uv.exe" if IS_WINDOWS else "uv")
    for candidate in (shutil.which("uv"), str(own)):
        if candidate and _uv_version(candidate) >= OLDEST_UV:
            return candidate
    return None


def _uv_version(uv: str) -> "tuple[int, ...]":
    try:
        said = subprocess.run([uv, "--version"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return ()
    found = re.search(r"(\d+)\.(\d+)\.(\d+)", said)
    return tuple(int(part) for part in found.groups()) if found else ()


def _fetch_uv(folder: Path) -> str:
    tag = _wheel_tag()
    name = f"uv-{UV_VERSION}-py3-none-{tag}.whl"
    _say(f"Fetching uv {UV_VERSION}, which installs the rest …")
    wheel = _with_pip(name) or _with_urllib(name)
    digest = hashlib.sha256(wheel).hexdigest()
    if digest != UV_WHEELS[tag]:
        raise SetupError(
            f"{name} has SHA-256 {digest}, pinned is {UV_WHEELS[tag]}: not used. "
            "Install uv yourself (https://docs.astral.sh/uv) and run make again."
        )
    return _unpack(wheel, folder)


def _unpack(wheel: bytes, folder: Path) -> str:
    folder.mkdir(exist_ok=True)
    target = folder / ("uv.exe" if IS_WINDOWS else "uv")
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        archive = Path(scratch, "uv.whl")
        archive.write_bytes(wheel)
        fresh = Path(scratch, target.name)
        with zipfile.ZipFile(archive) as packed:
            fresh.write_bytes(packed.read(f"uv-{UV_VERSION}.data/scripts/{target.name}"))
        fresh.chmod(0o755)
        fresh.replace(target)
    return str(target)


def _wheel_tag() -> str:
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(
        platform.machine().lower(), platform.machine().lower()
    )
    libc = "manylinux" if platform.libc_ver()[0] == "glibc" else "musllinux"
    tag = {
        ("linux", "x86_64", "manylinux"): "manylinux_2_17_x86_64.manylinux2014_x86_64",
        ("linux", "x86_64", "musllinux"): "musllinux_1_1_x86_64",
        ("linux", "aarch64", "manylinux"): "manylinux_2_28_aarch64",
        ("linux", "aarch64", "musllinux"): (
            "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64"
        ),
    }.get((sys.platform, machine, libc)) or {
        ("darwin", "x86_64"): "macosx_10_12_x86_64",
        ("darwin", "aarch64"): "macosx_11_0_arm64",
        ("win32", "x86_64"): "win_amd64",
        ("win32", "aarch64"): "win_arm64",
    }.get((sys.platform, machine))
    if tag is None:
        raise SetupError(
            f"No uv is pinned for {sys.platform} on {machine}. "
            "Install uv yourself (https://docs.astral.sh/uv) and run make again."
        )
    return tag


def _with_pip(name: str) -> "bytes | None":
    """By pip, where there is one: it knows the user's index, proxy and certificates."""
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", folder]
        pip += ["--only-binary", ":all:", "--disable-pip-version-check", f"uv=={UV_VERSION}"]
        done = subprocess.run(pip, capture_output=True, check=False)
        found = Path(folder, name)
        return found.read_bytes() if done.returncode == 0 and found.is_file() else None


def _with_urllib(name: str) -> bytes:
    """From the index's simple API, JSON or HTML."""
    index = os.environ.get("UV_DEFAULT_INDEX") or os.environ.get("PIP_INDEX_URL") or PUBLIC_INDEX
    listing = f"{index.rstrip('/')}/uv/"
    try:
        text = _get(listing).decode("utf-8", "replace")
        urls = [url for url in _links(text) if url.split("#")[0].endswith(f"/{name}")]
        if not urls:
            raise SetupError(f"{listing} does not offer {name}.")
        return _get(urllib.parse.urljoin(listing, urls[0]))
    except (urllib.error.URLError, TimeoutError, ValueError, OSError) as error:
        raise SetupError(
            f"uv cannot be fetched from {listing} ({error}).\n"
            "The first start needs a network: the package index, once. Behind a mirror set "
            "UV_DEFAULT_INDEX, behind a proxy HTTPS_PROXY, with an own authority SSL_CERT_FILE; "
            "or install uv yourself (https://docs.astral.sh/uv). Then run make again."
        ) from error


def _get(url: str) -> bytes:
    if not url.startswith(("https://", "http://")):
        raise ValueError(f"{url} is no web address")
    accept = "application/vnd.pypi.simple.v1+json, text/html;q=0.1"
    request = urllib.request.Request(url, headers={"Accept": accept})
    context = ssl.create_default_context()  # reads SSL_CERT_FILE
    with contextlib.closing(
        urllib.request.urlopen(request, timeout=TIMEOUT_S, context=context)
    ) as response:
        return response.read()


def _links(text: str) -> "list[str]":
    if text.lstrip().startswith("{"):
        return [file["url"] for file in json.loads(text)["files"]]
    return re.findall(r"""href=["']([^"']+)""", text)


def _dotted(version: "tuple[int, ...]") -> str:
    return ".".join(str(part) for part in version)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
