"""B061: a page that leads into the own network is refused at each hop, before a connection."""

from asyncio import StreamWriter
from pathlib import Path

import pytest

from inglenook.events import ToolFinished
from inglenook.tools.web_page import VisitWebpageTool
from inglenook.web.addresses import AddressPolicy
from inglenook.web.base import PageError, PageText, WebResponse
from inglenook.web.fetch import WebFetcher
from inglenook.web.http import HttpTransport
from tests.support import bench, call, replies, say
from tests.web.wire import Ledger, Names, RawServer, answer, recorded_dials

METADATA = "http://169.254.169.254/latest/meta-data/"
NAMES = {
    "ok.test": ["127.0.0.1"],
    "127.0.0.1.nip.io": ["127.0.0.1"],
    "10.0.0.5.sslip.io": ["10.0.0.5"],
    "inside.test": ["fd00::5"],
    "rebound.test": [["127.0.0.1"], ["169.254.169.254"]],
}


class AnyText:
    async def read(self, response: WebResponse, url: str) -> PageText:
        return PageText(title="", text=response.body.decode())


def fetcher(server: RawServer) -> WebFetcher:
    """`ok.test` stands for a public site: it alone may lie on this machine."""
    policy = AddressPolicy()
    public = [f"http://{host}:{server.port}/" for host in ("ok.test", "rebound.test")]
    return WebFetcher(
        HttpTransport(policy, resolver=Names(NAMES), trusted=public), AnyText(), policy
    )


def to(url: str) -> bytes:
    return answer("302 Found", b"", f"Location: {url}")


async def refusal(reader: WebFetcher, url: str, egress: Ledger) -> str:
    with pytest.raises(PageError) as raised:
        await reader.fetch(url, egress=egress)
    assert raised.value.fault == "refused"
    return str(raised.value)


@pytest.mark.parametrize(
    "url",
    [
        *(METADATA, "http://127.0.0.1.nip.io/", "http://10.0.0.5.sslip.io/", "http://inside.test/"),
        *("http://localhost/", "http://[::ffff:169.254.169.254]/", "http://0xA9FEA9FE/"),
    ],
)
@pytest.mark.parametrize("by_redirect", [False, True])
async def test_it_is_refused_with_a_readable_reason(url: str, by_redirect: bool) -> None:
    ledger = Ledger()
    async with RawServer(to(url)) as server:
        start = f"http://ok.test:{server.port}/a"
        with recorded_dials() as dials:
            said = await refusal(fetcher(server), start if by_redirect else url, ledger)
    assert "was not asked: " in said
    assert ledger.started_urls == ([start] if by_redirect else [])
    assert len(dials) == len(ledger.started_urls)


async def test_a_chain_of_eleven_redirects_is_refused() -> None:
    async def on(head: bytes, writer: StreamWriter) -> None:
        writer.write(to(f"/{server.connections}"))

    async with RawServer(on) as server:
        said = await refusal(fetcher(server), f"http://ok.test:{server.port}/0", Ledger())
    assert "redirects more than 10 times" in said
    assert server.connections == 11


async def test_a_name_that_moves_into_the_network_is_dialled_where_it_was_judged() -> None:
    async with RawServer(answer("200 OK", b"page")) as server:
        with recorded_dials() as dials:
            page = await fetcher(server).fetch(
                f"http://rebound.test:{server.port}/", egress=Ledger()
            )
    assert page.text == "page"
    assert dials == [str(("127.0.0.1", server.port))]


async def test_the_tool_says_which_hop_was_refused_and_why(tmp_path: Path) -> None:
    async with RawServer(to(METADATA)) as server:
        start = f"http://ok.test:{server.port}/"
        model = replies(
            say("", call("visit_webpage", "direct", url="http://127.0.0.1.nip.io/")),
            say("", call("visit_webpage", "redirected", url=start)),
            say("Neither could be read."),
        )
        async with bench(tmp_path, model, web=[VisitWebpageTool(fetcher(server))]) as b:
            with recorded_dials() as dials:
                run = await b.run(web=True)
            events = await b.service.events(run["id"])
    direct, redirected = (event for event in events if isinstance(event, ToolFinished))
    assert (direct.is_error, direct.blocked, direct.network) == (True, True, False)
    assert "127.0.0.1 is this machine itself" in direct.result
    # Its first request had left, and is on the ledger; the second was not made.
    assert (redirected.is_error, redirected.network) == (True, True)
    assert "169.254.169.254 is a link-local address" in redirected.result
    assert run["egress"]["requests"] == 1
    assert dials == [str(("127.0.0.1", server.port))]
