"""Child runs: what their parents may, no more; what stops them stops their parents only if it must.

That they run side by side, cannot delegate and are found again is told in `features/test_c10.py`.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from inglenook.agent.delegate import ChildAgent, DelegateTool
from inglenook.errors import ConfigError, InvalidRequest, ProviderBusy
from inglenook.events import ChildStarted, PromptBuilt, RunStarted, ToolFinished
from inglenook.knowledge.base import Retriever
from inglenook.messages import Message
from inglenook.run_request import RequestLimits
from inglenook.runs.children import Children
from tests.support import (
    Bench,
    EchoTool,
    FunctionProvider,
    NoKnowledge,
    ask,
    bench,
    call,
    results,
    say,
)


def scout(model: str | None = None, steps: int | None = 4) -> dict[str, ChildAgent]:
    return {
        "scout": ChildAgent(description="looks", strategy="assistant", model=model, steps=steps)
    }


def is_child(view: Sequence[Message]) -> bool:
    return any(message.role == "user" and message.text == "look" for message in view)


def script(view: Sequence[Message]) -> Message:
    if is_child(view):
        return say("seen")
    if results(view):
        return say(f"it said: {view[-1].text}")
    return say("", call("delegate", "d1", agent="scout", task="look"))


async def child_id(b: Bench, run_id: str) -> str:
    return next(
        e.child_run_id for e in await b.service.events(run_id) if isinstance(e, ChildStarted)
    )


async def test_a_child_has_its_own_limits_and_its_agents_model(tmp_path: Path):
    provider = FunctionProvider(script)
    agents = scout(model="m", steps=2)
    async with bench(
        tmp_path, provider, agents=agents, limits=RequestLimits(steps=9, output_tokens=50)
    ) as b:
        run = await b.run()
        events = await b.service.events(await child_id(b, run["id"]))
    [prompt] = [event for event in events if isinstance(event, PromptBuilt)]
    assert prompt.max_steps == 2
    assert isinstance(events[0], RunStarted)
    assert events[0].model == "m"
    assert events[0].parent == run["id"]


async def test_its_id_follows_from_parent_and_call(tmp_path: Path):
    async with bench(tmp_path, FunctionProvider(script), agents=scout()) as b:
        run = await b.run()
        children = Children(store=b.store, supervisor=b.supervisor, context_version="x")
        assert await child_id(b, run["id"]) == children.child_id(run["id"], "d1")
        assert children.child_id(run["id"], "d2") != children.child_id(run["id"], "d1")


async def test_a_child_of_a_run_without_web_has_none(tmp_path: Path):
    web = EchoTool("web_search", open_world=True)
    async with bench(tmp_path, FunctionProvider(script), web=[web], agents=scout()) as b:
        for allowed in (True, False):
            run = await b.run(web=allowed)
            events = await b.service.events(await child_id(b, run["id"]))
            [prompt] = [event for event in events if isinstance(event, PromptBuilt)]
            assert ("web_search" in prompt.tools) is allowed


async def test_a_child_whose_server_is_down_ends_and_its_parent_reads_so(tmp_path: Path):
    def down_for_children(view: Sequence[Message]) -> Message:
        if is_child(view):
            raise ProviderBusy("http://127.0.0.1:1 is not reachable")
        return script(view)

    async with bench(tmp_path, FunctionProvider(down_for_children), agents=scout()) as b:
        async with asyncio.timeout(60):
            run = await b.run()
        [card] = [e for e in await b.service.events(run["id"]) if isinstance(e, ToolFinished)]
        assert (await b.service.row(await child_id(b, run["id"]))).status == "failed"
    assert run["status"] == "complete"
    assert card.is_error
    assert "scout ended failed: http://127.0.0.1:1 is not reachable" in card.result


class ForgetfulKnowledge(NoKnowledge):
    """Takes the old key twice, then only the new one."""

    def __init__(self) -> None:
        self.opened = 0

    async def open(
        self, knowledge_ids: Sequence[str], credential: str | None = None, egress: object = None
    ) -> Retriever:
        self.opened += 1
        if self.opened > 2 and credential != "new":
            raise InvalidRequest("the key is no longer valid")
        return await super().open(knowledge_ids, credential)


async def test_a_child_that_needs_a_key_makes_its_parent_wait_for_it(tmp_path: Path):
    knowledge = ForgetfulKnowledge()
    provider = FunctionProvider(script)
    async with bench(tmp_path, provider, agents=scout(), knowledge=knowledge) as b:
        row = await b.service.start(ask(knowledge=("kb",)), credential="old")
        row = await b.service.wait(row.id)
        assert (row.status, row.reason) == ("waiting", "needs_credential")
        await b.service.give_credential(row.id, "new")
        row = await b.service.wait(row.id)
        assert row.status == "complete"
        assert (await b.service.get(row.id))["answer"] == "it said: seen"
        started = [e for e in await b.service.events(row.id) if isinstance(e, ChildStarted)]
        assert len({event.child_run_id for event in started}) == 1


def test_an_agent_with_an_unknown_strategy_is_wrong_configuration():
    agents = {"x": ChildAgent(description="x", strategy="guess", model=None, steps=1)}
    with pytest.raises(ConfigError, match=r"agents\.x\.strategy.*'guess'.*assistant, research"):
        DelegateTool(agents, runner=None)  # pyright: ignore[reportArgumentType]
