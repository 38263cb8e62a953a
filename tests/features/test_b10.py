"""B10: research is reached directly, as a tool, and through `delegate` by a configured name."""

from collections.abc import Sequence
from pathlib import Path

from inglenook.agent.delegate import ChildAgent
from inglenook.messages import Message
from tests.api.serving import serve
from tests.research.web_fakes import (
    FakeSearch,
    FakeVisit,
    children_of,
    family,
    is_researcher,
    last_result,
    researcher,
)
from tests.support import FunctionProvider, ask, bench, call, results, say

WEB = [FakeSearch(), FakeVisit()]


async def test_directly_with_the_conversation_before_it(tmp_path: Path):
    said = [
        {"role": "user", "content": "I am in Paris."},
        {"role": "assistant", "content": "Lovely."},
        {"role": "user", "content": "How high is the tower there?"},
    ]
    body = {"model": "m", "strategy": "research", "web": True, "messages": said}
    provider = FunctionProvider(researcher)
    async with bench(tmp_path, provider, web=WEB) as b, serve(b) as client:
        run = (await client.post("/api/runs?wait=true", body)).json
    assert (run["status"], run["answer"]) == ("complete", "It is 321 m high [2].")
    assert [m.text for m in provider.views[0][1:]] == [each["content"] for each in said]


async def test_directly_only_where_the_web_is_allowed(tmp_path: Path):
    body = {"model": "m", "strategy": "research", "messages": [{"role": "user", "content": "x"}]}
    provider = FunctionProvider(researcher)
    async with bench(tmp_path, provider, web=WEB) as b, serve(b) as client:
        answer = await client.post("/api/runs", body)
    assert (answer.status, answer.error["field"]) == (422, "web")
    assert "web access is off" in answer.error["message"]
    assert provider.views == []


async def test_as_a_tool_of_the_main_agent(tmp_path: Path):
    async with bench(tmp_path, family(), web=WEB) as b:
        run = await b.run(ask(web=True))
        assert len(await children_of(b, run["id"])) == 1


async def test_through_delegate(tmp_path: Path):
    agents = {"web_research": ChildAgent(description="x", strategy="research", model=None, steps=5)}

    def script(view: Sequence[Message]) -> Message:
        if is_researcher(view):
            return researcher(view)
        task = call("delegate", agent="web_research", task="How high is the Eiffel tower?")
        return say("ok") if results(view) else say("", task)

    provider = FunctionProvider(script)
    async with bench(tmp_path, provider, web=WEB, agents=agents) as b:
        run = await b.run(ask(web=True))
        [child] = await children_of(b, run["id"])
    assert child[0].type == "run_started"
    assert child[0].request.strategy == "research"
    assert last_result(provider.views[-1]) == "It is 321 m high [1]."
