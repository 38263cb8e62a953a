"""Guards for every test: no connection leaves loopback, and no test touches the user's own home."""

import ipaddress
import os
import sys
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from hypothesis import settings

from inglenook.providers.transport import open_session
from scripts.open_webui import CannotInstall
from tests.live.real_open_webui import RealOpenWebUI, real_open_webui

# The same examples on every machine and in every run, and no limit of 200 ms for one of them.
settings.load_profile("ci")

_state = {"armed": False}


class LeftTheMachine(BaseException):
    """Not an Exception, so that no handler in the product can swallow it."""


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if not _state["armed"] or event not in ("socket.connect", "socket.getaddrinfo"):
        return
    # a name is asked of a server elsewhere: looking it up leaves the machine like a connection
    address = arguments[1] if event == "socket.connect" else arguments[:1]
    if isinstance(address, str | bytes) or not address[0]:
        return  # a Unix socket, or all addresses of this machine
    host = address[0]
    if not _is_loopback(host.decode() if isinstance(host, bytes) else str(host)):
        raise LeftTheMachine(f"a test asked for {address!r}")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.split("%")[0]).is_loopback
    except ValueError:
        return host == "localhost"


sys.addaudithook(_audit)


@pytest.fixture(autouse=True)
def only_loopback(request: pytest.FixtureRequest) -> Iterator[None]:
    _state["armed"] = request.node.get_closest_marker("live") is None
    yield
    _state["armed"] = False


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGLENOOK_HOME", str(tmp_path / "inglenook-home"))
    for name in ("OLLAMA_HOST", "OLLAMA_BASE_URL", "OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
async def session() -> AsyncGenerator[aiohttp.ClientSession, None]:
    """The session that providers share, closed with the test."""
    async with open_session() as opened:
        yield opened


@pytest.fixture(scope="session")
def open_webui(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealOpenWebUI]:
    """A real Open WebUI, started once for all `live` tests that ask for it."""
    try:
        with real_open_webui(tmp_path_factory.mktemp("open-webui")) as server:
            yield server
    except CannotInstall as error:
        if "CI" in os.environ:
            pytest.fail(f"Open WebUI cannot be installed: {error}")
        pytest.skip(f"Open WebUI cannot be installed: {error}")
