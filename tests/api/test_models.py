"""/api/models: abilities, the default, and what is wrong with a model."""

from collections.abc import Sequence
from pathlib import Path

from inglenook.egress import Egress
from inglenook.errors import ProviderError
from inglenook.providers.base import ModelAbilities, ModelProvider, ModelSpec
from inglenook.providers.catalogue import ModelCatalogue
from inglenook.providers.scripted import ScriptedProvider
from tests.api.serving import serve
from tests.support import bench, replies, say


class SilentProvider(ScriptedProvider):
    async def abilities(self, egress: Egress | None = None) -> ModelAbilities:
        raise ProviderError("cannot reach http://127.0.0.1:1")


def catalogue(specs: Sequence[ModelSpec]) -> ModelCatalogue:
    def provider(spec: ModelSpec) -> ModelProvider:
        if spec.id == "gone":
            return SilentProvider()
        return ScriptedProvider(abilities=ModelAbilities(tools=True, context_tokens=40_960))

    return ModelCatalogue(configured=specs, discoveries=[], make_provider=provider)


def spec(id: str, context_tokens: int | None = None, note: str = "") -> ModelSpec:
    return ModelSpec(
        id=id,
        provider="ollama",
        model=f"{id}:latest",
        base_url="http://127.0.0.1:1",
        api_key="sk-model-canary",
        context_tokens=context_tokens,
        note=note,
    )


async def test_models_come_with_abilities_and_without_keys(tmp_path: Path):
    models = catalogue([spec("qwen3", 8192, "A small one."), spec("gone")])
    async with bench(tmp_path, replies(say("x"))) as b, serve(b, models=models) as client:
        answer = await client.get("/api/models")
    assert answer.json == {
        "items": [
            {
                "id": "qwen3",
                "provider": "ollama",
                "model": "qwen3:latest",
                "abilities": {"tools": True, "thinking": None, "context_tokens": 8192},
                "window": {"configured": 8192, "used": 8192, "served": None},
                "tool_mode": {"configured": "auto", "found": None, "because": None},
                "seconds_per_1000_tokens": {"read": None, "write": None},
                "note": "A small one.",
                "error": None,
            },
            {
                "id": "gone",
                "provider": "ollama",
                "model": "gone:latest",
                "abilities": {"tools": None, "thinking": None, "context_tokens": None},
                "window": {"configured": None, "used": 8192, "served": None},
                "tool_mode": {"configured": "auto", "found": None, "because": None},
                "seconds_per_1000_tokens": {"read": None, "write": None},
                "note": None,
                "error": "cannot reach http://127.0.0.1:1",
            },
        ],
        "default": "qwen3",
    }
    assert b"sk-model-canary" not in answer.body


async def test_without_any_model_the_ways_to_get_one_are_told(tmp_path: Path):
    async with bench(tmp_path, replies(say("x"))) as b, serve(b, models=catalogue([])) as client:
        answer = (await client.get("/api/models")).json
        assert (answer["items"], answer["default"]) == ([], None)
        assert "ollama pull" in answer["hint"]
        assert (await client.get("/v1/models")).json == {"object": "list", "data": []}


async def test_a_model_without_its_key_is_listed_and_a_run_of_it_is_refused(tmp_path: Path):
    fault = "model 'keyless': the environment has no BIG_KEY; set it to the key and start again"
    models = ModelCatalogue(
        configured=[spec("good"), spec("keyless")],
        discoveries=[],
        make_provider=lambda _: ScriptedProvider(abilities=ModelAbilities(tools=True)),
        faults={"keyless": fault},
    )
    async with bench(tmp_path, replies(say("x")), models=models) as b, serve(b) as client:
        listed = (await client.get("/api/models")).json["items"]
        assert [(item["id"], item["error"]) for item in listed] == [
            ("good", None),
            ("keyless", fault),
        ]
        body = {"model": "keyless", "messages": [{"role": "user", "content": "hi"}]}
        for path in ("/api/runs", "/agent/run", "/v1/chat/completions"):
            answer = await client.post(path, body)
            assert (answer.status, "BIG_KEY" in answer.body.decode()) == (422, True)
        assert (await client.get("/api/runs")).json["items"] == []
