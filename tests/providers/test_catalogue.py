"""Which models are offered, from where, and what is said when there is none."""

from collections.abc import Sequence

import pytest

from inglenook.errors import InvalidRequest, NotFound, ProviderError
from inglenook.providers.base import ModelSpec
from inglenook.providers.catalogue import THREE_WAYS, ModelCatalogue
from inglenook.providers.scripted import ScriptedProvider


def spec(id: str) -> ModelSpec:
    return ModelSpec(id=id, provider="ollama", model=id, base_url="http://127.0.0.1:1")


class Found:
    name = "found"

    def __init__(self, *ids: str, fails: bool = False) -> None:
        self._ids = ids
        self._fails = fails

    async def find(self) -> Sequence[ModelSpec]:
        if self._fails:
            raise ProviderError("nothing answers at http://127.0.0.1:1")
        return [spec(id) for id in self._ids]


def catalogue(*discoveries: Found, configured: Sequence[str] = (), demo: bool = False):
    started: list[str] = []

    async def start_demo() -> ModelSpec:
        started.append("demo")
        return spec("demo")

    made = ModelCatalogue(
        configured=[spec(id) for id in configured],
        discoveries=discoveries,
        make_provider=lambda spec: ScriptedProvider(),
        demo=start_demo if demo else None,
    )
    return made, started


async def test_configured_models_hide_what_servers_have():
    models, _ = catalogue(Found("b"), configured=["a"])
    assert await models.default_id() == "a"
    with pytest.raises(NotFound, match="models here: a"):
        await models.get("b")


async def test_a_server_that_is_away_does_not_hide_the_others():
    models, _ = catalogue(Found(fails=True), Found("b", "c"))
    assert [s.id for s in await models.specs()] == ["b", "c"]
    assert await models.default_id() == "b"


async def test_a_name_without_a_tag_is_ollamas_latest():
    models, _ = catalogue(Found("qwen3:latest", "qwen3:8b"))
    assert (await models.get("qwen3")).spec.id == "qwen3:latest"


async def test_the_demo_model_starts_only_where_nothing_else_is():
    models, started = catalogue(Found("b"), demo=True)
    await models.default_id()
    assert started == []
    models, started = catalogue(Found(fails=True), demo=True)
    assert await models.default_id() == "demo"
    assert started == ["demo"]


async def test_without_any_model_the_three_ways_are_named():
    models, _ = catalogue(Found(fails=True))
    with pytest.raises(InvalidRequest) as error:
        await models.default_id()
    assert error.value.hint == THREE_WAYS
