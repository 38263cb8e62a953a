"""An approval holds for the requests that were shown, over the real tools and the real transport:
no redirect and no engine that nobody saw."""

from asyncio import StreamWriter
from pathlib import Path
from typing import Any

import pytest

from inglenook.egress import OutgoingRequest
from inglenook.events import ApprovalRequested, EgressStarted, ToolFinished
from inglenook.tools.web import WebSearchTool
from inglenook.tools.web_page import VisitWebpageTool
from tests.cases.test_b061 import fetcher, to
from tests.support import Bench, bench, call, replies, say
from tests.web.kinds import KINDS, Kind
from tests.web.searching import service
from tests.web.wire import RawServer, answer

ASK = {"web_search": "ask"}


async def approved(b: Bench, run_id: str) -> tuple[Any, ToolFinished, list[EgressStarted]]:
    await b.service.decide(run_id, "c", "approve")
    row = await b.service.wait(run_id)
    events = await b.service.events(run_id)
    [finished] = [event for event in events if isinstance(event, ToolFinished)]
    assert await b.replay(run_id) == "done"
    return row, finished, [event for event in events if isinstance(event, EgressStarted)]


async def test_a_redirect_of_an_approved_page_is_not_followed(tmp_path: Path) -> None:
    async def handler(head: bytes, writer: StreamWriter) -> None:
        where = b"/elsewhere?d=1" not in head
        writer.write(to("/elsewhere?d=1") if where else answer("200 OK", b"the page"))

    async with RawServer(handler) as server:
        url = f"http://ok.test:{server.port}/start"
        model = replies(say("", call("visit_webpage", "c", url=url)), say("done"))
        async with bench(tmp_path, model, web=[VisitWebpageTool(fetcher(server))]) as b:
            run = await b.run(web=True, approvals=ASK)
            assert (run["status"], server.targets) == ("waiting", [])
            row, finished, started = await approved(b, run["id"])
        assert server.targets == ["/start"]
    assert row.status == "complete"
    assert (finished.is_error, finished.network) == (True, True)
    assert "/elsewhere" in finished.result
    assert [event.path for event in started] == ["/start"]


@pytest.mark.parametrize(("blocked", "serving"), list(zip(KINDS, KINDS[1:], strict=False)), ids=str)
async def test_the_engines_that_were_shown_may_be_asked_as_they_were_shown(
    tmp_path: Path, blocked: Kind, serving: Kind
) -> None:
    rows = [("Otters", "https://otters.test/", "They swim.")]
    async with blocked.blocked() as first, serving.serve(rows) as second:
        engines = [blocked.engine(first.url), serving.engine(second.url)]
        model = replies(say("", call("web_search", "c", query="otters & co")), say("done"))
        async with bench(tmp_path, model, web=[WebSearchTool(service(*engines))]) as b:
            run = await b.run(web=True, approvals=ASK)
            events = await b.service.events(run["id"])
            assert (first.asked, second.asked) == ([], [])
            row, finished, started = await approved(b, run["id"])
        [asked] = [event for event in events if isinstance(event, ApprovalRequested)]
        assert [len(server.asked) for server in (first, second)] == [1, 1]
    assert [event.path for event in started] == [_path(each.url) for each in asked.requests]
    assert (row.status, finished.is_error) == ("complete", False)
    assert "Otters" in finished.result


def _path(url: str) -> str:
    return OutgoingRequest(method="GET", url=url).path
