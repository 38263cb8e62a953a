"""A20: `allowWeb` is a JSON boolean or omitted; from Python, exactly `True`."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from inglenook.messages import Message
from inglenook.run_request import RunPermissions, RunRequest
from tests.api.serving import serve
from tests.features.web_faces import FACES, Searcher, ask
from tests.support import bench

NO_BOOLEANS: list[Any] = [
    None, 0, 1, 1.0, "", "true", "false", "True", "on", "yes", [], [True], {}, {"web": True},
]  # fmt: skip


async def test_any_other_value_is_400_in_these_words(tmp_path: Path):
    model = Searcher()
    async with bench(tmp_path, model.provider, web=[model.tool]) as b, serve(b) as client:
        for value in NO_BOOLEANS:
            answer = await ask(client, "/agent/run", value)
            assert answer.status == 400, value
            assert answer.json == {"error": "allowWeb must be a JSON boolean"}, value
        assert (await client.get("/api/runs")).json["items"] == []


@pytest.mark.parametrize("face", FACES[1:])
async def test_the_other_faces_are_as_strict(tmp_path: Path, face: str):
    model = Searcher()
    async with bench(tmp_path, model.provider, web=[model.tool]) as b, serve(b) as client:
        for value in NO_BOOLEANS:
            answer = await ask(client, face, value)
            assert answer.status == 400, value
            assert "must be a JSON boolean" in answer.error["message"], value
        assert (await client.get("/api/runs")).json["items"] == []


async def test_booleans_and_nothing_are_taken(tmp_path: Path):
    model = Searcher()
    async with bench(tmp_path, model.provider, web=[model.tool]) as b, serve(b) as client:
        for face in FACES:
            assert (await ask(client, face)).status in (200, 201)
            assert (await ask(client, face, False)).status in (200, 201)
        assert model.tool.calls == []
        for face in FACES:
            assert (await ask(client, face, True)).status in (200, 201)
    assert model.tool.calls == ["news"] * 3


class Truthy:
    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # pyright: ignore[reportAssignmentType]  # unhashable on purpose


@pytest.mark.parametrize("value", [1, 1.0, "true", "yes", [1], {"a": 1}, Truthy(), object()])
def test_python_callers_need_exactly_true(value: Any):
    assert RunPermissions(web=value).web is False
    with pytest.raises(ValidationError):
        RunRequest(model="m", messages=(Message(role="user", text="x"),), web=value)
    assert RunPermissions(web=True).web is True
