"""A result that is too long is kept whole, shown in part and read on without loss."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from inglenook.events import ToolFinished
from inglenook.messages import Message, ToolCall
from tests.support import MODEL, EchoTool, FunctionProvider, ask, bench, call, say

WHOLE = "".join(f"line {n}: what was found there\n" for n in range(700))
SPEC = replace(MODEL, context_tokens=16_384)


def read_on(call_id: str, id: str, offset: int) -> ToolCall:
    return ToolCall(id=call_id, name="read_result", arguments={"id": id, "offset": offset})


def reader(messages: Sequence[Message]) -> Message:
    """Calls the tool, then reads its result on to the end, as the notes say."""
    last = messages[-1]
    if last.role != "tool":
        return say("", call("echo", "c0", text="go"))
    if "continue with offset=" in last.text:
        offset = int(last.text.rsplit("offset=", 1)[1].rstrip("]"))
        return say("", read_on(f"c{len(messages)}", "r1", offset))
    if "call read_result with" in last.text:
        offset = int(last.text.rsplit('"offset": ', 1)[1].split("}")[0])
        return say("", read_on(f"c{len(messages)}", "r1", offset))
    return say("read to the end")


async def test_all_of_it_can_be_read(tmp_path: Path):
    provider = FunctionProvider(reader)
    tool = EchoTool(answer=lambda _: WHOLE)
    async with bench(tmp_path, provider, tools=[tool], spec=SPEC) as b:
        run = await b.run()
        events = await b.service.events(run["id"])
        assert run["answer"] == "read to the end"
        assert await b.replay(run["id"]) == run["answer"]
    finished = [event for event in events if isinstance(event, ToolFinished)]
    assert finished[0].result == WHOLE, "the log has it whole"
    assert finished[0].truncated_to is not None
    shown = [m.text for m in provider.views[-1] if m.role == "tool"]
    assert len(shown) > 1
    pages = [shown[0].split("\n\n[Shown: ")[0]]
    pages += [text.rsplit("\n[characters ", 1)[0] for text in shown[1:]]
    assert "".join(pages) == WHOLE
    assert f"of {len(WHOLE):,} characters" in shown[0]


async def test_an_unknown_result_and_an_offset_past_the_end_name_what_there_is(tmp_path: Path):
    asked = [("r9", 0), ("r1", 10**6)]

    def script(messages: Sequence[Message]) -> Message:
        done = sum(m.role == "tool" for m in messages)
        if done == 0:
            return say("", call("echo", "c", text="go"))
        if done <= 2:
            id, offset = asked[done - 1]
            return say("", read_on(f"c{done}", id, offset))
        return say("ok")

    provider = FunctionProvider(script)
    tool = EchoTool(answer=lambda _: WHOLE)
    async with bench(tmp_path, provider, tools=[tool], spec=SPEC) as b:
        await b.run()
    texts = [m.text for m in provider.views[-1] if m.role == "tool"]
    assert "r9" in texts[1]
    assert "ids: r1" in texts[1]
    assert str(len(WHOLE)) in texts[2]


async def test_where_the_tool_is_not_offered_the_note_does_not_name_it(tmp_path: Path):
    provider = FunctionProvider(
        lambda messages: say("ok") if messages[-1].role == "tool" else say("", call("echo"))
    )
    tool = EchoTool(answer=lambda _: WHOLE)
    async with bench(tmp_path, provider, tools=[tool], spec=SPEC) as b:
        await b.run(ask(tools=("echo",)))
    shown = provider.views[-1][-1].text
    assert "read_result" not in shown
    assert "Ask for a smaller part" in shown


async def test_the_configured_part_of_a_result_is_what_a_model_is_shown(tmp_path: Path):
    provider = FunctionProvider(
        lambda view: say("ok") if view[-1].role == "tool" else say("", call("echo", text="x"))
    )
    tools = [EchoTool(answer=lambda _: WHOLE)]
    async with bench(tmp_path, provider, tools=tools, tool_result_tokens=400) as b:
        await b.run()
    shown = provider.views[-1][-1].text
    assert "read_result" in shown
    assert 1_000 < len(shown) < 2_000
