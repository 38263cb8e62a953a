"""B037: only durable events carry an id, so that a reconnect misses and repeats nothing."""

import asyncio
from pathlib import Path

from tests.api.serving import serve
from tests.support import EchoTool, bench, call, replies, say

LIVE = {"heartbeat", "text_delta", "reasoning_delta"}
QUESTION = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


async def test_after_a_heartbeat_a_reconnect_gets_the_next_event_exactly_once(tmp_path: Path):
    """Two reads start as events 5 and 6; the stream is silent until they may end."""
    may_end = asyncio.Event()
    provider = replies(say("", call("slow", "a"), call("slow", "b", text="2")), say("done"))
    async with (
        bench(tmp_path, provider, tools=[EchoTool("slow", go=may_end)]) as b,
        serve(b, heartbeat_s=0) as client,
    ):
        path = f"/api/runs/{(await client.post('/api/runs', QUESTION)).json['id']}/events"
        seen: list[str | None] = []
        async with client.stream(path) as frames:
            async for frame in frames:
                if frame.id is not None:
                    seen.append(frame.id)
                elif frame.event == "heartbeat" and "6" in seen:
                    break
        may_end.set()
        assert seen == ["0", "1", "2", "3", "4", "5", "6"]
        rest = await client.frames(path, headers={"Last-Event-ID": "6"})
    ids = [frame.id for frame in rest if frame.id is not None]
    assert ids == [str(n) for n in range(7, 7 + len(ids))]
    assert rest[-1].event == "run_finished"
    for frame in rest:
        assert (frame.event in LIVE) == (frame.id is None)
