"""B6: the research child asks the very model, endpoint and key that its parent asks."""

from pathlib import Path

from inglenook.providers.base import ModelProvider, ModelSpec
from inglenook.providers.catalogue import ModelCatalogue
from tests.research.web_fakes import FakeSearch, FakeVisit, children_of, family, is_researcher
from tests.support import ask, bench

SPEC = ModelSpec(
    id="m", provider="openai", model="org/big", base_url="http://127.0.0.1:1/v1", api_key="k-1"
)


async def test_one_provider_serves_both(tmp_path: Path):
    provider, made = family(), list[ModelSpec]()

    def make(spec: ModelSpec) -> ModelProvider:
        made.append(spec)
        return provider

    models = ModelCatalogue(configured=[SPEC], discoveries=[], make_provider=make)
    web = [FakeSearch(), FakeVisit()]
    async with bench(tmp_path, provider, web=web, models=models) as b:
        run = await b.run(ask(web=True))
        [child] = await children_of(b, run["id"])
    assert run["status"] == "complete"
    assert child[0].type == "run_started"
    assert child[0].model == "m"
    assert {is_researcher(view) for view in provider.views} == {True, False}
    assert set(made) == {SPEC}
