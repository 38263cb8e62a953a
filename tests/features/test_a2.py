"""A2: the model chooses its steps; there is no fixed chain of prompts.

Two models given the same question and the same tools take different ways through them.
"""

from pathlib import Path

from inglenook.events import ToolFinished
from tests.support import EchoTool, bench, call, replies, say


async def test_the_order_of_tools_is_the_models(tmp_path: Path):
    ways: list[list[str]] = []
    for n, order in enumerate((("a", "b"), ("b", "a", "b"))):
        provider = replies(*(say("", call(t, f"{t}{i}")) for i, t in enumerate(order)), say("."))
        async with bench(tmp_path / str(n), provider, tools=[EchoTool("a"), EchoTool("b")]) as b:
            run = await b.run()
            events = await b.service.events(run["id"])
            ways.append([e.call.name for e in events if isinstance(e, ToolFinished)])
    assert ways == [["a", "b"], ["b", "a", "b"]]
