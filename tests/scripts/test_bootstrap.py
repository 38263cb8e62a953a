"""`make setup` fetches exactly the pinned uv, says what is missing, and does nothing twice."""

import hashlib
import importlib.util
import io
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "bootstrap.py"


@pytest.fixture
def bootstrap() -> Any:
    spec = importlib.util.spec_from_file_location("bootstrap", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def nothing(_: str) -> None:
    """In place of pip: there is none."""


def uv_wheel(version: str) -> bytes:
    script = "uv.exe" if sys.platform == "win32" else "uv"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(f"uv-{version}.data/scripts/{script}", f"#!/bin/sh\necho uv {version}\n")
    return buffer.getvalue()


class Index(BaseHTTPRequestHandler):
    def __init__(self, wheel: bytes, name: str, *arguments: Any) -> None:
        self._wheel, self._name = wheel, name
        super().__init__(*arguments)

    def do_GET(self) -> None:
        found = {
            "/simple/uv/": f'<a href="../../files/{self._name}#sha256=00">x</a>'.encode(),
            f"/files/{self._name}": self._wheel,
        }.get(self.path)
        self.send_response(200 if found else 404)
        self.end_headers()
        self.wfile.write(found or b"")

    def log_message(self, format: str, *args: object) -> None: ...


@pytest.fixture
def index(bootstrap: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[bytes]:
    """A package index on loopback that offers one small uv; no pip."""
    wheel = uv_wheel(bootstrap.UV_VERSION)
    name = f"uv-{bootstrap.UV_VERSION}-py3-none-{bootstrap._wheel_tag()}.whl"
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Index, wheel, name))
    Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("UV_DEFAULT_INDEX", f"http://127.0.0.1:{server.server_port}/simple/")
    monkeypatch.setattr(bootstrap, "_with_pip", nothing)
    yield wheel
    server.shutdown()
    server.server_close()


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for uv is a shell script")
def test_uv_comes_from_the_index_and_is_checked(
    bootstrap: Any, index: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pinned = {bootstrap._wheel_tag(): hashlib.sha256(index).hexdigest()}
    monkeypatch.setattr(bootstrap, "UV_WHEELS", pinned)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing-here"))
    assert bootstrap._find_uv(tmp_path / "uv") is None
    fetched = bootstrap._fetch_uv(tmp_path / "uv")
    assert bootstrap._uv_version(fetched) == (0, 13, 9)
    assert bootstrap._find_uv(tmp_path / "uv") == fetched
    assert [path.name for path in (tmp_path / "uv").iterdir()] == ["uv"]


def test_uv_with_another_checksum_is_not_used(bootstrap: Any, index: bytes, tmp_path: Path) -> None:
    with pytest.raises(bootstrap.SetupError, match="pinned is .*: not used"):
        bootstrap._fetch_uv(tmp_path / "uv")
    assert not (tmp_path / "uv").exists()


def test_without_network_it_says_what_to_do(
    bootstrap: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap, "_with_pip", nothing)
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:1/simple")
    with pytest.raises(bootstrap.SetupError, match="The first start needs a network") as caught:
        bootstrap._fetch_uv(tmp_path / "uv")
    assert "127.0.0.1:1" in str(caught.value)


def test_uv_that_is_too_old_is_passed_over(
    bootstrap: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    old = tmp_path / "uv"
    old.write_text("#!/bin/sh\necho uv 0.4.1\n")
    old.chmod(0o755)
    assert bootstrap._find_uv(tmp_path / "own") is None


def test_old_python_is_named_with_what_is_needed(
    bootstrap: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bootstrap, "NEEDED_PYTHON", (99, 1))
    assert bootstrap.main() == 1
    assert "needs Python 99.1 or newer" in capsys.readouterr().err


def test_finished_setup_runs_nothing(
    bootstrap: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = (
        tmp_path / ".venv" / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    )
    python.parent.mkdir(parents=True)
    python.touch()
    (tmp_path / ".venv" / "set-up-from.txt").write_text(bootstrap._lock_digest())

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("nothing was to be done")

    monkeypatch.setattr(subprocess, "run", refuse)
    bootstrap._set_up(tmp_path / ".venv", tmp_path / ".uv")


def test_changed_lock_installs_again(
    bootstrap: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[list[str]] = []

    def note(command: list[str], **_: object) -> Any:
        commands.append(command)
        return subprocess.CompletedProcess(command, 0, stdout="uv 0.13.9")

    def found(_: Path) -> str:
        return "uv"

    monkeypatch.setattr(subprocess, "run", note)
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "set-up-from.txt").write_text("an older lock")
    monkeypatch.setattr(bootstrap, "_find_uv", found)
    bootstrap._set_up(tmp_path / ".venv", tmp_path / ".uv")
    assert commands[-1][1:3] == ["sync", "--frozen"]
    stamp = (tmp_path / ".venv" / "set-up-from.txt").read_text()
    assert stamp == bootstrap._lock_digest()
