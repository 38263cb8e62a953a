"""Which models are offered, from where, and what is said when there is none."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from inglenook.errors import ConfigError, InvalidRequest, NotFound, ProviderBusy, ProviderError
from inglenook.providers.base import ModelProvider, ModelSpec
from inglenook.providers.catalogue import THREE_WAYS, DemoOffer, ModelCatalogue
from inglenook.providers.scripted import ScriptedProvider


def spec(id: str) -> ModelSpec:
    return ModelSpec(id=id, provider="ollama", model=id, base_url="http://127.0.0.1:1")


class Place:
    def __init__(
        self, *ids: str, error: Exception | None = None, named_by: str | None = None
    ) -> None:
        self._ids = ids
        self._error = error
        self.name = "Ollama at http://box:11434"
        self.named_by = named_by

    async def find(self) -> Sequence[ModelSpec]:
        if self._error is not None:
            raise self._error
        return [spec(id) for id in self._ids]


DOWN = ProviderBusy("the model server at http://box:11434 cannot be reached")


class Demo:
    def __init__(self, *, is_fetched: bool = False, error: ProviderError | None = None) -> None:
        self.starts = 0
        self._error = error
        self.offer = DemoOffer(
            spec=replace(spec("demo"), note="It is small."),
            is_fetched=lambda: is_fetched,
            ensure=self._ensure,
        )

    async def _ensure(self) -> ModelSpec:
        self.starts += 1
        if self._error is not None:
            raise self._error
        return self.offer.spec


def make_provider(spec: ModelSpec) -> ModelProvider:
    if spec.reasoning_effort:
        raise ConfigError(f"model {spec.id!r}: reasoning_effort has no place here")
    return ScriptedProvider()


def catalogue(
    *places: Place,
    configured: Sequence[str | ModelSpec] = (),
    demo: Demo | None = None,
    faults: dict[str, str] | None = None,
) -> ModelCatalogue:
    return ModelCatalogue(
        configured=[spec(each) if isinstance(each, str) else each for each in configured],
        discoveries=places,
        make_provider=make_provider,
        demo=demo.offer if demo else None,
        faults=faults,
    )


async def test_configured_models_hide_what_servers_have():
    models = catalogue(Place("b"), configured=["a"])
    assert await models.default_id() == "a"
    with pytest.raises(NotFound, match="models here: a"):
        await models.get("b")


async def test_a_server_that_is_away_does_not_hide_the_others():
    models = catalogue(Place(error=DOWN), Place("b", "c"))
    assert [s.id for s in await models.specs()] == ["b", "c"]
    assert await models.default_id() == "b"


async def test_a_name_without_a_tag_is_ollamas_latest():
    models = catalogue(Place("qwen3:latest", "qwen3:8b"))
    assert (await models.get("qwen3")).spec.id == "qwen3:latest"


async def test_without_any_model_the_three_ways_are_named():
    for models in (catalogue(Place(error=DOWN)), catalogue(Place())):
        for ask in (models.default_id, models.reports):
            with pytest.raises(InvalidRequest) as error:
                await ask()
            assert error.value.hint == THREE_WAYS


async def test_the_demo_model_starts_only_for_a_run_with_it():
    demo = Demo()
    models = catalogue(Place("b"), demo=demo)
    assert await models.default_id() == "b"
    models = catalogue(Place(error=DOWN), demo=demo)
    assert await models.default_id() == "demo"
    assert [each.id for each in await models.specs()] == ["demo"]
    with pytest.raises(ProviderBusy, match="models here: demo"):
        await models.get("other")
    assert demo.starts == 0
    assert (await models.get("demo")).spec.id == "demo"
    assert demo.starts == 1


@pytest.mark.parametrize("is_fetched", [False, True])
async def test_the_demo_model_can_be_listed_without_fetching_it(is_fetched: bool):
    demo = Demo(is_fetched=is_fetched)
    models = catalogue(Place(error=DOWN), demo=demo)
    [report] = await models.reports(start_demo=False)
    words = "Fetched. It is small." if is_fetched else "Not fetched yet: "
    assert report.spec.note.startswith(words)
    assert (report.spec.id, report.error, report.is_fetched) == ("demo", None, is_fetched)
    assert models.has_fetched_demo is is_fetched
    assert demo.starts == 0
    await models.reports()
    assert demo.starts == 1


async def test_a_named_server_that_is_down_is_named_with_its_variable():
    models = catalogue(Place(error=DOWN, named_by="OLLAMA_HOST"))
    words = "Ollama at http://box:11434, named by OLLAMA_HOST, does not answer"
    for ask in (models.default_id, models.reports, lambda: models.get("qwen3")):
        with pytest.raises(ProviderBusy, match=words):
            await ask()
    with pytest.raises(ProviderBusy) as error:
        await models.default_id()
    assert str(error.value).endswith(THREE_WAYS)
    assert len(await models.unanswered()) == 1


async def test_a_named_server_that_refuses_is_no_server_that_may_come_back():
    refusal = ProviderError("HTTP 401: check the key", status=401)
    models = catalogue(Place(error=refusal, named_by="OPENAI_BASE_URL"))
    with pytest.raises(ProviderError, match="named by OPENAI_BASE_URL.*check the key") as caught:
        await models.get("qwen3")
    assert not isinstance(caught.value, ProviderBusy)


async def test_an_address_that_is_none_hides_no_other_server():
    models = catalogue(Place(error=ConfigError("base_url is no address")), Place("b"))
    assert await models.default_id() == "b"


async def test_a_model_that_may_be_at_a_server_which_is_down_is_not_said_to_be_missing():
    """A run that is taken up again before its server is must not end for it."""
    for named_by in (None, "OLLAMA_HOST"):
        with pytest.raises(ProviderBusy, match="'qwen3' cannot be had now .*Ollama at"):
            await catalogue(Place(error=DOWN, named_by=named_by)).get("qwen3")
    beside = catalogue(Place("b"), Place(error=DOWN, named_by="OLLAMA_HOST"))
    with pytest.raises(ProviderBusy, match="models here: b"):
        await beside.get("qwen3")
    assert (await beside.get("b")).spec.id == "b"


async def test_where_a_server_answers_one_that_nobody_named_is_not_waited_for():
    models = catalogue(Place("b", named_by="OPENAI_BASE_URL"), Place(error=DOWN))
    with pytest.raises(NotFound, match="models here: b"):
        await models.get("qwen3")
    assert await models.unanswered() == []


async def test_a_model_that_cannot_be_used_is_listed_with_why_and_stops_no_other():
    strange = replace(spec("strange"), reasoning_effort="high")
    models = catalogue(
        configured=["keyless", "good", strange],
        faults={"keyless": "model 'keyless': the environment has no BIG_KEY"},
    )
    errors = {report.spec.id: report.error for report in await models.reports()}
    assert errors == {
        "keyless": "model 'keyless': the environment has no BIG_KEY",
        "good": None,
        "strange": "model 'strange': reasoning_effort has no place here",
    }
    assert (await models.get("good")).spec.id == "good"
    for id, words in (("keyless", "BIG_KEY"), ("strange", "reasoning_effort")):
        with pytest.raises(InvalidRequest, match=words) as error:
            await models.get(id)
        assert (error.value.status, error.value.field) == (422, "model")
    assert await models.default_id() == "keyless", "no other model takes the place of the default"
