"""B011: an unknown tool is told so with the names that exist, and the run goes on."""

from pathlib import Path

import pytest

from inglenook.events import ToolFinished
from inglenook.messages import ToolCall
from tests.support import EchoTool, bench, call, replies, say


async def test_an_unknown_tool_does_not_end_the_turn(tmp_path: Path):
    provider = replies(say("", call("search_files")), say("Then without."))
    async with bench(tmp_path, provider, tools=[EchoTool()]) as b:
        run = await b.run()
        [event] = [e for e in await b.service.events(run["id"]) if isinstance(e, ToolFinished)]
        assert (event.blocked, event.network, event.is_error) == (True, False, True)
        assert "'search_files'" in event.result
        assert "echo" in event.result
        assert (run["status"], run["answer"]) == ("complete", "Then without.")
        assert provider.views[1][-1].text == event.result


@pytest.mark.parametrize("name", ["ECHO", "functions.echo", " echo ", "functions.Echo"])
async def test_names_match_in_any_case_and_with_the_functions_prefix(tmp_path: Path, name: str):
    tool = EchoTool()
    written = ToolCall(id="c", name=name, arguments={"text": "hi"})
    async with bench(tmp_path, replies(say("", written), say("ok")), tools=[tool]) as b:
        await b.run()
        assert tool.calls == ["hi"]
