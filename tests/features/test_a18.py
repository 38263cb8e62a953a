"""A18: the prompt says whether web_search exists in this run, and the schema agrees."""

from pathlib import Path

from inglenook.run_request import ApprovalRules
from tests.api.serving import serve
from tests.features.web_faces import Searcher, ask
from tests.support import bench


async def test_off_is_said_and_not_offered(tmp_path: Path):
    model = Searcher()
    async with bench(tmp_path, model.provider, web=[model.tool]) as b, serve(b) as client:
        await ask(client, "/agent/run", False)
    assert "web_search does not exist in this run: web access is off" in model.system_prompt(0)
    assert "web_search" not in model.schemas(0)


async def test_on_is_said_and_offered(tmp_path: Path):
    model = Searcher()
    async with bench(tmp_path, model.provider, web=[model.tool]) as b, serve(b) as client:
        await ask(client, "/agent/run", True)
    assert "- web_search:" in model.system_prompt(0)
    assert "does not exist" not in model.system_prompt(0)
    assert "web_search" in model.schemas(0)


async def test_an_operators_block_is_said_also_where_the_user_allows_it(tmp_path: Path):
    model, blocked = Searcher(), ApprovalRules(web_search="block")
    async with bench(tmp_path, model.provider, rules=blocked) as b, serve(b) as client:
        await ask(client, "/agent/run", True)
    assert "web_search does not exist in this run: the operator blocks" in model.system_prompt(0)
    assert "web_search" not in model.schemas(0)


async def test_that_no_engine_is_there_is_no_block(tmp_path: Path):
    model = Searcher()
    async with bench(tmp_path, model.provider) as b, serve(b) as client:
        await ask(client, "/agent/run", True)
    assert "no search engine is configured" in model.system_prompt(0)
    assert "blocks" not in model.system_prompt(0)
