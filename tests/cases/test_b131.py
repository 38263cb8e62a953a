"""B131: no truthy value opens the network."""

from pathlib import Path
from typing import Any

import pytest

from inglenook.run_request import RunPermissions
from tests.api.serving import serve
from tests.features.web_faces import Searcher, ask
from tests.support import bench

SIX: list[Any] = ["true", 1, None, "false", [], 0]


async def test_each_of_them_is_400_and_starts_nothing(tmp_path: Path):
    model = Searcher()
    async with bench(tmp_path, model.provider, web=[model.tool]) as b, serve(b) as client:
        for value in SIX:
            answer = await ask(client, "/agent/run", value)
            assert (answer.status, answer.json) == (
                400,
                {"error": "allowWeb must be a JSON boolean"},
            ), value
        assert (await client.get("/api/runs")).json["items"] == []
    assert model.provider.views == []


async def test_a_second_spelling_of_the_key_does_not_slip_through(tmp_path: Path):
    data = (
        b'{"model":"m","messages":[{"role":"user","content":"x"}],"allowWeb":false,"allowWeb":true}'
    )
    model = Searcher()
    async with bench(tmp_path, model.provider, web=[model.tool]) as b, serve(b) as client:
        headers = {"Content-Type": "application/json"}
        answer = await client.post("/agent/run", data=data, headers=headers)
        assert answer.status == 400
        assert "'allowWeb' stands twice" in answer.error


async def test_omitted_is_false(tmp_path: Path):
    model = Searcher()
    async with bench(tmp_path, model.provider, web=[model.tool]) as b, serve(b) as client:
        assert (await ask(client, "/agent/run")).status == 200
    assert model.tool.calls == []


@pytest.mark.parametrize("value", [1, "yes"])
def test_python_callers_stay_offline_unless_it_is_true(value: Any):
    assert RunPermissions(web=value).web is False
