"""`inglenook serve`: the API, the page and the engine that takes up unfinished runs."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import sys
import webbrowser
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

import uvicorn

from inglenook.api.app import create_app
from inglenook.api.page_folder import PAGE_FOLDER
from inglenook.api.services import Services
from inglenook.bootstrap.runtime import Runtime, open_runtime, prepare_home
from inglenook.cli.client import SERVER_FILE
from inglenook.cli.download import DownloadLine
from inglenook.cli.render import Progress, counted
from inglenook.cli.sample import EXAMPLE_QUESTION, ensure_sample
from inglenook.errors import ConfigError, RuntimeFault, StoreError
from inglenook.run_request import RunPermissions
from inglenook.settings.load import Loaded
from inglenook.store.locks import SERVER_LOCK, FileLock, unusable
from inglenook.store.room import check_room

REPLAY_COMMAND = (sys.executable, "-m", "inglenook.cli.main", "replay", "--json", "-")
SHUTDOWN_S = 10


async def serve(loaded: Loaded, *, open_page: bool, sample: bool) -> int:
    """Serve until interrupted.

    Raises:
        StoreError: Another server holds this home.
        ConfigError: The address cannot be listened on.
    """
    progress = Progress()
    listener = _listen(loaded.settings.server.host, loaded.settings.server.port)
    with _home_lock(loaded.home), contextlib.closing(listener):
        port = listener.getsockname()[1]
        address = _address(loaded.settings.server.host, port)
        examples = await ensure_sample(loaded, progress) if sample else []
        report = DownloadLine(progress)
        async with open_runtime(loaded, report=report, own_port=port) as runtime:
            await _serve(loaded, runtime, listener, address, examples, progress, open_page)
    return 0


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Unlike uvicorn's, does not raise the signal again at the end: SIGTERM would end the
        process before anything is tidied up."""
        before = {s: signal.signal(s, self.handle_exit) for s in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


async def _serve(
    loaded: Loaded,
    runtime: Runtime,
    listener: socket.socket,
    address: str,
    examples: list[str],
    progress: Progress,
    open_page: bool,
) -> None:
    services = _services(loaded, runtime, examples, is_stopping=lambda: server.should_exit)
    server = _Server(
        uvicorn.Config(
            create_app(services),
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=SHUTDOWN_S,
            server_header=False,
            proxy_headers=False,
            lifespan="off",
            ws="none",
            log_config=None,  # warnings take the same way as those of all commands
        )
    )
    with server.capture_signals(), _announced(loaded, address):
        async with _background(runtime, examples, progress):
            if taken := await runtime.engine.recover():
                progress.line(f"{counted(taken, 'unfinished run')} taken up")
            progress.line(f"Inglenook {version('inglenook')} at {address}", "bold")
            if examples:
                progress.line(f"Try: {EXAMPLE_QUESTION}")
            progress.line("Ctrl-C stops it; unfinished runs go on at the next start.", "dim")
            if open_page and loaded.has_desktop and (PAGE_FOLDER / "index.html").is_file():
                webbrowser.open(address)
            await server.serve(sockets=[listener])


@asynccontextmanager
async def _background(
    runtime: Runtime, examples: list[str], progress: Progress
) -> AsyncGenerator[None, None]:
    """What only the holder of the home's lock does: taking up runs whose process died, embedding,
    and the demo model ahead of need."""
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(_ready_model(runtime, examples, progress)),
            group.create_task(runtime.engine.keep_recovering()),
        ]
        if runtime.reports is not None:
            tasks.append(group.create_task(runtime.reports.keep_embedding()))
        if runtime.library is not None:
            tasks.append(group.create_task(runtime.library.embed_behind()))
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()


async def _ready_model(runtime: Runtime, examples: list[str], progress: Progress) -> None:
    """Start the model, and let a small one read its long prompt before the first question."""
    try:
        model = await runtime.models.default_id()
        offered = await runtime.models.get(model)
        progress.line(f"model: {model}. {offered.spec.note}".rstrip())
        if offered.spec.examples:
            today = datetime.now().astimezone().date().isoformat()
            await runtime.assistant.warm(model, RunPermissions(knowledge=tuple(examples)), today)
            progress.line("the demo model is ready", "dim")
    except RuntimeFault as error:
        progress.line(f"no model yet: {error} {getattr(error, 'hint', None) or ''}", "amber")


def _services(
    loaded: Loaded, runtime: Runtime, examples: list[str], *, is_stopping: Callable[[], bool]
) -> Services:
    settings = loaded.settings
    return Services(
        runs=runtime.runs,
        models=runtime.models,
        knowledge=runtime.knowledge,
        library=runtime.library,
        knowledge_provider=settings.knowledge.provider,
        doctor=runtime.doctor,
        web=runtime.web,
        version=version("inglenook"),
        token=settings.server.token,
        show_reasoning=settings.server.show_reasoning,
        allowed_hosts=frozenset({settings.server.host, *settings.server.allowed_hosts}),
        page_folder=PAGE_FOLDER,
        example_question=EXAMPLE_QUESTION if examples else None,
        example_knowledge=tuple(examples),
        replay_command=REPLAY_COMMAND,
        check_writable=lambda: asyncio.to_thread(check_room, loaded.home),
        is_stopping=is_stopping,
    )


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol by name: asyncio sets TCP_NODELAY only where it stands, and without it every
    # answer (headers and body are two writes) waits 40 ms for the client's delayed ACK.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(1024)
    except OSError as error:
        listener.close()
        raise ConfigError(
            f"cannot listen on {host}:{port}: {error.strerror or error}. Is another server there? "
            "Choose another with --port, or --port 0 for a free one"
        ) from error
    return listener


def _address(host: str, port: int) -> str:
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, host)  # noqa: S104 (to show)
    return f"http://{f'[{shown}]' if ':' in shown and '[' not in shown else shown}:{port}"


@contextmanager
def _home_lock(home: Path) -> Generator[None]:
    prepare_home(home)
    lock = FileLock(home / SERVER_LOCK)
    try:
        is_free = lock.acquire()
    except OSError as error:
        raise StoreError(unusable(home, error)) from error
    if not is_free:
        raise StoreError(
            f"another Inglenook server holds the home {str(home)!r}; stop it, or give this one "
            "a home of its own with INGLENOOK_HOME"
        )
    try:
        yield
    finally:
        lock.release()


@contextmanager
def _announced(loaded: Loaded, address: str) -> Generator[None]:
    """Tell this user's commands where the server is."""
    path = loaded.home / SERVER_FILE
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump({"url": address, "token": loaded.settings.server.token}, file)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
