"""A17: the web is off unless the very request turns it on; it is never remembered as on."""

from pathlib import Path

import pytest

from tests.api.serving import serve
from tests.features.web_faces import FACES, Searcher, ask
from tests.support import bench


@pytest.mark.parametrize("face", FACES)
async def test_a_request_that_does_not_mention_the_web_has_none(tmp_path: Path, face: str):
    model = Searcher()
    async with bench(tmp_path, model.provider, web=[model.tool]) as b, serve(b) as client:
        assert (await ask(client, face)).status in (200, 201)
        assert (await ask(client, face, False)).status in (200, 201)
    assert model.tool.calls == []
    assert "web_search" not in model.schemas(0) | model.schemas(2)


@pytest.mark.parametrize("face", FACES)
async def test_after_a_run_with_the_web_the_next_has_none(tmp_path: Path, face: str):
    model = Searcher()
    async with bench(tmp_path, model.provider, web=[model.tool]) as b, serve(b) as client:
        assert (await ask(client, face, True)).status in (200, 201)
        assert model.tool.calls == ["news"]
        assert (await ask(client, face)).status in (200, 201)
    assert model.tool.calls == ["news"]


async def test_the_server_tells_no_page_to_start_with_the_web_on(tmp_path: Path):
    model = Searcher()
    async with bench(tmp_path, model.provider, web=[model.tool]) as b, serve(b) as client:
        await ask(client, "/agent/run", True)
        assert not [
            name for name in (await client.get("/api/config")).json if "web" in name.lower()
        ]
