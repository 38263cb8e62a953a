"""B049: a bot check is told as blocked, not as "no results", and stops the rephrasing."""

from pathlib import Path

import pytest

from inglenook.events import RunEvent, ToolFinished
from inglenook.messages import Message
from inglenook.tools.web import WebSearchTool
from inglenook.web.search import SearchService
from tests.fake_duckduckgo import BOT_CHECK, FakeDuckDuckGo
from tests.support import bench, call, replies, say
from tests.web.kinds import KINDS, Kind, every_kind
from tests.web.searching import service


async def finished(home: Path, search: SearchService, *queries: str) -> list[ToolFinished]:
    """What became of those searches, one a step."""
    steps: list[Message] = [
        say("", call("web_search", f"c{n}", query=query)) for n, query in enumerate(queries)
    ]
    async with bench(home, replies(*steps, say("done")), web=[WebSearchTool(search)]) as b:
        run = await b.run(web=True)
        events: list[RunEvent] = list(await b.service.events(run["id"]))
    return [each for each in events if isinstance(each, ToolFinished)]


@every_kind
async def test_model_is_told_not_to_rephrase(tmp_path: Path, kind: Kind) -> None:
    async with kind.blocked() as server:
        [card] = await finished(tmp_path, service(kind.engine(server.url)), "otters")
    assert card.is_error
    assert card.result.startswith(kind.title)
    assert "Rephrasing the query will not help" in card.result
    assert "no results" not in card.result.lower()
    assert not card.blocked, "blocked means that the run lacked permission; this call was made"


@pytest.mark.parametrize("status", [200, 202])
async def test_bot_check_is_one_under_any_status(tmp_path: Path, status: int) -> None:
    async with FakeDuckDuckGo(BOT_CHECK, status=status) as server:
        [card] = await finished(tmp_path, service(KINDS[0].engine(server.url)), "otters")
    assert "robot" in card.result


@every_kind
async def test_rephrased_query_is_not_sent_to_an_engine_that_rests(
    tmp_path: Path, kind: Kind
) -> None:
    async with kind.blocked() as server:
        search = service(kind.engine(server.url))
        _, second = await finished(tmp_path, search, "otters", "sea otters")
    assert len(server.asked) == 1
    assert second.is_error
    assert "nothing was sent" in second.result
    assert "Rephrasing the query will not help" in second.result


@every_kind
async def test_next_engine_answers_in_its_place(tmp_path: Path, kind: Kind) -> None:
    other = KINDS[(KINDS.index(kind) + 1) % len(KINDS)]
    rows = [("All about otters", "https://otters.test/", "They hold hands.")]
    async with kind.blocked() as first, other.serve(rows) as second:
        search = service(kind.engine(first.url), other.engine(second.url))
        one, two = await finished(tmp_path, search, "otters", "seals")
    assert not one.is_error
    assert one.result.startswith(kind.title)
    assert f"Results from {other.name};" in one.result
    assert "[1] All about otters" in one.result
    assert "Rephrasing" not in one.result
    assert two.result.startswith(f"Results from {other.name};")
    assert (len(first.asked), len(second.asked)) == (1, 2)
