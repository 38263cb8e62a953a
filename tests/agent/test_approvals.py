"""Calls that a person must see first: asked, decided, and then exactly that is sent."""

from pathlib import Path
from typing import Any

import pytest

from inglenook.errors import Conflict, InvalidRequest, NotFound
from inglenook.events import (
    ApprovalDecided,
    ApprovalRequested,
    EgressStarted,
    RunEvent,
    ToolFinished,
    ToolStarted,
)
from inglenook.messages import ToolCall
from inglenook.run_request import ApprovalRules
from tests.sending import ConfidentialTool, SearchTool, VisitTool, Wire, search_request
from tests.support import Bench, EchoTool, FunctionProvider, ask, bench, call, replies, results, say

ASK = {"web_search": "ask"}


def one(kind: type[RunEvent] | Any, events: list[RunEvent]) -> Any:
    [found] = [event for event in events if isinstance(event, kind)]
    return found


def reading(name: str) -> ToolCall:
    return ToolCall(id="r", name="read_document", arguments={"name": name})


def searcher(*queries: str, **more: Any) -> FunctionProvider:
    """Searches all at once, then answers."""
    calls = [call("web_search", f"c{n}", query=query, **more) for n, query in enumerate(queries)]
    return FunctionProvider(lambda view: say("done") if results(view) else say("", *calls))


async def waiting(b: Bench, **fields: Any) -> str:
    """The id of a run that was started and waits."""
    run = await b.run(web=True, approvals=ASK, **fields)
    assert (run["status"], run["reason"]) == ("waiting", "approval")
    return run["id"]


async def decided(b: Bench, run_id: str, call_id: str, verdict: Any, **more: Any) -> dict[str, Any]:
    await b.service.decide(run_id, call_id, verdict, **more)
    await b.service.wait(run_id)
    return await b.service.get(run_id)


async def test_an_asked_query_waits_and_nothing_is_sent(tmp_path: Path) -> None:
    wire = Wire()
    async with bench(tmp_path, searcher("otters"), web=[SearchTool(wire)]) as b:
        run_id = await waiting(b)
        assert wire.sent == []
        assert not b.engine.executes(run_id), "it holds no worker"
        [item] = await b.service.approvals("pending")
        events = await b.service.events(run_id)
    asked = one(ApprovalRequested, events)
    assert (item["run_id"], item["call"]["id"], item["sha256"]) == (run_id, "c0", asked.sha256)
    assert item["requests"] == [
        {
            "method": "POST",
            "url": "https://engine.test/html/",
            "host": "engine.test",
            "body": "q=otters",
        }
    ]
    assert item["preview"] == 'Asks engine.test for "otters".'
    assert [type(event) for event in events if isinstance(event, ToolStarted)] == []


async def test_what_was_approved_is_what_is_sent_and_the_run_replays(tmp_path: Path) -> None:
    wire = Wire()
    async with bench(tmp_path, searcher("otters"), web=[SearchTool(wire)]) as b:
        run = await decided(b, await waiting(b), "c0", "approve", by="me")
        events = await b.service.events(run["id"])
        assert await b.replay(run["id"]) == "done"
    assert run["status"] == "complete"
    assert wire.sent == [search_request("otters")]
    assert one(ApprovalDecided, events).decision == "approved"
    assert one(ApprovalDecided, events).by == "me"
    assert one(EgressStarted, events).call == "c0"
    assert not one(ToolFinished, events).is_error


async def test_an_edited_query_is_sent_in_its_place_and_the_model_reads_so(tmp_path: Path) -> None:
    wire = Wire()
    provider = searcher("otters of ACME")
    async with bench(tmp_path, provider, web=[SearchTool(wire)]) as b:
        run_id = await waiting(b)
        run = await decided(b, run_id, "c0", "edit", arguments={"query": "otters"})
        events = await b.service.events(run_id)
        assert await b.replay(run_id) == "done"
    assert run["status"] == "complete"
    assert wire.bodies == ["q=otters"]
    finished = one(ToolFinished, events)
    assert finished.call.arguments == one(ToolStarted, events).call.arguments == {"query": "otters"}
    assert finished.coerced
    told = provider.views[-1][-1].text
    assert "The user changed this call" in told
    assert "results for otters" in told
    assert one(ApprovalDecided, events).preview == 'Asks engine.test for "otters".'


async def test_a_denied_call_is_an_error_that_says_so_and_the_run_goes_on(tmp_path: Path) -> None:
    wire = Wire()
    provider = searcher("otters")
    async with bench(tmp_path, provider, web=[SearchTool(wire)]) as b:
        run = await decided(b, await waiting(b), "c0", "deny")
        finished = one(ToolFinished, await b.service.events(run["id"]))
        assert await b.replay(run["id"]) == "done"
    assert (run["status"], run["answer"], wire.sent) == ("complete", "done", [])
    assert (finished.is_error, finished.blocked, finished.network) == (True, True, False)
    assert provider.views[-1][-1].text.startswith("denied (USER_STOPPED)")


async def test_the_same_call_is_not_asked_for_again_once_it_was_denied(tmp_path: Path) -> None:
    wire = Wire()
    provider = replies(
        say("", call("web_search", "c0", query="otters")),
        say("", call("web_search", "c1", query="otters")),
        say("done"),
    )
    async with bench(tmp_path, provider, web=[SearchTool(wire)]) as b:
        run = await decided(b, await waiting(b), "c0", "deny")
        assert await b.service.approvals("pending") == []
    assert (run["status"], wire.sent) == ("complete", [])
    assert "USER_STOPPED" in provider.views[-1][-1].text


async def test_neighbours_end_and_later_stages_do_not_start(tmp_path: Path) -> None:
    look, change = EchoTool("look"), EchoTool("change", effect="write")
    reply = say(
        "",
        call("look", "r1", text="before"),
        call("web_search", "c0", query="otters"),
        call("look", "r2", text="beside"),
        call("change", "w", text="after"),
    )
    provider = FunctionProvider(lambda view: say("done") if results(view) else reply)
    wire = Wire()
    async with bench(tmp_path, provider, tools=[look, change], web=[SearchTool(wire)]) as b:
        run_id = await waiting(b)
        assert look.calls == ["before", "beside"]
        assert change.calls == []
        run = await decided(b, run_id, "c0", "approve")
        assert await b.replay(run_id) == "done"
    assert run["status"] == "complete"
    assert (look.calls, change.calls) == (["before", "beside"], ["after"])
    assert wire.bodies == ["q=otters"]


async def test_each_of_two_calls_waits_for_its_own_word(tmp_path: Path) -> None:
    wire = Wire()
    async with bench(tmp_path, searcher("one", "two"), web=[SearchTool(wire)]) as b:
        run_id = await waiting(b)
        assert len(await b.service.approvals("pending")) == 2
        run = await decided(b, run_id, "c1", "approve")
        assert (run["status"], wire.bodies) == ("waiting", ["q=two"])
        run = await decided(b, run_id, "c0", "approve")
        assert (run["status"], wire.bodies) == ("complete", ["q=two", "q=one"])
        assert await b.replay(run_id) == "done"


async def test_a_request_beside_the_approved_one_is_refused(tmp_path: Path) -> None:
    wire = Wire()
    tool = SearchTool(wire, strays=[search_request("otters", "other.test")])
    async with bench(tmp_path, searcher("otters"), web=[tool]) as b:
        run = await decided(b, await waiting(b), "c0", "approve")
        finished = one(ToolFinished, await b.service.events(run["id"]))
    assert wire.sent == [search_request("otters")]
    assert finished.is_error
    assert "other.test" in finished.result


async def test_an_approved_request_is_sent_once(tmp_path: Path) -> None:
    wire = Wire()
    tool = SearchTool(wire, strays=[search_request("otters")])
    async with bench(tmp_path, searcher("otters"), web=[tool]) as b:
        run = await decided(b, await waiting(b), "c0", "approve")
        finished = one(ToolFinished, await b.service.events(run["id"]))
    assert wire.sent == [search_request("otters")]
    assert finished.is_error


async def test_arguments_that_cannot_be_sent_are_refused_and_the_call_still_waits(
    tmp_path: Path,
) -> None:
    wire = Wire()
    async with bench(tmp_path, searcher("otters"), web=[SearchTool(wire)]) as b:
        run_id = await waiting(b)
        with pytest.raises(InvalidRequest, match="query") as wrong:
            await b.service.decide(run_id, "c0", "edit", arguments={"query": 1, "to": "x"})
        assert (wrong.value.status, wrong.value.field) == (422, "arguments")
        with pytest.raises(InvalidRequest, match="edit"):
            await b.service.decide(run_id, "c0", "approve", arguments={"query": "x"})
        with pytest.raises(InvalidRequest, match="edit"):
            await b.service.decide(run_id, "c0", "edit")
        with pytest.raises(NotFound):
            await b.service.decide(run_id, "c9", "approve")
        run = await decided(b, run_id, "c0", "approve")
        with pytest.raises(Conflict, match="approved"):
            await b.service.decide(run_id, "c0", "deny")
    assert run["status"] == "complete"


async def test_an_edited_address_may_not_be_one_that_is_never_asked(tmp_path: Path) -> None:
    wire = Wire()
    provider = replies(say("", call("visit_webpage", "c0", url="https://made.up/")), say("done"))
    async with bench(tmp_path, provider, web=[VisitTool(wire)]) as b:
        run_id = await waiting(b)
        with pytest.raises(InvalidRequest, match="file:"):
            await b.service.decide(run_id, "c0", "edit", arguments={"url": "file:///etc/hostname"})
        await decided(b, run_id, "c0", "edit", arguments={"url": "https://real.test/"})
    assert [request.url for request in wire.sent] == ["https://real.test/"]


async def test_an_address_that_a_person_took_out_is_not_known_by_that(tmp_path: Path) -> None:
    wire = Wire()
    made_up = "https://evil.test/?d=text"
    provider = replies(
        say("", call("visit_webpage", "c0", url=made_up)),
        say("", call("visit_webpage", "c1", url=made_up)),
        say("done"),
    )
    async with bench(tmp_path, provider, web=[VisitTool(wire)]) as b:
        run_id = await waiting(b, knowledge=("kb",))
        edited = await decided(b, run_id, "c0", "edit", arguments={"url": "https://real.test/"})
        [item] = await b.service.approvals("pending")
    assert (edited["status"], item["call"]["id"]) == ("waiting", "c1")
    assert [request.url for request in wire.sent] == ["https://real.test/"]


async def test_an_address_that_this_machine_refuses_is_blocked_and_nobody_is_asked(
    tmp_path: Path,
) -> None:
    wire = Wire()
    provider = replies(say("", call("visit_webpage", "c0", url="file:///etc/x")), say("done"))
    async with bench(tmp_path, provider, web=[VisitTool(wire)]) as b:
        run = await b.run(web=True, approvals=ASK)
        finished = one(ToolFinished, await b.service.events(run["id"]))
        assert await b.replay(run["id"]) == "done"
    assert (run["status"], wire.sent) == ("complete", [])
    assert (finished.is_error, finished.blocked) == (True, True)
    assert "file:" in finished.result


async def test_after_a_confidential_document_every_call_waits(tmp_path: Path) -> None:
    wire = Wire()
    provider = replies(
        say("", reading("salaries.md")),
        say("", call("web_search", "c0", query="salary 4711")),
        say("done"),
    )
    documents, web = [ConfidentialTool()], [SearchTool(wire)]
    async with bench(tmp_path, provider, documents=documents, web=web) as b:
        run = await b.run(web=True, knowledge=("secret",))
        assert (run["status"], run["reason"], wire.sent) == ("waiting", "approval", [])
        [item] = await b.service.approvals("pending")
    assert "salaries.md" in item["reason"]


async def test_calls_of_the_reply_that_reads_it_are_not_of_a_private_run(tmp_path: Path) -> None:
    wire = Wire()
    provider = replies(
        say(
            "",
            reading("salaries.md"),
            call("web_search", "c0", query="public words"),
        ),
        say("done"),
    )
    documents, web = [ConfidentialTool()], [SearchTool(wire)]
    async with bench(tmp_path, provider, documents=documents, web=web) as b:
        run = await b.run(web=True, knowledge=("secret",))
    assert (run["status"], wire.bodies) == ("complete", ["q=public+words"])


@pytest.mark.parametrize(("mode", "sent"), [("block", []), ("allow", ["q=4711"])])
async def test_the_operator_may_block_or_allow_it(
    tmp_path: Path, mode: Any, sent: list[str]
) -> None:
    wire = Wire()
    provider = replies(
        say("", reading("s.md")),
        say("", call("web_search", "c0", query="4711")),
        say("done"),
    )
    documents, web = [ConfidentialTool()], [SearchTool(wire)]
    async with bench(
        tmp_path,
        provider,
        rules=ApprovalRules(confidential=mode),
        documents=documents,
        web=web,
    ) as b:
        run = await b.run(web=True, knowledge=("secret",))
    assert (run["status"], wire.bodies) == ("complete", sent)
    if mode == "block":
        assert "Nothing was sent" in provider.views[-1][-1].text


async def test_a_conversation_that_has_read_it_stays_private(tmp_path: Path) -> None:
    wire = Wire()
    provider = replies(
        say("", reading("s.md")),
        say("read"),
        say("", call("web_search", "c0", query="4711")),
        say("done"),
    )
    documents, web = [ConfidentialTool()], [SearchTool(wire)]
    async with bench(tmp_path, provider, documents=documents, web=web) as b:
        first = await b.run(knowledge=("secret",), session="s")
        second = await b.run(web=True, session="s")
        other = await b.run(web=True, session="another")
    assert first["status"] == "complete"
    assert (second["status"], second["reason"]) == ("waiting", "approval")
    assert other["status"] == "complete"
    assert wire.sent == []


async def test_a_strange_address_beside_documents_waits_and_a_known_one_does_not(
    tmp_path: Path,
) -> None:
    wire = Wire()
    provider = replies(
        say("", call("visit_webpage", "c0", url="https://named.test/a")),
        say("", call("visit_webpage", "c1", url="https://linked.test/x")),
        say("", call("visit_webpage", "c2", url="https://evil.test/?d=text")),
        say("done"),
    )
    async with bench(tmp_path, provider, web=[VisitTool(wire)]) as b:
        request = ask("read https://named.test/a", web=True, knowledge=("kb",))
        row = await b.service.start(request)
        await b.service.wait(row.id)
        [item] = await b.service.approvals("pending")
    assert [request.url for request in wire.sent] == [
        "https://named.test/a",
        "https://linked.test/x",
    ]
    assert item["call"]["id"] == "c2"


async def test_a_run_without_documents_visits_what_it_likes(tmp_path: Path) -> None:
    wire = Wire()
    provider = replies(say("", call("visit_webpage", "c0", url="https://guess.test/")), say("ok"))
    async with bench(tmp_path, provider, web=[VisitTool(wire)]) as b:
        assert (await b.run(web=True))["status"] == "complete"
    assert len(wire.sent) == 1
