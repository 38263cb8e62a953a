"""Approvals over time: kills, many deciders, lateness, children, the end of the run."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from inglenook.agent.delegate import ChildAgent
from inglenook.api.openai_stream import ChatStream
from inglenook.errors import Conflict, NotFound
from inglenook.events import (
    ApprovalDecided,
    EgressStarted,
    RunEvent,
    RunResumed,
    RunWaiting,
    ToolFinished,
    decode,
)
from inglenook.messages import Message, ToolCall
from inglenook.run_request import ApprovalRules
from inglenook.runs.approval_inbox import has_news
from inglenook.store.base import StoredEvent
from tests.api.serving import serve
from tests.runs.approval_script import reading_searcher, wire_log
from tests.sending import ConfidentialTool, SearchTool, VisitTool, Wire
from tests.support import Bench, FunctionProvider, ask, bench, call, replies, results, say

ASK = {"web_search": "ask"}
BOUNDARIES = 16
"""Events of the killed run before its last one."""


def searcher(query: str = "otters") -> FunctionProvider:
    return FunctionProvider(
        lambda view: say("done") if results(view) else say("", call("web_search", "c", query=query))
    )


def of(kind: Any, events: list[RunEvent]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


async def waiting(b: Bench, **fields: Any) -> str:
    run = await b.run(ask("?", web=True, approvals=ASK, **fields))
    assert (run["status"], run["reason"]) == ("waiting", "approval")
    return run["id"]


class Clock:
    def __init__(self) -> None:
        self.now = datetime.now(UTC)

    def __call__(self) -> datetime:
        return self.now

    def later(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


async def test_of_a_hundred_decisions_at_once_one_counts_and_one_request_leaves(
    tmp_path: Path,
) -> None:
    wire = Wire()
    async with bench(tmp_path, searcher(), web=[SearchTool(wire)]) as b:
        run_id = await waiting(b)

        async def approve() -> str:
            try:
                return str((await b.service.decide(run_id, "c", "approve"))["status"])
            except Conflict as late:
                return str(late)

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(approve()) for _ in range(100)]
        outcomes = [task.result() for task in tasks]
        row = await b.service.wait(run_id)
        events = await b.service.events(run_id)
    assert outcomes.count("approved") == 1
    assert sum("it is approved" in outcome for outcome in outcomes) == 99
    assert (row.status, wire.bodies) == ("complete", ["q=otters"])
    assert len(of(ApprovalDecided, events)) == len(of(EgressStarted, events)) == 1


async def test_two_processes_decide_once(tmp_path: Path) -> None:
    wire = Wire()
    async with (
        bench(tmp_path, searcher(), web=[SearchTool(wire)]) as one,
        bench(tmp_path, searcher(), web=[SearchTool(wire)]) as other,
    ):
        run_id = await waiting(one)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_tried(b, run_id)) for b in (one, other) for _ in range(20)]
        assert sum(task.result() for task in tasks) == 1
        async for _ in one.service.follow(run_id):
            pass  # until it has ended, whoever executes it
        assert (await other.service.row(run_id)).status == "complete"
    assert wire.bodies == ["q=otters"]


async def _tried(b: Bench, run_id: str) -> bool:
    try:
        await b.service.decide(run_id, "c", "approve")
    except Conflict:
        return False
    return True


async def test_an_approval_survives_the_processes_end_and_a_restart(tmp_path: Path) -> None:
    wire = Wire()
    async with bench(tmp_path, searcher(), web=[SearchTool(wire)]) as b:
        run_id = await waiting(b)
    async with bench(tmp_path, searcher(), web=[SearchTool(wire)]) as b:
        assert await b.engine.recover() == 0, "it waits; nobody works on it"
        [item] = await b.service.approvals("pending")
        assert item["run_id"] == run_id
        await b.service.decide(run_id, "c", "approve")
        assert (await b.service.wait(run_id)).status == "complete"
        assert await b.replay(run_id) == "done"
    assert wire.bodies == ["q=otters"]


@pytest.mark.parametrize("boundary", range(1, BOUNDARIES + 1))
def test_a_run_that_is_killed_anywhere_asks_once_and_sends_once(
    tmp_path: Path, boundary: int
) -> None:
    root = Path(__file__).parents[2]
    killed = subprocess.run(
        [sys.executable, Path(__file__).with_name("approval_script.py"), tmp_path, str(boundary)],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        timeout=60,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    asyncio.run(_go_on(tmp_path))


async def _go_on(home: Path) -> None:
    async with bench(home, reading_searcher(), web=[SearchTool(wire_log(home))]) as b:
        [item] = (await b.service.list_runs())["items"]
        run_id: str = item["id"]
        await b.engine.recover()
        while (await b.service.wait(run_id)).status == "waiting":
            for each in await b.service.approvals("pending"):
                await b.service.decide(run_id, each["call"]["id"], "approve")
            await b.engine.join(run_id)
        run = await b.service.get(run_id)
        events = await b.service.events(run_id)
        assert await b.replay(run_id) == run["answer"] == "done"
    [finished] = of(ToolFinished, events)
    sent = wire_log(home).sent
    assert len(sent) == 1 or (not sent and "not sent again" in finished.result)
    assert len(of(ApprovalDecided, events)) == 1


async def test_a_decision_whose_process_died_before_it_told_the_run_is_found(
    tmp_path: Path,
) -> None:
    wire = Wire()
    async with bench(tmp_path, searcher(), web=[SearchTool(wire)]) as b:
        run_id = await waiting(b)
        await b.store.decide_approval(run_id, "c", status="approved", now=datetime.now(UTC))
    async with bench(tmp_path, searcher(), web=[SearchTool(wire)]) as b:
        await b.engine.recover()
        await b.engine.join(run_id)
        assert (await b.service.wait(run_id)).status == "complete"
        await b.engine.recover()
        assert not b.engine.executes(run_id)
    assert wire.bodies == ["q=otters"]


async def test_a_decision_that_comes_before_the_run_waits_is_not_missed(tmp_path: Path) -> None:
    wire = Wire()
    slow = asyncio.Event()

    class Visit(VisitTool):
        async def run(self, arguments: Any, run: Any) -> Any:
            await slow.wait()
            return await super().run(arguments, run)

    calls = [
        call("web_search", "c", query="otters"),
        call("visit_webpage", "v", url="https://named.test/"),
    ]
    model = FunctionProvider(lambda view: say("done") if results(view) else say("", *calls))
    async with bench(tmp_path, model, web=[SearchTool(wire), Visit(wire)]) as b:
        row = await b.service.start(ask("see https://named.test/", web=True, approvals=ASK))
        while not await b.service.approvals("pending"):
            await asyncio.sleep(0)
        await b.service.decide(row.id, "c", "approve")
        slow.set()
        await b.engine.join(row.id)
        assert (await b.service.wait(row.id)).status == "complete"
    assert sorted(request.host for request in wire.sent) == ["engine.test", "named.test"]


async def test_nobody_decides_in_time_and_a_late_word_is_told_so(tmp_path: Path) -> None:
    wire, clock = Wire(), Clock()
    provider = searcher()
    async with bench(tmp_path, provider, web=[SearchTool(wire)], approval_clock=clock) as b:
        run_id = await waiting(b)
        clock.later(3599)
        await b.engine.recover()
        assert len(await b.service.approvals("pending")) == 1
        clock.later(2)
        await b.engine.recover()
        assert (await b.service.wait(run_id)).status == "complete"
        with pytest.raises(Conflict, match="timed_out"):
            await b.service.decide(run_id, "c", "approve")
        assert await b.replay(run_id) == "done"
    assert wire.sent == []
    assert provider.views[-1][-1].text.startswith("timed_out")


async def test_a_late_word_before_any_timer_times_the_call_out(tmp_path: Path) -> None:
    wire, clock = Wire(), Clock()
    async with bench(tmp_path, searcher(), web=[SearchTool(wire)], approval_clock=clock) as b:
        run_id = await waiting(b)
        clock.later(3601)
        with pytest.raises(Conflict, match="timed_out"):
            await b.service.decide(run_id, "c", "approve")
        assert (await b.service.wait(run_id)).status == "complete"
    assert wire.sent == []


async def test_a_cancelled_run_leaves_nothing_that_waits(tmp_path: Path) -> None:
    wire = Wire()
    async with bench(tmp_path, searcher(), web=[SearchTool(wire)]) as b:
        run_id = await waiting(b)
        assert (await b.service.cancel(run_id)).status == "cancelled"
        [item] = await b.service.approvals()
        assert item["status"] == "expired"
        [event] = of(ApprovalDecided, await b.service.events(run_id))
        assert event.decision == "expired"
        with pytest.raises(Conflict, match="expired"):
            await b.service.decide(run_id, "c", "approve")
        with pytest.raises(NotFound):
            await b.service.decide("run_0", "c", "approve")
    assert wire.sent == []


SCOUT = {"scout": ChildAgent(description="looks", strategy="assistant", model=None, steps=4)}


def family(view: list[Message] | Any) -> Message:
    if any(m.role == "user" and m.text.startswith("task") for m in view):
        if results(view):
            return say("report [1]")
        return say("", call("web_search", "c", query="otters"))
    if results(view):
        return say("all done")
    return say("", call("delegate", "d", agent="scout", task="task"))


async def test_a_parent_waits_with_its_child_and_goes_on_with_it(tmp_path: Path) -> None:
    wire = Wire()
    model = FunctionProvider(family)
    async with bench(tmp_path, model, web=[SearchTool(wire)], agents=SCOUT) as b:
        run_id = await waiting(b)
        [item] = await b.service.approvals("pending")
        assert (item["run_id"] != run_id, item["root_id"]) == (True, run_id)
        await b.service.decide(item["run_id"], "c", "approve")
        assert (await b.service.wait(run_id)).status == "complete"
        assert (await b.service.row(item["run_id"])).status == "complete"
        events = await b.service.events(run_id)
        assert await b.replay(run_id) == "all done"
    assert wire.bodies == ["q=otters"]
    assert [type(e) for e in events if isinstance(e, RunWaiting | RunResumed)] == [
        RunWaiting,
        RunResumed,
    ]


async def test_a_cancelled_parent_ends_its_child_that_waits(tmp_path: Path) -> None:
    wire = Wire()
    model = FunctionProvider(family)
    async with bench(tmp_path, model, web=[SearchTool(wire)], agents=SCOUT) as b:
        run_id = await waiting(b)
        [item] = await b.service.approvals("pending")
        await b.service.cancel(run_id)
        assert (await b.service.row(item["run_id"])).status == "incomplete"
        [item] = await b.service.approvals()
        assert item["status"] == "expired"
    assert wire.sent == []


async def test_a_stricter_setting_does_not_change_a_run_that_has_begun(tmp_path: Path) -> None:
    """Permissions are stored with the run: a restart neither loosens nor tightens them."""
    wire = Wire()
    async with bench(tmp_path, searcher(), web=[SearchTool(wire)]) as b:
        run_id = await waiting(b)
        started = (await b.service.events(run_id))[0]
    assert started.type == "run_started"
    assert started.permissions.web_search == "ask"


async def test_another_answer_of_the_model_is_not_asked_for_while_a_call_waits(
    tmp_path: Path,
) -> None:
    provider = replies(say("", call("web_search", "c", query="otters")), say("done"))
    async with bench(tmp_path, provider, web=[SearchTool(Wire())]) as b:
        run_id = await waiting(b)
        await b.engine.recover()
        assert (await b.service.row(run_id)).status == "waiting"
    assert len(provider.views) == 1


async def test_what_the_parent_has_read_makes_its_child_ask(tmp_path: Path) -> None:
    def script(view: Any) -> Message:
        if any(m.role == "user" and m.text.startswith("task") for m in view):
            return say("report") if results(view) else say("", call("web_search", "c", query="x"))
        match results(view):
            case 0:
                return say("", ToolCall(id="r", name="read_document", arguments={"name": "s.md"}))
            case 1:
                return say("", call("delegate", "d", agent="scout", task="task: 4711"))
            case _:
                return say("done")

    wire = Wire()
    async with bench(
        tmp_path,
        FunctionProvider(script),
        documents=[ConfidentialTool()],
        web=[SearchTool(wire)],
        agents=SCOUT,
    ) as b:
        run = await b.run(ask("?", web=True, knowledge=("secret",)))
        assert (run["status"], run["reason"], wire.sent) == ("waiting", "approval", [])
        [item] = await b.service.approvals("pending")
        assert item["root_id"] == run["id"] != item["run_id"]


async def test_what_a_child_has_read_makes_its_parent_ask(tmp_path: Path) -> None:
    def script(view: Any) -> Message:
        if any(m.role == "user" and m.text.startswith("task") for m in view):
            read = ToolCall(id="r", name="read_document", arguments={"name": "s.md"})
            return say("the code is 4711") if results(view) else say("", read)
        match results(view):
            case 0:
                return say("", call("delegate", "d", agent="scout", task="task"))
            case 1:
                return say("", call("web_search", "c", query="4711"))
            case _:
                return say("done")

    wire = Wire()
    async with bench(
        tmp_path,
        FunctionProvider(script),
        documents=[ConfidentialTool()],
        web=[SearchTool(wire)],
        agents=SCOUT,
    ) as b:
        run = await b.run(ask("?", web=True, knowledge=("secret",)))
        assert (run["status"], run["reason"], wire.sent) == ("waiting", "approval", [])


@pytest.mark.parametrize("face", ["/agent/run", "/v1/chat/completions"])
async def test_a_face_that_answers_once_says_that_the_run_waits_and_where(
    tmp_path: Path, face: str
) -> None:
    wire = Wire()
    rules = ApprovalRules(web_search="ask")
    body: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "?"}]}
    body |= {"allowWeb": True} if face == "/agent/run" else {"runtime": {"web": True}}
    async with (
        bench(tmp_path, searcher(), web=[SearchTool(wire)], rules=rules) as b,
        serve(b) as client,
    ):
        answer = await client.post(face, body)
        [item] = (await client.get("/api/approvals?status=pending")).json["items"]
    assert answer.status == 409
    assert item["run_id"] in answer.body.decode()
    assert "approve" in answer.body.decode()
    assert wire.sent == []


async def test_a_stream_says_so_and_goes_on_after_the_word(tmp_path: Path) -> None:
    wire = Wire()
    rules = ApprovalRules(web_search="ask")
    async with bench(tmp_path, searcher(), web=[SearchTool(wire)], rules=rules) as b:
        row = await b.service.start(ask("?", web=True))
        stream = ChatStream(row, show_reasoning=False, include_usage=False)
        told: list[str] = []
        async for frame in b.service.follow(row.id):
            if isinstance(frame, StoredEvent) and frame.payload:
                told.append(json.dumps(stream.of(decode(frame.payload))))
                if frame.type == "run_waiting":
                    await b.service.decide(row.id, "c", "approve")
    assert any(f"inglenook runs approve {row.id} c" in chunk for chunk in told)
    assert '"finish_reason": "stop"' in told[-1]
    assert wire.bodies == ["q=otters"]


async def test_a_decision_for_a_run_that_has_ended_wakes_nobody(tmp_path: Path) -> None:
    """Else its root, waiting for something else, would be taken up again and again."""
    wire = Wire()
    model = FunctionProvider(family)
    async with bench(tmp_path, model, web=[SearchTool(wire)], agents=SCOUT) as b:
        run_id = await waiting(b)
        [item] = await b.service.approvals("pending")
        now = datetime.now(UTC)
        await b.store.decide_approval(item["run_id"], "c", status="approved", now=now)
        assert await has_news(b.store, run_id)
        await b.supervisor.end_orphan(item["run_id"])
        assert not await has_news(b.store, run_id)
    assert wire.sent == []
