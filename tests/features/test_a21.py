"""A21: permission is per run; nothing carries over, to a session, a repeat or a restart."""

import asyncio
from pathlib import Path

from inglenook.events import RunStarted, ToolFinished
from tests.api.serving import serve
from tests.features.web_faces import MESSAGES, Searcher, ask
from tests.support import FunctionProvider, bench, say


async def test_runs_side_by_side_keep_their_own_permission(tmp_path: Path):
    model = Searcher()
    async with bench(tmp_path, model.provider, web=[model.tool]) as b, serve(b) as client:
        blocked: list[bool] = []
        for web in (False, True, False, True, False):
            [entry] = (await ask(client, "/agent/run", web)).json["trace"]
            blocked.append(entry["blocked"])
    assert blocked == [True, False, True, False, True]
    assert len(model.tool.calls) == 2


async def test_a_session_does_not_keep_it(tmp_path: Path):
    model = Searcher()
    body = {"model": "m", "messages": MESSAGES, "session": "s"}
    async with bench(tmp_path, model.provider, web=[model.tool]) as b, serve(b) as client:
        await client.post("/api/runs?wait=true", body | {"web": True})
        second = (await client.post("/api/runs?wait=true", body)).json
        started = (await b.service.events(second["id"]))[0]
    assert isinstance(started, RunStarted)
    assert started.permissions.web is False
    assert model.tool.calls == ["news"]


async def test_a_repeat_with_the_same_key_cannot_add_it(tmp_path: Path):
    model = Searcher()
    body = {"model": "m", "messages": MESSAGES}
    key = {"Idempotency-Key": "k"}
    async with bench(tmp_path, model.provider, web=[model.tool]) as b, serve(b) as client:
        first = await client.post("/api/runs?wait=true", body, headers=key)
        again = await client.post("/api/runs?wait=true", body | {"web": True}, headers=key)
    assert first.json == again.json
    assert model.tool.calls == []


async def test_a_run_that_is_taken_up_again_has_what_it_had(tmp_path: Path):
    stuck = FunctionProvider(lambda _: say("never"), delay_s=60)
    model = Searcher()
    body = {"model": "m", "messages": MESSAGES}
    async with bench(tmp_path, stuck, web=[model.tool]) as b, serve(b) as client:
        off = (await client.post("/api/runs", body)).json["id"]
        on = (await client.post("/api/runs", body | {"web": True})).json["id"]
        while len(stuck.views) < 2:
            await asyncio.sleep(0.01)
    async with bench(tmp_path, model.provider, web=[model.tool]) as b:
        assert await b.engine.recover() == 2
        blocked = {
            run_id: [
                event.blocked
                for event in await b.service.events((await b.service.wait(run_id)).id)
                if isinstance(event, ToolFinished)
            ]
            for run_id in (off, on)
        }
    assert blocked == {off: [True], on: [False]}
    assert model.tool.calls == ["news"]
