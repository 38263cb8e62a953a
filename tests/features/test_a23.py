"""A23: a permitted web call is marked as leaving the machine, a local one is not."""

from pathlib import Path

from inglenook.events import EgressFinished, EgressStarted, ToolFinished, ToolStarted
from tests.fake_duckduckgo import NO_RESULTS, FakeDuckDuckGo
from tests.support import EchoTool, bench, call, replies, say, types
from tests.web.searching import search_tool


async def test_web_calls_carry_the_flag_and_local_calls_do_not(tmp_path: Path) -> None:
    async with FakeDuckDuckGo() as server:
        provider = replies(
            say("", call("echo", text="x"), call("web_search", query="otters")), say("done")
        )
        tool = search_tool(server.url)
        async with bench(tmp_path, provider, tools=[EchoTool()], web=[tool]) as b:
            run = await b.run(web=True)
            events = await b.service.events(run["id"])
    started = {each.call.name: each.network for each in events if isinstance(each, ToolStarted)}
    finished = {each.call.name: each.network for each in events if isinstance(each, ToolFinished)}
    assert started == finished == {"echo": False, "web_search": True}


async def test_every_request_is_on_the_runs_ledger_before_it_leaves(tmp_path: Path) -> None:
    async with FakeDuckDuckGo() as server:
        provider = replies(
            say("", call("web_search", "one", query="otters")),
            say("", call("web_search", "two", query="seals")),
            say("done"),
        )
        async with bench(tmp_path, provider, web=[search_tool(server.url)]) as b:
            run = await b.run(web=True)
            events = await b.service.events(run["id"])
            ledger = await b.service.egress(run["id"])
    assert [each.n for each in events if isinstance(each, EgressStarted)] == [1, 2]
    order = types(events)
    assert order.index("egress_started") > order.index("tool_started")
    first = next(each for each in events if isinstance(each, EgressStarted))
    assert (first.method, first.host, first.path) == ("POST", "127.0.0.1", "/html/")
    assert (first.why, first.permission, first.bytes_out) == (
        "web_search",
        "web",
        server.asked[0].size_bytes,
    )
    ends = [each for each in events if isinstance(each, EgressFinished)]
    assert [(each.n, each.status, each.bytes_in) for each in ends] == [
        (1, 200, len(NO_RESULTS)),
        (2, 200, len(NO_RESULTS)),
    ]
    assert len(ledger) == 2
    assert run["egress"] == {
        "requests": 2,
        "bytes_out": sum(each.size_bytes for each in server.asked),
        "bytes_in": 2 * len(NO_RESULTS),
    }
