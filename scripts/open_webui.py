#!/usr/bin/env python3
"""A real Open WebUI on loopback, installed into `.live/`: for `make test-live`, and to try things.

    .venv/bin/python scripts/open_webui.py           # runs until Ctrl-C; its data stays in .live/
    .venv/bin/python scripts/open_webui.py --lock    # after VERSION or LEFT_OUT was changed

The package index is needed once, and no network after that. What Open WebUI would embed texts with
is left out of the installation; `WordVectors` takes its place, so what is found rests on words.
"""

import hashlib
import json
import math
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".live" / "open-webui"
REQUIREMENTS = ROOT / "tests" / "live" / "requirements-open-webui.txt"
VERSION = "0.12.4"
LEFT_OUT = (
    *("accelerate", "einops", "onnxruntime", "sentence-transformers", "sentencepiece", "torch"),
    *("faster-whisper", "opencv-python-headless", "rapidocr", "soundfile", "transformers"),
    *("azure-ai-documentintelligence", "ddgs", "opensearch-py", "pymysql"),
    "youtube-transcript-api",
)
"""What Open WebUI asks for and runs without: models of its own (2 GB), speech, pictures, and
services that nothing here uses."""
START_TIMEOUT_S = 600
"""It takes 12 s, and some 40 s after an installation; a loaded machine may take much longer."""
STOP_TIMEOUT_S = 30
PORTS = range(20_000, 32_000)
"""Below the ports that systems hand out to outgoing connections: it binds its port seconds after
that was found to be free."""
IS_WINDOWS = sys.platform == "win32"


class CannotInstall(Exception):
    """The message says why, for the person at the terminal."""


class DidNotStart(Exception): ...


def install() -> Path:
    """Its executable, installed if it is not.

    Raises:
        CannotInstall: There is no uv, no package index, or no package for this machine.
    """
    venv = HOME / "venv"
    python, program = (_program(venv, name) for name in ("python", "open-webui"))
    stamp, wanted = venv / "installed-from.txt", _digest()
    if program.exists() and stamp.is_file() and stamp.read_text(encoding="ascii") == wanted:
        return program
    print(f"Installing Open WebUI {VERSION} into {HOME.relative_to(ROOT)} …", file=sys.stderr)
    shutil.rmtree(venv, ignore_errors=True)
    _uv("venv", "--quiet", "--python", sys.executable, str(venv))
    # The list is complete. Wheels alone: nothing is built, so no compiler is needed.
    options = ("--quiet", "--no-deps", "--only-binary", ":all:", "--python", str(python))
    _uv("pip", "install", *options, "--requirement", str(REQUIREMENTS))
    stamp.write_text(wanted, encoding="ascii")
    return program


def lock() -> None:
    """Write anew what is installed: all that Open WebUI needs without what is left out."""
    HOME.mkdir(parents=True, exist_ok=True)
    wanted, left_out = HOME / "wanted.txt", HOME / "left-out.txt"
    wanted.write_text(f"open-webui=={VERSION}\n", encoding="ascii")
    left_out.write_text("\n".join(LEFT_OUT) + "\n", encoding="ascii")
    options = ("--quiet", "--universal", "--no-annotate", "--no-header", "--python-version", "3.11")
    files = ("--excludes", str(left_out), "--output-file", str(REQUIREMENTS), str(wanted))
    _uv("pip", "compile", "--upgrade", *options, *files)
    head = (
        "# All of Open WebUI that `make test-live` needs: scripts/open_webui.py --lock wrote it.\n"
    )
    REQUIREMENTS.write_text(head + REQUIREMENTS.read_text(encoding="utf-8"), encoding="utf-8")


class WordVectors:
    """An OpenAI-compatible embedding server: texts are near each other if they share words."""

    dimensions = 256

    def __init__(self) -> None:
        self.url = ""
        self.is_down = False
        """It then answers 503 to everything."""

    @contextmanager
    def serving(self) -> Generator["WordVectors"]:
        vectors = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                answer = vectors.answer(body["input"])
                self.send_response(503 if vectors.is_down else 200)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(json.dumps(answer).encode())

            def log_message(self, *_: object) -> None: ...

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            self.url = f"http://127.0.0.1:{server.server_port}/v1"
            thread = Thread(target=server.serve_forever)
            thread.start()
            try:
                yield self
            finally:
                server.shutdown()
                thread.join()

    def answer(self, asked: str | list[str]) -> dict[str, Any]:
        if self.is_down:
            return {"error": {"message": "the embedding server is away"}}
        texts = [asked] if isinstance(asked, str) else asked
        data = [{"index": at, "embedding": self.vector(text)} for at, text in enumerate(texts)]
        return {"object": "list", "data": data}

    def vector(self, text: str) -> list[float]:
        found = [0.0] * self.dimensions
        for word in re.findall(r"\w+", text.casefold()):
            digest = hashlib.sha256(word.encode("utf-8", "replace")).digest()
            found[digest[0] % self.dimensions] += 1.0
        length = math.sqrt(sum(part * part for part in found)) or 1.0
        return [part / length for part in found]


@contextmanager
def running(program: Path, data: Path, log: Path, vectors: WordVectors) -> Generator[str]:
    """The address of an Open WebUI on loopback that keeps all it has in `data`.

    Raises:
        DidNotStart: With the last lines of its log.
    """
    data.mkdir(parents=True, exist_ok=True)
    port = _free_port()
    url = f"http://127.0.0.1:{port}"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [program, "serve", "--host", "127.0.0.1", "--port", str(port)],
            env=_environment(data, vectors),
            cwd=data,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        deadline = time.monotonic() + START_TIMEOUT_S
        while not _is_healthy(url):
            if process.poll() is not None or time.monotonic() > deadline:
                said = log.read_text(encoding="utf-8", errors="replace")[-4000:]
                raise DidNotStart(f"Open WebUI did not start (exit {process.poll()}):\n{said}")
            time.sleep(0.2)
        yield url
    finally:
        process.terminate()
        try:
            process.wait(timeout=STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _environment(data: Path, vectors: WordVectors) -> dict[str, str]:
    """Nothing of this machine's own settings, proxies and keys goes along."""
    kept = ("PATH", "LANG", "TMPDIR", "SYSTEMROOT")
    return {
        **{name: os.environ[name] for name in kept if name in os.environ},
        "HOME": str(data),
        "DATA_DIR": str(data),
        "WEBUI_SECRET_KEY": secrets.token_urlsafe(32),
        "CORS_ALLOW_ORIGIN": "http://127.0.0.1",
        "PYTHONUNBUFFERED": "1",
        # nothing leaves this machine
        "OFFLINE_MODE": "True",
        "HF_HUB_OFFLINE": "1",
        "ENABLE_VERSION_UPDATE_CHECK": "False",
        "ANONYMIZED_TELEMETRY": "False",
        "DO_NOT_TRACK": "true",
        "SCARF_NO_ANALYTICS": "true",
        "ENABLE_OLLAMA_API": "False",
        "ENABLE_OPENAI_API": "False",
        "RAG_EMBEDDING_ENGINE": "openai",
        "RAG_EMBEDDING_MODEL": "words",
        "RAG_OPENAI_API_BASE_URL": vectors.url,
        "RAG_OPENAI_API_KEY": "none",
        # users may have API keys and knowledge bases; both are off in a fresh Open WebUI
        "ENABLE_API_KEYS": "True",
        "USER_PERMISSIONS_FEATURES_API_KEYS": "True",
        "USER_PERMISSIONS_WORKSPACE_KNOWLEDGE_ACCESS": "True",
    }


def _free_port() -> int:
    for port in secrets.SystemRandom().sample(PORTS, 100):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise DidNotStart(f"none of 100 ports from {PORTS.start} to {PORTS.stop} is free")


def _is_healthy(url: str) -> bool:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(f"{url}/health", timeout=5) as response:
            return json.load(response) == {"status": True}
    except (OSError, ValueError):
        return False


def _uv(*arguments: str) -> None:
    own = ROOT / ".uv" / ("uv.exe" if IS_WINDOWS else "uv")
    uv = str(own) if own.is_file() else shutil.which("uv")
    if uv is None:
        raise CannotInstall("uv is missing; `make setup` fetches it")
    settings = {"UV_PYTHON_DOWNLOADS": "never", "UV_SYSTEM_CERTS": "1", "UV_NATIVE_TLS": "1"}
    done = subprocess.run(
        [uv, *arguments],
        cwd=ROOT,
        env={**settings, **os.environ},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise CannotInstall(f"`uv {' '.join(arguments[:2])}` failed: {done.stderr.strip()[-2000:]}")


def _program(venv: Path, name: str) -> Path:
    return venv / (f"Scripts/{name}.exe" if IS_WINDOWS else f"bin/{name}")


def _digest() -> str:
    return hashlib.sha256(REQUIREMENTS.read_bytes() + sys.version.encode()).hexdigest()


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended
    try:
        if sys.argv[1:] == ["--lock"]:
            lock()
            return 0
        program = install()
        with (
            WordVectors().serving() as vectors,
            running(program, HOME / "data", HOME / "open-webui.log", vectors) as url,
        ):
            print(f"Open WebUI {VERSION} at {url}; who signs up first is its administrator.")
            while True:
                time.sleep(3600)
    except KeyboardInterrupt:
        return 0
    except (CannotInstall, DidNotStart) as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
