"""A14: `get_current_datetime` gives the local date and time and needs no network."""

import re
import socket
from datetime import UTC, datetime

import pytest

from inglenook.messages import ToolCall
from inglenook.tools.clock import ClockTool
from inglenook.tools.registry import ToolRegistry
from tests.knowledge.fakes import ListSink, run_context


async def test_it_answers_with_weekday_time_and_offset_without_a_socket(
    monkeypatch: pytest.MonkeyPatch,
):
    def no_socket(*_: object, **__: object) -> None:
        raise AssertionError("the clock opened a socket")

    monkeypatch.setattr(socket, "socket", no_socket)
    sink = ListSink()
    call = ToolCall(id="c", name="get_current_datetime", arguments={})
    before = datetime.now(UTC).replace(microsecond=0)
    await ToolRegistry([ClockTool()]).dispatch(call, run_context(sink))
    result = sink.events[-1].model_dump()["result"]
    match = re.fullmatch(
        r"(\w+day), (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d) \(local time, UTC[+-]\d\d:\d\d\)",
        result,
    )
    assert match
    told = datetime.fromisoformat(match[2])
    assert f"{told:%A}" == match[1]
    assert before <= told <= datetime.now(UTC)
    assert sink.events[-1].model_dump()["network"] is False
