"""B2: the research agent needs no vendored agent library; it is the runtime's own loop."""

import ast
from pathlib import Path

from inglenook.agent.assistant import Assistant
from inglenook.agent.strategies import RESEARCH, STRATEGIES
from tests.research.web_fakes import FakeSearch, FakeVisit, researcher
from tests.support import FunctionProvider, ask, bench

ROOT = Path(__file__).parents[2]
RESEARCH_CODE = sorted((ROOT / "src/inglenook/research").glob("*.py"))


def test_no_agent_library_is_vendored_or_locked():
    assert "smolagents" not in (ROOT / "uv.lock").read_text()
    assert not list((ROOT / "src").rglob("*smolagents*"))


def test_there_is_no_second_loop():
    """Nothing in the research layer asks a model: it sets values of the one agent."""
    for path in RESEARCH_CODE:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                assert node.module not in (
                    "inglenook.agent.loop",
                    "inglenook.agent.model_call",
                    "inglenook.providers.base",
                ), path


async def test_a_research_run_goes_through_the_same_agent_and_log(tmp_path: Path):
    assert STRATEGIES["research"] is RESEARCH
    async with bench(tmp_path, FunctionProvider(researcher), web=[FakeSearch(), FakeVisit()]) as b:
        agents = b.supervisor._agents  # pyright: ignore[reportPrivateUsage]
        assert {type(agent) for agent in agents.values()} == {Assistant}
        run = await b.run(ask(strategy="research", web=True))
        assert await b.replay(run["id"]) == run["answer"] == "It is 321 m high [2]."
