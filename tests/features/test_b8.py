"""B8: whatever becomes of a research, the main agent reads one JSON object and goes on."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from inglenook.errors import ProviderBusy, ProviderError
from inglenook.messages import Message
from inglenook.run_request import RequestLimits
from tests.research.web_fakes import FakeSearch, FakeVisit, family, researcher, told
from tests.support import Script, ask, bench, call, results, say


def _down(view: Sequence[Message]) -> Message:
    raise ProviderError("the model's server said 500")


def _busy(view: Sequence[Message]) -> Message:
    raise ProviderBusy("the model's server is not reachable")


def _crash(view: Sequence[Message]) -> Message:
    raise ZeroDivisionError


def _silent(view: Sequence[Message]) -> Message:
    return say("")


def _endless(view: Sequence[Message]) -> Message:
    if "no more tools can be used" in view[0].text:
        return say("")
    return say("", call("web_search", f"s{results(view)}", query=f"q{results(view)}"))


async def test_a_report(tmp_path: Path):
    async with bench(tmp_path, family(researcher), web=[FakeSearch(), FakeVisit()]) as b:
        run = await b.run(ask(web=True))
        report = await told(b, run)
    assert (report["status"], report["result"]) == ("ok", "It is 321 m high [1].")
    assert report["researched"] is True


@pytest.mark.parametrize(
    ("child", "because"),
    [
        (_down, "the model's server said 500"),
        (_busy, "not reachable"),
        (_crash, "a fault of this program"),
        (_endless, "step_limit"),
        (_silent, "empty_model_reply"),
    ],
)
async def test_a_failure_is_a_result_too(tmp_path: Path, child: Script, because: str):
    limits = {"research": RequestLimits(steps=3)}
    async with bench(tmp_path, family(child), web=[FakeSearch()], strategy_limits=limits) as b:
        run = await b.run(ask(web=True))
        report = await told(b, run)
    assert (run["status"], run["answer"]) == ("complete", "The tower: 321 m [1].")
    assert (report["status"], report["is_error"]) == ("error", True)
    assert because in report["message"]
    assert "result" not in report
