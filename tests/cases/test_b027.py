"""B027: the prompt's prefix is byte-identical through a day: no clock in it, the time is a tool."""

from pathlib import Path

import pytest

from inglenook.runs import starting as starting_module
from tests.support import EchoTool, bench, call, replies, say


async def test_two_runs_of_one_day_share_their_system_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    systems: list[str] = []
    for minute in ("09:00", "09:01", "23:59"):
        monkeypatch.setattr(starting_module, "datetime", frozen(f"2031-02-03T{minute}:30+01:00"))
        provider = replies(say("", call("echo", text="x")), say("ok"))
        async with bench(tmp_path, provider, tools=[EchoTool()]) as b:
            await b.run(session="s")
        systems += [view[0].text for view in provider.views]
    assert len(systems) == 6
    assert len(set(systems)) == 1
    assert "2031-02-03" in systems[0]
    assert ":" not in systems[0].split("2031-02-03")[1].split("\n")[0]


async def test_the_next_day_differs_by_its_date_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    systems: list[str] = []
    for day in ("2031-02-03", "2031-02-04"):
        monkeypatch.setattr(starting_module, "datetime", frozen(f"{day}T10:00:00+01:00"))
        provider = replies(say("ok"))
        async with bench(tmp_path, provider) as b:
            await b.run()
        systems.append(provider.views[0][0].text)
    assert systems[0] != systems[1]
    assert systems[0].replace("Monday, 2031-02-03", "Tuesday, 2031-02-04") == systems[1]


def frozen(at: str):
    from datetime import datetime, tzinfo

    class Frozen(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:
            moment = datetime.fromisoformat(at)
            return moment.astimezone(tz) if tz else moment.replace(tzinfo=None)

    return Frozen
