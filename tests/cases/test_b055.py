"""B055: the model knows today's date, and how new a result has to be is an argument of search."""

from datetime import date
from pathlib import Path

from inglenook.events import RunStarted
from inglenook.tools.registry import schema_of
from inglenook.tools.web import WebSearchTool
from tests.support import bench, call, replies, say
from tests.web.kinds import KINDS, Kind, every_kind
from tests.web.searching import service

ROWS = [("A", "https://a.test/", "about A")]


@every_kind
async def test_recency_reaches_every_engine_as_its_own_filter(tmp_path: Path, kind: Kind) -> None:
    words = ("day", "week", "month", "year")
    calls = [call("web_search", word, query="otters", recency=word) for word in words]
    async with kind.serve(ROWS) as server:
        provider = replies(say("", *calls), say("done"))
        tool = WebSearchTool(service(kind.engine(server.url)))
        async with bench(tmp_path, provider, web=[tool]) as b:
            await b.run(web=True)
    filters = {
        value
        for asked in server.asked
        for name, value in (asked.query | asked.form).items()
        if name in ("df", "time_range", "freshness")
    }
    assert len(filters) == 4


@every_kind
def test_recency_tells_two_searches_apart(kind: Kind) -> None:
    engine = kind.engine("http://127.0.0.1:8888")
    asked = [engine.request("otters", recency=each) for each in (None, "day", "week", "year")]
    assert len({request.sha256 for request in asked}) == 4


def test_model_is_offered_the_recencies() -> None:
    tool = WebSearchTool(service(KINDS[0].engine("http://127.0.0.1:8888")))
    assert "'day', 'week', 'month', 'year'" in str(schema_of(tool.spec).parameters)


async def test_date_is_in_the_prompt_of_a_run_that_searches(tmp_path: Path) -> None:
    provider = replies(say("done"))
    tool = WebSearchTool(service(KINDS[0].engine("http://127.0.0.1:8888")))
    async with bench(tmp_path, provider, web=[tool]) as b:
        run = await b.run(web=True)
        [started] = [e for e in await b.service.events(run["id"]) if isinstance(e, RunStarted)]
    assert date.fromisoformat(started.today)
    assert started.today in provider.views[0][0].text
