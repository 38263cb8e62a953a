"""B9: a research has 120 seconds unless configured otherwise, and holds nothing else up."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from inglenook.messages import Message
from inglenook.run_request import RequestLimits
from inglenook.settings.sections import Settings
from tests.research.web_fakes import FakeSearch, family, told
from tests.support import FunctionProvider, ask, bench, call, say


def test_the_limit_is_a_setting():
    assert Settings().research.timeout_s == 120


async def test_at_the_limit_the_main_agent_reads_so_and_goes_on(tmp_path: Path):
    search = FakeSearch(held=asyncio.Event())
    provider = family(lambda _: say("", call("web_search", query="q")))
    limits = {"research": RequestLimits(seconds=0.2)}
    async with bench(tmp_path, provider, web=[search], strategy_limits=limits) as b:
        run = await b.run(ask(web=True))
        report = await told(b, run)
    assert run["status"] == "complete"
    assert (report["status"], report["researched"]) == ("error", False)
    assert "time_limit" in report["message"]


async def test_other_runs_go_on_meanwhile(tmp_path: Path):
    def script(view: Sequence[Message]) -> Message:
        if view[-1].text == "quick":
            return say("here")
        return say("", call("web_search", query="q"))

    search = FakeSearch(held=asyncio.Event())
    async with bench(tmp_path, FunctionProvider(script), web=[search]) as b:
        slow = await b.service.start(ask(strategy="research", web=True))
        async with asyncio.timeout(60):
            while not search.queries:
                await asyncio.sleep(0.01)
            run = await b.run(ask("quick"))
        assert run["answer"] == "here"
        assert (await b.service.row(slow.id)).status == "running"
