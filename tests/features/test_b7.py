"""B7: the sub-agent searches, reads and answers; it ends by its answer, its steps or its time."""

import asyncio
from pathlib import Path

import pytest

from inglenook.events import PromptBuilt
from inglenook.run_request import RequestLimits
from tests.research.web_fakes import FakeSearch, FakeVisit, researcher
from tests.support import EchoTool, FunctionProvider, ask, bench, call, results, say


async def test_its_tools_are_search_visit_and_final_answer(tmp_path: Path):
    async with bench(
        tmp_path,
        FunctionProvider(researcher),
        tools=[EchoTool("calculate"), EchoTool("write", effect="write")],
        documents=[EchoTool("search_knowledge_base")],
        web=[FakeSearch(), FakeVisit()],
    ) as b:
        run = await b.run(ask(strategy="research", web=True, knowledge=("kb",)))
        events = await b.service.events(run["id"])
    [prompt] = [event for event in events if isinstance(event, PromptBuilt)]
    assert set(prompt.tools) - {"read_result"} == {"web_search", "visit_webpage", "final_answer"}
    assert (run["status"], run["answer"]) == ("complete", "It is 321 m high [2].")


@pytest.mark.parametrize(
    ("limits", "reason"),
    [(RequestLimits(steps=2), "step_limit"), (RequestLimits(seconds=0.2), "time_limit")],
)
async def test_steps_and_time_end_it(tmp_path: Path, limits: RequestLimits, reason: str):
    provider = FunctionProvider(
        lambda view: say("", call("web_search", f"s{len(view)}", query=f"q{results(view)}"))
    )
    held = asyncio.Event() if reason == "time_limit" else None
    async with bench(tmp_path, provider, web=[FakeSearch(held=held)]) as b:
        run = await b.run(ask(strategy="research", web=True, limits=limits))
    assert (run["status"], run["reason"]) == ("incomplete", reason)
