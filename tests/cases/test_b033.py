"""B033: an empty reply is nudged once, then the run says that the model gave nothing."""

from pathlib import Path

import pytest

from inglenook.events import GuardrailObjected
from tests.support import EchoTool, bench, call, replies, say


@pytest.mark.parametrize("nothing", ["", "  \n\t "])
async def test_an_empty_reply_after_a_tool_is_never_a_success(tmp_path: Path, nothing: str):
    provider = replies(say("", call("echo", text="x")), say(nothing))
    async with bench(tmp_path, provider, tools=[EchoTool()]) as b:
        run = await b.run()
        assert (run["status"], run["reason"]) == ("incomplete", "empty_model_reply")
        assert len(provider.views) == 3, "one nudge"
        nudge = provider.views[2][-1]
        assert nudge.role == "system", "a runtime notice is never the user's word"
        events = await b.service.events(run["id"])
        assert [e.guardrail for e in events if isinstance(e, GuardrailObjected)] == ["empty_reply"]


async def test_a_nudged_model_that_answers_completes(tmp_path: Path):
    async with bench(tmp_path, replies(say(""), say("Here."))) as b:
        run = await b.run()
        assert (run["status"], run["answer"]) == ("complete", "Here.")


async def test_the_nudge_is_given_again_after_a_good_reply(tmp_path: Path):
    provider = replies(say(""), say("", call("echo", text="x")), say(""), say("Here."))
    async with bench(tmp_path, provider, tools=[EchoTool()]) as b:
        assert (await b.run())["status"] == "complete"
