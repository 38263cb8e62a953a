"""N1: Ollama's silent cut is seen, the reply refused, room made, and the log says so."""

from pathlib import Path

from inglenook.events import ContextCompacted, ModelReplied
from inglenook.messages import Message
from inglenook.providers.base import ModelAbilities
from tests.agent.test_context_window import looking, of, page, reads, running
from tests.agent.windowed_model import WindowedModel
from tests.support import MODEL, ask


async def test_it_grows_where_it_may(tmp_path: Path):
    model = WindowedModel(
        looking(0), abilities=ModelAbilities(context_tokens=40_960), tokens_per_estimate=1.4
    )
    async with running(tmp_path, model) as b:
        long = (Message(role="user", text=page(28_000)),)
        run = await b.run(ask().model_copy(update={"messages": long}))
        events = await b.service.events(run["id"])
    assert run["status"] == "complete"
    assert [reply.rejected for reply in of(ModelReplied, events)] == ["context_truncated", None]
    assert of(ContextCompacted, events) == []
    assert model.asked[-1].window == 16_384


async def test_else_it_compacts(tmp_path: Path):
    model = WindowedModel(looking(6), serves=4_096)
    async with running(tmp_path, model, tools=[reads()]) as b:
        run = await b.run()
        events = await b.service.events(run["id"])
    assert run["status"] == "complete", run["explanation"]
    assert any(reply.rejected == "context_truncated" for reply in of(ModelReplied, events))
    assert of(ContextCompacted, events)


def test_the_model_here_asks_for_no_window_of_its_own():
    assert MODEL.context_tokens is None
