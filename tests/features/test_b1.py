"""B1: a whole research task is one call; the main agent reads the report, never the pages."""

from pathlib import Path

from tests.research.web_fakes import FakeSearch, FakeVisit, family, is_researcher
from tests.support import ask, bench

PAGE = "A page of many words, of which the answer needs three."


async def test_the_report_is_all_that_the_main_agent_reads(tmp_path: Path):
    provider = family()
    async with bench(tmp_path, provider, web=[FakeSearch(), FakeVisit(PAGE)]) as b:
        run = await b.run(ask("How high is the tower?", web=True))
    assert run["answer"] == "The tower: 321 m [1]."
    own = [view for view in provider.views if not is_researcher(view)]
    researchers = [view for view in provider.views if is_researcher(view)]
    assert any(PAGE in message.text for message in researchers[-1])
    assert not any(PAGE in message.text for view in own for message in view)
    assert "It is 321 m high [1]." in own[-1][-1].text
    assert len(own[-1]) == len(own[0]) + 2, "one call and one result, however much was read"
