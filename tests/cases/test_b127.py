"""B127: a finished run replays from its events alone: no model, no tool, no socket."""

import sys
from pathlib import Path

from tests.support import EchoTool, bench, call, replay_events, replies, say


async def test_replay_opens_no_socket_and_calls_no_tool(tmp_path: Path):
    tool = EchoTool()
    provider = replies(say("", call("echo", text="x")), say("It is x."))
    async with bench(tmp_path, provider, tools=[tool]) as b:
        run = await b.run()
        events = await b.service.events(run["id"])
    calls, views = len(tool.calls), len(provider.views)
    sockets: list[str] = []
    armed = [True]

    def watch(event: str, arguments: object) -> None:
        if armed[0] and event in {"socket.connect", "socket.bind", "socket.getaddrinfo"}:
            sockets.append(event)

    sys.addaudithook(watch)
    assert await replay_events(events) == "It is x."
    armed[0] = False
    assert sockets == []
    assert (len(tool.calls), len(provider.views)) == (calls, views)
