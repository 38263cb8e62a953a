import asyncio

import pytest

from inglenook.web import settling as module
from inglenook.web.settling import Settling


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "QUIET_S", 0.02)
    monkeypatch.setattr(module, "SETTLE_S", 60.0)
    monkeypatch.setattr(module, "LOAD_TIMEOUT_S", 60.0)


async def test_a_page_is_done_when_what_its_scripts_asked_for_is_there() -> None:
    settling, order, go = Settling(), list[str](), asyncio.Event()

    async def request() -> None:
        with settling.request():
            await go.wait()
            order.append("answered")

    async def wait() -> None:
        await settling.settled()
        order.append("settled")

    async with asyncio.TaskGroup() as group:
        group.create_task(request())
        await asyncio.sleep(0)
        settling.loaded()
        group.create_task(wait())
        await asyncio.sleep(0)
        go.set()
    assert order == ["answered", "settled"]


async def test_a_page_that_never_rests_is_read_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SETTLE_S", 0.05)
    settling = Settling()
    settling.loaded()
    with settling.request():
        await settling.settled()


async def test_a_page_that_never_loads_is_read_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOAD_TIMEOUT_S", 0.01)
    await Settling().settled()
