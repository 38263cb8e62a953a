"""A caller that hangs up: its run stops where nobody else could know of it, else it goes on."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.api.serving import serve
from tests.api.test_openai_chat import until
from tests.support import FunctionProvider, HeldProvider, bench, replies, say

MESSAGES = [{"role": "user", "content": "hi"}]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/agent/run", {"model": "m", "kbIds": [], "messages": MESSAGES}),
        ("/v1/chat/completions", {"model": "m", "messages": MESSAGES}),
    ],
)
async def test_a_caller_who_never_got_the_id_stops_its_run(
    tmp_path: Path, path: str, body: dict[str, Any]
):
    provider = FunctionProvider(lambda _: say("late"), delay_s=60)
    async with bench(tmp_path, provider) as b, serve(b) as client:
        async with asyncio.TaskGroup() as group:
            asking = group.create_task(client.post(path, body))
            await until(lambda: provider.views)
            asking.cancel()
        await until(lambda: provider.closed)
        [run] = (await client.get("/api/runs")).json["items"]
        row = await b.service.wait(run["id"])
        assert (row.status, row.reason) == ("cancelled", "cancelled_by_user")


async def test_a_run_that_was_waited_for_goes_on(tmp_path: Path):
    model = HeldProvider(replies(say("late")))
    async with bench(tmp_path, model) as b, serve(b) as client:
        async with asyncio.TaskGroup() as group:
            body = {"model": "m", "messages": MESSAGES}
            asking = group.create_task(client.post("/api/runs?wait=true", body))
            while not (await client.get("/api/runs")).json["items"]:
                await asyncio.sleep(0.01)
            asking.cancel()
        [run] = (await client.get("/api/runs")).json["items"]
        model.go.set()
        assert (await b.service.wait(run["id"])).status == "complete"


async def test_a_stopping_server_keeps_the_run_of_a_caller(tmp_path: Path):
    provider = FunctionProvider(lambda _: say("late"), delay_s=60)
    stopping: list[bool] = []
    async with (
        bench(tmp_path, provider) as b,
        serve(b, is_stopping=lambda: bool(stopping)) as client,
        asyncio.TaskGroup() as group,
    ):
        body = {"model": "m", "kbIds": [], "messages": MESSAGES}
        asking = group.create_task(client.post("/agent/run", body))
        await until(lambda: provider.views)
        stopping.append(True)
        answer = await asking
        assert answer.status == 503
        assert "goes on at its next start" in answer.error
        assert provider.closed == 0


async def test_a_failed_wait_is_answered_by_the_error_table(tmp_path: Path):
    async with bench(tmp_path, replies(say("x"))) as b, serve(b) as client:
        answer = await client.post("/agent/run", {"model": "no", "kbIds": [], "messages": MESSAGES})
        assert answer.status == 404
