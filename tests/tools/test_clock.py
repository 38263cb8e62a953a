"""The clock tells the machine's own time with its offset."""

from datetime import UTC, datetime, timedelta, timezone

from inglenook.tools.clock import ClockTool
from tests.knowledge.fakes import run_context


async def test_it_gives_weekday_iso_time_and_offset():
    here = timezone(timedelta(hours=5, minutes=30))
    tool = ClockTool(lambda: datetime(2026, 11, 30, 14, 5, 9, tzinfo=here))
    output = await tool.run(tool.spec.arguments(), run_context())
    assert output.text == "Monday, 2026-11-30T14:05:09+05:30 (local time, UTC+05:30)"


async def test_by_default_it_is_now_in_the_local_zone():
    tool = ClockTool()
    before = datetime.now(UTC).replace(microsecond=0)
    output = await tool.run(tool.spec.arguments(), run_context())
    told = datetime.fromisoformat(output.text.split()[1])
    assert told.tzinfo is not None
    assert before <= told <= datetime.now(UTC)
    assert told.utcoffset() == datetime.now(UTC).astimezone().utcoffset()


def test_asking_again_is_reasonable():
    assert ClockTool.spec.volatile
