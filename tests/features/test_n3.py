"""N3: one recogniser for calls of all local families, measured on a corpus, the raw reply kept.

The corpus and its rates are in tests/corpus; here each way of writing goes through a whole run.
"""

from pathlib import Path

import pytest

from inglenook.events import ModelReplied, TextDelta, ToolFinished
from inglenook.messages import Message, Reasoning
from inglenook.providers.recovery import RecoveringProvider
from inglenook.providers.scripted import ScriptedProvider
from inglenook.tools.calculator import CalculatorTool
from tests.corpus.rates import judged, rate
from tests.providers.streaming import streamed
from tests.support import bench, say

CALL = '{"name": "calculate", "arguments": {"expression": "6*7"}}'
XML = "<tool_call><function=calculate><parameter=expression>6*7</parameter></function></tool_call>"
WAYS = {
    "content": say(f"Let me see.\n<tool_call>{CALL}</tool_call>"),
    "fenced": say(f"```json\n{CALL}\n```"),
    "XML": say(XML),
    "Python": say("{'name': 'calculate', 'arguments': {'expression': '6*7'}}"),
    "channel": say(
        '<|channel|>commentary to=functions.calculate json<|message|>{"expression":"6*7"}'
    ),
    "thinking": Message(
        role="assistant", reasoning=Reasoning(text=f"Hm.\n{XML}", field="thinking")
    ),
}


@pytest.mark.parametrize("said", WAYS.values(), ids=WAYS.keys())
async def test_a_written_call_runs_and_is_seen_in_the_log_only(tmp_path: Path, said: Message):
    provider = RecoveringProvider(ScriptedProvider([said, "It is 42."], piece_chars=5))
    async with bench(tmp_path, provider, tools=[CalculatorTool()]) as b:
        run = await b.run()
        events = await b.service.events(run["id"])
        assert await b.replay(run["id"]) == "It is 42."
    assert (run["status"], run["answer"]) == ("complete", "It is 42.")
    assert [e.result for e in events if isinstance(e, ToolFinished)] == ["42"]
    replied = next(e for e in events if isinstance(e, ModelReplied))
    assert replied.recovered_from == ("content" if said.text else "thinking")
    kept = [*replied.repairs, replied.reasoning.text if replied.reasoning else ""]
    assert any((said.text or XML) in each for each in kept)


@pytest.mark.parametrize("said", WAYS.values(), ids=WAYS.keys())
async def test_nothing_of_a_written_call_is_shown_while_it_comes(said: Message):
    got = await streamed(RecoveringProvider(ScriptedProvider([said], piece_chars=3)))
    shown = "".join(d.text for d in got.deltas if type(d) is TextDelta)
    assert shown.strip() in ("", "Let me see.")


async def test_the_rates_hold():
    found = await judged(piece_chars=7)
    assert rate(found.calls) >= 0.98
    assert rate(found.broken) == rate(found.answers) == 1.0
