"""A24: a page of another form is told to the model as "no results parsed", as an error."""

from pathlib import Path

from inglenook.events import ToolFinished
from inglenook.tools.web import WebSearchTool
from tests.support import bench, call, replies, say
from tests.web.kinds import Kind, every_kind
from tests.web.searching import service


@every_kind
async def test_changed_markup_is_an_error_that_says_so(tmp_path: Path, kind: Kind) -> None:
    async with kind.changed() as server:
        provider = replies(say("", call("web_search", query="otters")), say("I could not search."))
        tool = WebSearchTool(service(kind.engine(server.url)))
        async with bench(tmp_path, provider, web=[tool]) as b:
            run = await b.run(web=True)
            events = await b.service.events(run["id"])
    [finished] = [each for each in events if isinstance(each, ToolFinished)]
    assert finished.is_error
    assert (finished.blocked, finished.network) == (False, True)
    assert "no results parsed" in finished.result
    assert "says nothing about whether there are results" in finished.result
    assert run["status"] == "complete"
