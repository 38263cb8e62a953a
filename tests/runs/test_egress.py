"""What a run's ledger and its figures say of requests that left, did not, or have no end."""

from pathlib import Path

from inglenook.events import EgressFinished, EgressStarted, RunEvent, ToolFinished
from inglenook.runs.views import egress_ledger, egress_totals
from tests.fake_duckduckgo import FakeDuckDuckGo
from tests.support import bench, call, replies, say
from tests.web.searching import search_tool


def begins(n: int) -> EgressStarted:
    return EgressStarted(
        n=n, method="POST", host="h", path="/", bytes_out=10, why="web_search", permission="web"
    )


def ends(n: int) -> EgressFinished:
    return EgressFinished(n=n, status=200, bytes_in=100)


def not_sent(n: int) -> EgressFinished:
    return EgressFinished(n=n, status=None, bytes_in=0, sent=False)


def test_what_was_not_sent_is_listed_and_not_counted():
    events: list[RunEvent] = [begins(1), not_sent(1), begins(2), ends(2)]
    assert egress_totals([events]) == {"requests": 1, "bytes_out": 10, "bytes_in": 100}
    ledger = egress_ledger({"run_1": events})
    assert [(entry["n"], entry["sent"], entry["bytes_out"]) for entry in ledger] == [
        (1, False, 0),
        (2, True, 10),
    ]


def test_a_request_without_an_end_is_taken_to_have_left():
    assert egress_totals([[begins(1)]]) == {"requests": 1, "bytes_out": 10, "bytes_in": 0}
    [entry] = egress_ledger({"run_1": [begins(1)]})
    assert (entry["sent"], entry["bytes_in"]) == (None, None)


def test_the_numbers_of_a_child_are_its_own():
    parent: list[RunEvent] = [begins(1), ends(1)]
    child: list[RunEvent] = [begins(1), not_sent(1)]
    assert egress_totals([parent, child])["requests"] == 1


async def test_a_search_that_reached_nobody_left_nothing(tmp_path: Path):
    async with FakeDuckDuckGo() as server:
        nobody = server.url
    provider = replies(say("", call("web_search", query="otters")), say("done"))
    async with bench(tmp_path, provider, web=[search_tool(nobody)]) as b:
        run = await b.run(web=True)
        assert run["egress"] == {"requests": 0, "bytes_out": 0, "bytes_in": 0}
        [entry] = await b.service.egress(run["id"])
        assert (entry["host"], entry["sent"]) == ("127.0.0.1", False)
        [card] = [e for e in await b.service.events(run["id"]) if isinstance(e, ToolFinished)]
        assert (card.is_error, card.network) == (True, False)
