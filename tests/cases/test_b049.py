"""B049: a bot check is told as blocked, not as "no results", and stops the rephrasing."""

from pathlib import Path

import pytest

from inglenook.events import ToolFinished
from tests.fake_duckduckgo import BOT_CHECK, FakeDuckDuckGo
from tests.support import bench, call, replies, say
from tests.web.searching import search_tool


@pytest.mark.parametrize("status", [200, 202])
async def test_model_is_told_not_to_rephrase(tmp_path: Path, status: int) -> None:
    async with FakeDuckDuckGo(BOT_CHECK, status=status) as server:
        provider = replies(say("", call("web_search", query="otters")), say("It was blocked."))
        async with bench(tmp_path, provider, web=[search_tool(server.url)]) as b:
            run = await b.run(web=True)
            events = await b.service.events(run["id"])
    [finished] = [each for each in events if isinstance(each, ToolFinished)]
    assert finished.is_error
    assert "robot" in finished.result
    assert "Rephrasing the query will not help" in finished.result
    assert "no results" not in finished.result.lower()
    assert not finished.blocked, "blocked means that the run lacked permission; this call was made"
