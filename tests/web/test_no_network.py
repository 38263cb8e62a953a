"""The guard of `tests/conftest.py` stands around the web's tests: what leaves loopback fails."""

import pytest

from inglenook.web.addresses import AddressPolicy
from inglenook.web.brave import Brave
from inglenook.web.duckduckgo import DuckDuckGo
from inglenook.web.duckduckgo_lite import DuckDuckGoLite
from inglenook.web.http import HttpTransport
from inglenook.web.searxng import SearXNG
from tests.conftest import LeftTheMachine
from tests.web.searching import ask


@pytest.mark.parametrize("name", ["duckduckgo", "duckduckgo-lite", "searxng", "brave"])
async def test_asking_the_public_service_fails_before_its_name_is_looked_up(name: str) -> None:
    transport = HttpTransport(AddressPolicy())
    engines = [
        DuckDuckGo(transport),
        DuckDuckGoLite(transport),
        SearXNG(transport, url="https://searx.example"),
        Brave(transport, key="k"),
    ]
    with pytest.raises(LeftTheMachine):
        await ask(next(engine for engine in engines if engine.name == name))
