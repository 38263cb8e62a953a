"""B031: one call, one result, again and again: the 3rd comes from memory, the 5th ends the run."""

from collections.abc import Sequence
from pathlib import Path

from inglenook.events import ToolFinished
from inglenook.messages import Message
from inglenook.run_request import RequestLimits
from tests.support import EchoTool, FunctionProvider, bench, call, results, say


def always(name: str, text: str = "1+1"):
    return FunctionProvider(lambda view: say("", call(name, f"c{results(view)}", text=text)))


async def test_the_same_call_again_and_again(tmp_path: Path):
    tool = EchoTool()
    async with bench(tmp_path, always("echo"), tools=[tool]) as b:
        run = await b.run(limits=RequestLimits(steps=50))
        events = [e for e in await b.service.events(run["id"]) if isinstance(e, ToolFinished)]
        assert tool.calls == ["1+1", "1+1"], "it ran twice"
        assert [event.from_memory for event in events] == [False, False, True, True]
        assert "3rd identical call" in events[2].result
        assert events[2].result.startswith("1+1")
        assert (run["status"], run["reason"]) == ("incomplete", "repetition")
        assert "'echo'" in run["explanation"]
        assert "done" not in run["explanation"].lower()


async def test_a_write_between_makes_calls_new_again(tmp_path: Path):
    def script(view: Sequence[Message]) -> Message:
        n = results(view)
        if n >= 12:
            return say("ok")
        if n % 2:
            return say("", call("write", f"c{n}", text=str(n)))
        return say("", call("echo", f"c{n}", text="same"))

    tool = EchoTool()
    provider = FunctionProvider(script)
    async with bench(tmp_path, provider, tools=[tool, EchoTool("write", effect="write")]) as b:
        run = await b.run(limits=RequestLimits(steps=50))
        assert run["status"] == "complete"
        assert len(tool.calls) == 6


async def test_another_result_makes_the_call_new_again(tmp_path: Path):
    counter = iter(range(100))
    tool = EchoTool(answer=lambda _: str(next(counter)))
    async with bench(tmp_path, always("echo"), tools=[tool]) as b:
        run = await b.run(limits=RequestLimits(steps=8))
        assert run["reason"] == "step_limit"
        assert len(tool.calls) == 8


async def test_a_clock_never_answers_from_memory_and_five_in_a_row_end_the_run(tmp_path: Path):
    counter = iter(range(100))
    tool = EchoTool("clock", volatile=True, answer=lambda _: str(next(counter)))
    async with bench(tmp_path, always("clock"), tools=[tool]) as b:
        run = await b.run(limits=RequestLimits(steps=50))
        events = [e for e in await b.service.events(run["id"]) if isinstance(e, ToolFinished)]
        assert [event.result for event in events] == ["0", "1", "2", "3"]
        assert (run["status"], run["reason"]) == ("incomplete", "repetition")
        assert await b.replay(run["id"]) == run["answer"]


async def test_a_clock_between_other_calls_is_asked_as_often_as_the_model_likes(tmp_path: Path):
    def script(view: Sequence[Message]) -> Message:
        n = results(view)
        if n >= 12:
            return say("ok")
        return say("", call("echo" if n % 2 else "clock", f"c{n}", text=str(n) if n % 2 else ""))

    clock = EchoTool("clock", volatile=True)
    async with bench(tmp_path, FunctionProvider(script), tools=[clock, EchoTool()]) as b:
        run = await b.run(limits=RequestLimits(steps=50))
        assert run["status"] == "complete"
        assert len(clock.calls) == 6


async def test_another_spelling_of_a_call_is_the_same_call(tmp_path: Path):
    """Key order, "1" for 1, a null more, the name in capitals: what a tool gets is the same."""
    spellings: list[tuple[str, dict[str, object]]] = [
        ("echo", {"text": "1", "note": True}),
        ("functions.echo", {"note": "true", "text": 1}),
        ("ECHO", {"text": 1.0, "note": True, "more": None}),
        ("echo", {"note": True, "text": "1"}),
        ("Echo", {"text": 1, "note": "true"}),
    ]

    def script(view: Sequence[Message]) -> Message:
        n = results(view)
        name, arguments = spellings[n % len(spellings)]
        return say("", call(name, f"c{n}", **arguments))

    tool = EchoTool()
    async with bench(tmp_path, FunctionProvider(script), tools=[tool]) as b:
        run = await b.run(limits=RequestLimits(steps=50))
        assert (run["status"], run["reason"]) == ("incomplete", "repetition")
        assert len(tool.calls) == 2
        assert await b.replay(run["id"]) == run["answer"]
