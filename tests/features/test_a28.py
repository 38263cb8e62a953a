"""A28: people are told to pick a tool-capable model, and qwen3 is named as one."""

from pathlib import Path

from inglenook.egress import Egress
from inglenook.providers.base import ModelAbilities, ModelSpec
from inglenook.providers.catalogue import THREE_WAYS, ModelCatalogue
from inglenook.runs.doctor import check_models
from tests.support import FunctionProvider, say

ROOT = Path(__file__).parents[2]


class Toolless(FunctionProvider):
    async def abilities(self, egress: Egress | None = None) -> ModelAbilities:
        return ModelAbilities(tools=False, context_tokens=4096)


async def test_a_model_without_tools_is_marked_with_the_way_out():
    models = ModelCatalogue(
        configured=[ModelSpec(id="old", provider="ollama", model="old", base_url="http://x")],
        discoveries=[],
        make_provider=lambda spec: Toolless(lambda _: say("")),
    )
    [check] = await check_models(models)
    assert check.state == "warn"
    assert "takes no tools" in check.why
    assert "qwen3" in check.fix
    [report] = await models.reports()
    assert report.abilities.tools is False


def test_the_documentation_and_the_messages_name_qwen3():
    assert "qwen3" in (ROOT / "README.md").read_text()
    assert "qwen3" in THREE_WAYS
