"""B063: only http and https are read; a file of this machine is not."""

import pytest

from inglenook.web.addresses import AddressPolicy
from inglenook.web.base import PageError, PageText, WebResponse
from inglenook.web.fetch import WebFetcher
from inglenook.web.http import HttpTransport
from tests.web.wire import Ledger, Names, recorded_dials


class NoReader:
    async def read(self, response: WebResponse, url: str) -> PageText:
        raise AssertionError(url)


@pytest.mark.parametrize(
    "url",
    [
        *("file:///etc/hostname", "FILE:///etc/hostname", "file://localhost/etc/hostname"),
        *("file:/etc/hostname", " file:///etc/hostname", "view-source:file:///etc/hostname"),
        *("ftp://ok.test/x", "gopher://ok.test/x", "data:text/html,hello", "data:;base64,aGk="),
        *("javascript:alert(1)", "JavaScript:alert(1)", "blob:http://ok.test/x", "about:blank"),
        *("/etc/hostname", "\\\\server\\share", "C:\\Windows\\win.ini", "ws://ok.test/x"),
    ],
)
async def test_another_scheme_is_refused_and_nothing_is_opened(url: str) -> None:
    policy = AddressPolicy(allow_private=True)
    names = Names({})
    ledger = Ledger()
    fetcher = WebFetcher(HttpTransport(policy, resolver=names), NoReader(), policy)
    with recorded_dials() as dials, pytest.raises(PageError, match="was not asked") as raised:
        await fetcher.fetch(url, egress=ledger)
    assert raised.value.fault == "refused"
    assert (dials, names.asked, ledger.started_urls) == ([], [], [])
