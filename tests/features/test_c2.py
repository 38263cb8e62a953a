"""C2: provider, context, registry, loop and store are separate parts behind small Protocols.

Each is replaced here alone, by one that does something visible; the others do not notice.
"""

from collections.abc import Sequence
from pathlib import Path

from inglenook.agent.guardrails import EmptyReplyGuardrail
from inglenook.agent.loop import AgentLoop
from inglenook.agent.state import FoldingSink, RunState
from inglenook.context.base import Cut
from inglenook.context.window import Window
from inglenook.events import (
    EventSink,
    PromptBuilt,
    RunEvent,
    RunStarted,
    TextDelta,
    Versions,
)
from inglenook.messages import Message
from inglenook.run_context import Limits, RunContext
from inglenook.run_request import RunPermissions
from inglenook.tools.registry import ToolRegistry
from tests.support import EchoTool, ask, bench, call, replies, say


class ListSink:
    """An event log that is a list."""

    def __init__(self) -> None:
        self.events: list[RunEvent] = []

    def emit(self, event: RunEvent) -> None:
        self.events.append(event)

    async def settle(self, *, sync: bool = False) -> None: ...

    def publish(self, delta: TextDelta) -> None: ...


class LastTwo:
    """A context policy that shows the system message and the last message."""

    version = "last-two@1"

    def view(self, history: Sequence[Message]) -> Sequence[Message]:
        return [history[0], history[-1]]

    def cut(
        self, history: Sequence[Message], *, fixed: int, room_tokens: int, attempt: int
    ) -> Cut | None:
        return None


async def nobody_knows() -> Window:
    return Window()


async def test_the_loop_runs_on_other_parts(tmp_path: Path):
    sink: EventSink = ListSink()
    state = RunState(
        [
            RunStarted(
                request=ask("go"),
                model="m",
                versions=Versions(strategy="s", scheduler="s", context="c"),
                permissions=RunPermissions(),
                today="2031-02-03",
            ),
            PromptBuilt(system="be brief", tools=("echo",), max_steps=5),
        ]
    )
    provider = replies(say("", call("echo", text="x")), say("done"))
    loop = AgentLoop(
        provider=provider,
        context=LastTwo(),
        tools=ToolRegistry([EchoTool()]),
        guardrails=[EmptyReplyGuardrail()],
        served_window=nobody_knows,
    )
    run = RunContext(
        run_id="r", sink=FoldingSink(sink, state), limits=Limits(max_steps=5), today="2031-02-03"
    )
    assert await loop.run(state, run) == "done"
    assert [len(view) for view in provider.views] == [2, 2]


async def test_the_same_loop_runs_on_the_durable_parts(tmp_path: Path):
    async with bench(tmp_path, replies(say("done"))) as b:
        assert (await b.run())["answer"] == "done"
