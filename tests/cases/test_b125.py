"""B125: a NUL or another odd character in a tool's output breaks neither run nor log."""

from pathlib import Path

import pytest

from inglenook.events import ToolFinished
from tests.support import EchoTool, bench, call, replies, say


@pytest.mark.parametrize("text", ["a\0b", "\x00", "\ud83d half a pair", "\x1b[31m\x7f\x85"])
async def test_odd_characters_are_stored_and_replayed(tmp_path: Path, text: str):
    tool = EchoTool("returns_bytes", answer=lambda _: text)
    provider = replies(say("", call("returns_bytes")), say(f"It says {text}"))
    async with bench(tmp_path, provider, tools=[tool]) as b:
        run = await b.run()
        assert run["status"] == "complete"
        [event] = [e for e in await b.service.events(run["id"]) if isinstance(e, ToolFinished)]
        assert event.result == text
        assert await b.replay(run["id"]) == f"It says {text}"
        assert (await b.service.verify()).problems == ()
