"""A8: only handlers of the run's own registry run; the registry is built from its permissions."""

from pathlib import Path

from inglenook.agent.assistant import may_hold
from inglenook.events import ToolFinished
from inglenook.run_request import RunPermissions
from tests.support import EchoTool, bench, call, replies, say


async def test_a_call_outside_the_registry_reaches_no_handler(tmp_path: Path):
    web = EchoTool("web_search", open_world=True)
    provider = replies(say("", call("web_search", text="x")), say("ok"))
    async with bench(tmp_path, provider, tools=[EchoTool()], web=[web]) as b:
        run = await b.run()
        assert web.calls == []
        [event] = [e for e in await b.service.events(run["id"]) if isinstance(e, ToolFinished)]
        assert (event.blocked, event.network) == (True, False)


def test_permissions_have_the_last_word_on_every_tool():
    web, write = EchoTool("w", open_world=True), EchoTool("x", effect="write")
    assert not may_hold(web, RunPermissions())
    assert may_hold(web, RunPermissions(web=True))
    assert not may_hold(write, RunPermissions(writes=False))
