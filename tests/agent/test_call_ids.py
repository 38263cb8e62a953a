"""A call's id is its own in the whole run, also where its server counts from the start again."""

from collections.abc import Sequence
from pathlib import Path

from inglenook.agent.call_ids import with_own_ids
from inglenook.messages import Message
from inglenook.providers.base import ModelReply
from tests.support import EchoTool, FunctionProvider, bench, call, results, say


def reply(*ids: str) -> ModelReply:
    return ModelReply(message=say("", *(call("echo", id, text=id) for id in ids)))


def test_ids_that_are_new_stay() -> None:
    given = reply("call_1", "call_2")
    assert with_own_ids(given, {"call_0"}) is given


def test_an_id_of_an_earlier_call_is_replaced_and_the_others_stay() -> None:
    mended = with_own_ids(reply("call_1", "call_2"), {"call_1"}).message.tool_calls
    assert mended[0].id not in ("call_1", "call_2")
    assert mended[1].id == "call_2"
    assert [each.arguments for each in mended] == [{"text": "call_1"}, {"text": "call_2"}]


async def test_two_calls_of_one_id_far_apart_have_results_of_their_own(tmp_path: Path) -> None:
    def script(messages: Sequence[Message]) -> Message:
        n = results(messages)
        return say("", call("echo", "call_1", text=f"n{n}")) if n < 3 else say("Done.")

    async with bench(tmp_path, FunctionProvider(script), tools=[EchoTool()]) as b:
        run = await b.run()
        events = await b.service.events(run["id"])
        await b.replay(run["id"])
    ids = [event.call.id for event in events if event.type == "tool_finished"]
    assert len(set(ids)) == 3
    assert run["status"] == "complete"
