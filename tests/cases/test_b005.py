"""B005: a blank tool name gets a terse error, never the catalogue, and the loop guard counts it."""

from pathlib import Path

from inglenook.events import ToolFinished
from inglenook.messages import ToolCall
from tests.support import EchoTool, bench, replies, say


def blank(n: int) -> ToolCall:
    return ToolCall(id=f"c{n}", name="  ", arguments={})


async def test_three_blank_names_then_an_answer(tmp_path: Path):
    provider = replies(*(say("", blank(n)) for n in range(3)), say("fine"))
    async with bench(tmp_path, provider, tools=[EchoTool("echo"), EchoTool("other")]) as b:
        run = await b.run()
        finished = [e for e in await b.service.events(run["id"]) if isinstance(e, ToolFinished)]
        assert run["answer"] == "fine"
        assert len(finished) == 3
        for event in finished:
            assert event.blocked
            assert event.is_error
            assert "echo" not in event.result
            assert "other" not in event.result
        assert finished[2].from_memory, "the third identical call is not treated as new"


async def test_blank_names_for_ever_end_the_run(tmp_path: Path):
    calls = (say("", blank(n)) for n in range(20))
    async with bench(tmp_path, replies(*calls), tools=[EchoTool()]) as b:
        run = await b.run()
        assert (run["status"], run["reason"]) == ("incomplete", "repetition")


async def test_a_wrong_name_that_is_not_blank_lists_the_tools(tmp_path: Path):
    wrong = ToolCall(id="c", name="ecko", arguments={})
    async with bench(tmp_path, replies(say("", wrong), say("ok")), tools=[EchoTool()]) as b:
        run = await b.run()
        [event] = [e for e in await b.service.events(run["id"]) if isinstance(e, ToolFinished)]
        assert "'ecko'" in event.result
        assert "echo" in event.result
