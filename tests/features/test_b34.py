"""B34: while it researches it says what it searches and which site it reads, children included."""

from io import StringIO
from pathlib import Path

import pytest

from inglenook.cli.ask import follow
from inglenook.cli.remote_client import RemoteClient
from inglenook.cli.render import Progress
from inglenook.research.status import status_text
from tests.api.serving import serve
from tests.research.web_fakes import FakeSearch, FakeVisit, family
from tests.support import ask, bench


@pytest.mark.parametrize(
    ("tool", "arguments", "text"),
    [
        ("web_search", {"query": "otters"}, "Search: otters"),
        ("visit_webpage", {"url": "https://a.example/x?secret=1"}, "Read: a.example"),
        ("visit_webpage", {"url": "http://["}, "Read: http://["),
        ("visit_webpage", {}, "Read: "),
        ("calculate", {"expression": "1"}, None),
    ],
)
def test_its_words(tool: str, arguments: dict[str, object], text: str | None):
    assert status_text(tool, arguments) == text


async def test_a_childs_searches_show_while_its_parent_is_followed(tmp_path: Path):
    out = StringIO()
    async with bench(tmp_path, family(), web=[FakeSearch(), FakeVisit()]) as b, serve(b) as client:
        row = await b.service.start(ask(web=True))
        reader = RemoteClient(client.session, client.url, None)
        await follow(reader, row.id, Progress(out, colour=False))
    lines = [line.strip() for line in out.getvalue().splitlines()]
    assert "Search: tower height" in lines
    assert "Read: site.test" in lines
