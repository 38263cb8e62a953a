"""B063: only http and https are read; a file of this machine is not."""

from pathlib import Path

import pytest

from inglenook.events import ToolFinished
from inglenook.tools.web_page import VisitWebpageTool
from inglenook.web.addresses import AddressPolicy
from inglenook.web.base import PageError, PageText, WebResponse
from inglenook.web.fetch import WebFetcher
from inglenook.web.http import HttpTransport
from tests.support import bench, call, replies, say
from tests.web.wire import Ledger, Names, recorded_dials


class NoReader:
    async def read(self, response: WebResponse, url: str) -> PageText:
        raise AssertionError(url)


OTHER_SCHEMES = [
    *("file:///etc/hostname", "FILE:///etc/hostname", "file://localhost/etc/hostname"),
    *("file:/etc/hostname", " file:///etc/hostname", "view-source:file:///etc/hostname"),
    *("ftp://ok.test/x", "gopher://ok.test/x", "data:text/html,hello", "data:;base64,aGk="),
    *("javascript:alert(1)", "JavaScript:alert(1)", "blob:http://ok.test/x", "about:blank"),
    *("/etc/hostname", "\\\\server\\share", "C:\\Windows\\win.ini", "ws://ok.test/x"),
]


@pytest.mark.parametrize("url", OTHER_SCHEMES)
async def test_another_scheme_is_refused_and_nothing_is_opened(url: str) -> None:
    policy = AddressPolicy(allow_private=True)
    names = Names({})
    ledger = Ledger()
    fetcher = WebFetcher(HttpTransport(policy, resolver=names), NoReader(), policy)
    with recorded_dials() as dials, pytest.raises(PageError, match="was not asked") as raised:
        await fetcher.fetch(url, egress=ledger)
    assert raised.value.fault == "refused"
    assert (dials, names.asked, ledger.started_urls) == ([], [], [])


async def test_the_tool_blocks_them_without_a_request(tmp_path: Path) -> None:
    policy = AddressPolicy(allow_private=True)
    names = Names({})
    fetcher = WebFetcher(HttpTransport(policy, resolver=names), NoReader(), policy)
    visits = [call("visit_webpage", id=f"c{n}", url=url) for n, url in enumerate(OTHER_SCHEMES)]
    model = replies(say("", *visits), say("I could not read them."))
    async with bench(tmp_path, model, web=[VisitWebpageTool(fetcher)]) as b:
        with recorded_dials() as dials:
            run = await b.run(web=True)
        events = await b.service.events(run["id"])
    ended = [event for event in events if isinstance(event, ToolFinished)]
    assert {str(event.call.arguments["url"]) for event in ended} == set(OTHER_SCHEMES)
    for event in ended:
        assert (event.is_error, event.blocked, event.network) == (True, True, False)
        assert "was not asked" in event.result
    assert run["egress"]["requests"] == 0
    assert (dials, names.asked) == ([], [])
