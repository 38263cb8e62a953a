"""A replay repeats a run from its log alone, and fails loudly on any difference."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from inglenook.errors import InvalidRequest, ReplayMismatch
from inglenook.events import ModelReplied, RunEvent, ToolFinished
from inglenook.messages import Message, Reasoning
from inglenook.run_request import RequestLimits
from inglenook.store.chain import GENESIS, link, payload_digest, seal
from tests.support import (
    EchoTool,
    FunctionProvider,
    bench,
    call,
    replay_events,
    replies,
    say,
)

TOOLS = [EchoTool(), EchoTool("write", effect="write")]


def script() -> FunctionProvider:
    thinking = Message(
        role="assistant",
        tool_calls=(call("echo", "c1", text="one"), call("echo", "c2", text="two")),
        reasoning=Reasoning(text="hm", field="thinking"),
    )
    return replies(
        thinking, say("", call("write", "c3", text="x")), say("", call("nope")), say("ok")
    )


async def recorded(tmp_path: Path, **fields: Any) -> list[RunEvent]:
    async with bench(tmp_path, script(), tools=TOOLS) as b:
        run = await b.run(**fields)
        return await b.service.events(run["id"])


async def test_a_finished_run_replays_to_the_same_answer(tmp_path: Path):
    assert await replay_events(await recorded(tmp_path)) == "ok"


async def test_a_run_that_ended_at_its_limit_replays(tmp_path: Path):
    events = await recorded(tmp_path, limits=RequestLimits(steps=2))
    assert await replay_events(events) == ""


def changed(events: Sequence[RunEvent], kind: type[RunEvent], **update: object) -> list[RunEvent]:
    out = list(events)
    at = next(n for n, event in enumerate(out) if isinstance(event, kind))
    out[at] = out[at].model_copy(update=update)
    return out


async def test_a_changed_result_fails_at_the_next_view_digest(tmp_path: Path):
    events = changed(await recorded(tmp_path), ToolFinished, result="forged")
    with pytest.raises(ReplayMismatch, match=r"model_requested 1: view_digest"):
        await replay_events(events)


async def test_a_changed_reply_fails(tmp_path: Path):
    events = changed(await recorded(tmp_path), ModelReplied, message=say("other words"))
    with pytest.raises(ReplayMismatch):
        await replay_events(events)


async def test_every_missing_event_fails_loudly(tmp_path: Path):
    events = await recorded(tmp_path)
    for n, event in enumerate(events):
        rest = events[:n] + events[n + 1 :]
        with pytest.raises((ReplayMismatch, InvalidRequest)):
            await replay_events(rest)
        assert event in events


async def test_a_result_forged_with_recomputed_hashes_passes_verify_but_not_replay(tmp_path: Path):
    """Whoever holds the home's key can rebuild the chain; the views still tell."""
    async with bench(tmp_path, script(), tools=TOOLS) as b:
        run = await b.run()
        key = (tmp_path / "key").read_bytes()
        db = sqlite3.connect(tmp_path / "inglenook.db", isolation_level=None)
        payload: bytes
        [(seq, payload)] = db.execute(
            "SELECT seq, payload FROM events WHERE type = 'tool_finished' ORDER BY seq LIMIT 1"
        ).fetchall()
        forged = payload.replace(b'"result":"one"', b'"result":"two"')
        assert forged != payload
        db.execute("UPDATE events SET payload = ? WHERE seq = ?", (forged, seq))
        mac = GENESIS
        rows = db.execute("SELECT seq, at, type, payload FROM events ORDER BY seq").fetchall()
        for seq, at, type, payload in rows:
            digest = payload_digest(key, payload)
            mac = link(key, mac, run["id"], seq, at, type, digest)
            db.execute("UPDATE events SET digest = ?, mac = ? WHERE seq = ?", (digest, mac, seq))
        end = seal(key, GENESIS, run["id"], rows[-1][0], mac)
        db.execute("UPDATE seals SET mac = ?", (end,))
        assert (await b.service.verify()).problems == ()
        with pytest.raises(ReplayMismatch, match="view_digest"):
            await b.replay(run["id"])
