"""N17: the permission to use the web binds what is kept of it, children and resumed runs, too."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from inglenook.agent.delegate import ChildAgent
from inglenook.events import EgressStarted, RunEvent, ToolFinished
from inglenook.messages import Message
from inglenook.run_request import RunRequest
from inglenook.store.sqlite import SqliteStore
from inglenook.tools.web import WebSearchTool
from inglenook.web.cached import CachedSearch
from tests.fake_duckduckgo import FakeDuckDuckGo, organic, page
from tests.features.test_b26 import DUCKDUCKGO, shelf
from tests.sending import SearchTool, Wire
from tests.support import (
    Bench,
    FunctionProvider,
    HeldProvider,
    ask,
    bench,
    call,
    replies,
    results,
    say,
)
from tests.web.searching import service

OTTERS = page(organic(url="https://otters.test/", title="Otters", snippet="They hold hands."))


async def search_run(b: Bench, **fields: Any) -> list[RunEvent]:
    request: RunRequest = ask("What do otters do?", **fields)
    return await b.service.events((await b.run(request))["id"])


def result_of(events: list[RunEvent]) -> ToolFinished:
    [finished] = [event for event in events if isinstance(event, ToolFinished)]
    return finished


async def test_a_kept_search_is_out_of_reach_of_a_run_without_the_web(tmp_path: Path):
    cache = SqliteStore(tmp_path / "cache")
    asks, ends = say("", call("web_search", query="otters")), say("done")
    async with FakeDuckDuckGo(OTTERS) as server:
        search = CachedSearch(service(DUCKDUCKGO.engine(server.url)), shelf(cache))
        model = replies(asks, ends, asks, ends, asks, ends)
        async with bench(tmp_path, model, web=[WebSearchTool(search)]) as b:
            fresh = await search_run(b, web=True)
            without = result_of(await search_run(b))
            kept = await search_run(b, web=True)
        assert len(server.asked) == 1
    await cache.close()
    assert "They hold hands." in result_of(fresh).result
    assert (without.is_error, without.blocked, without.network) == (True, True, False)
    assert "They hold hands." not in without.result
    assert result_of(kept).result.startswith("From the cache: ")
    assert "They hold hands." in result_of(kept).result
    assert (result_of(kept).labels, result_of(kept).network) == (("untrusted",), False)
    assert [event for event in kept if isinstance(event, EgressStarted)] == []
    assert "web_search" not in {schema.name for schema in model.tools[2]}


SCOUT = {"scout": ChildAgent(description="looks", strategy="assistant", model=None, steps=4)}


def family(view: Sequence[Message]) -> Message:
    """A parent whose child searches."""
    if results(view):
        return say("done")
    if any(m.role == "user" and m.text == "task" for m in view):
        return say("", call("web_search", "c", query="otters"))
    return say("", call("delegate", "d", agent="scout", task="task"))


async def test_a_child_has_the_web_only_where_its_parent_has(tmp_path: Path):
    wire = Wire()
    model = FunctionProvider(family)
    async with bench(tmp_path, model, web=[SearchTool(wire)], agents=SCOUT) as b:
        await b.run()
        assert wire.sent == []
        await b.run(web=True, approvals={"web_search": "block"})
        assert wire.sent == []
        asked = await b.run(web=True, approvals={"web_search": "ask"})
        assert (asked["status"], wire.sent) == ("waiting", [])
        await b.run(web=True)
        assert wire.bodies == ["q=otters"]


async def test_a_resumed_run_keeps_what_it_began_with(tmp_path: Path):
    wire = Wire()
    model = FunctionProvider(
        lambda view: (
            say("done") if results(view) else say("", call("web_search", "c", query="otters"))
        )
    )
    async with bench(tmp_path, HeldProvider(model), web=[SearchTool(wire)]) as b:
        off = (await b.service.start(ask())).id
        asks = (await b.service.start(ask(web=True, approvals={"web_search": "ask"}))).id
        for id in (off, asks):
            while (await b.service.row(id)).status == "queued":
                await asyncio.sleep(0)
    async with bench(tmp_path, model, web=[SearchTool(wire)]) as b:
        await b.engine.recover()
        assert (await b.service.wait(off)).status == "complete"
        assert (await b.service.wait(asks)).status == "waiting"
        assert result_of(await b.service.events(off)).blocked
    assert wire.sent == []
