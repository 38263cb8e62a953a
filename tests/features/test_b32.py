"""B32: each step says what is used and left; with two left it must answer; the last one answers."""

from collections.abc import Sequence
from pathlib import Path

from inglenook.agent.strategies import PromptParts
from inglenook.messages import Message
from inglenook.research.instructions import research_prompt
from inglenook.run_request import RequestLimits
from tests.research.web_fakes import FakeSearch, last_result
from tests.support import FunctionProvider, ask, bench, call, results, say


def test_the_rules_of_calling_are_told():
    text = research_prompt(
        PromptParts(today="2026-11-30", tools=[], absent={}, documents=None, max_steps=15)
    )
    for rule in (
        "one tool call at a time, unless several do not depend on each other",
        "real values, never placeholders",
        "Never make the same call twice",
    ):
        assert rule in text


async def test_the_budget_is_told_and_at_its_end_an_answer_is_made_of_what_is_there(
    tmp_path: Path,
):
    def script(view: Sequence[Message]) -> Message:
        if "no more tools can be used" in view[0].text:
            return say("From what I found: 321 m [1].")
        return say("", call("web_search", f"s{results(view)}", query=f"q{results(view)}"))

    provider = FunctionProvider(script)
    request = ask(strategy="research", web=True, limits=RequestLimits(steps=4))
    async with bench(tmp_path, provider, web=[FakeSearch()]) as b:
        run = await b.run(request)
    notices = [last_result(view).rpartition("Runtime notice: ")[2] for view in provider.views[1:4]]
    must = " You must answer now: call final_answer.]"
    assert notices == [
        "used 1 of 4 steps, 3 left.]",
        f"used 2 of 4 steps, 2 left.{must}",
        f"used 3 of 4 steps, 1 left.{must}",
    ]
    assert [tool.name for tool in provider.tools[3]] == ["final_answer"]
    assert (run["status"], run["answer"]) == ("complete", "From what I found: 321 m [1].")
    assert not any(
        message.role == "user" and "Runtime notice" in message.text
        for view in provider.views[:4]
        for message in view
    )
