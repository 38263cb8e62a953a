"""What one run learns of its model is there for the next."""

from dataclasses import replace
from pathlib import Path

from inglenook.events import PromptBuilt
from inglenook.messages import Message, ToolCall, Usage
from inglenook.providers.base import ModelReply
from inglenook.providers.catalogue import ModelCatalogue
from inglenook.providers.model_memory import ModelMemory
from inglenook.providers.scripted import ScriptedProvider
from tests.support import MODEL, EchoTool, bench

EXAMPLES = (
    Message(role="user", text="Echo a."),
    Message(
        role="assistant", tool_calls=(ToolCall(id="e1", name="echo", arguments={"text": "a"}),)
    ),
    Message(role="tool", text="a", call_id="e1", tool_name="echo"),
    Message(role="assistant", text="a"),
)


async def prompts_of(home: Path, memory: ModelMemory, *counted: int) -> list[PromptBuilt]:
    """The prompts of runs whose one prompt the server counts as so many tokens."""
    spec = replace(MODEL, examples=EXAMPLES)
    replies = [
        ModelReply(
            message=Message(role="assistant", text="ok"),
            usage=Usage(input_tokens=n, output_tokens=1),
        )
        for n in counted
    ]
    provider = ScriptedProvider(replies)
    models = ModelCatalogue(
        configured=[spec], discoveries=[], make_provider=lambda _: provider, memory=memory
    )
    prompts: list[PromptBuilt] = []
    async with bench(home, provider, models=models, tools=[EchoTool()]) as b:
        for _ in counted:
            run = await b.run()
            events = await b.service.events(run["id"])
            prompts += [event for event in events if isinstance(event, PromptBuilt)]
            assert await b.replay(run["id"]) == "ok"
    return prompts


async def test_the_token_ratio_of_a_run_is_the_next_ones_at_its_start(tmp_path: Path):
    memory = ModelMemory(tmp_path / "models.json")
    first, second = await prompts_of(tmp_path / "h", memory, 500, 500)
    assert first.token_ratio == 1.0
    assert second.token_ratio != 1.0
    memory.save()
    [later] = await prompts_of(tmp_path / "h", ModelMemory(tmp_path / "models.json"), 500)
    assert later.token_ratio == second.token_ratio


async def test_a_ratio_that_cannot_be_true_is_not_used(tmp_path: Path):
    memory = ModelMemory()
    for ratio in (40.0, float("nan"), -1.0):
        memory.learned(MODEL, token_ratio=ratio)
        [prompt] = await prompts_of(tmp_path / "h", memory, 10)
        assert prompt.token_ratio == 1.0


async def test_worked_examples_are_left_out_of_envelopes(tmp_path: Path):
    memory = ModelMemory()
    [native] = await prompts_of(tmp_path / "h", memory, 10)
    memory.found(MODEL, "envelope", "refused")
    [envelope] = await prompts_of(tmp_path / "h", memory, 10)
    assert native.examples == EXAMPLES
    assert envelope.examples == ()
