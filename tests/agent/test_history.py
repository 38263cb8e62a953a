"""Posted histories are mended where the run takes them up; the log keeps what was posted."""

from pathlib import Path

from inglenook.agent.state import RunState
from inglenook.context.cleanup import NOT_RECORDED
from inglenook.events import RunStarted
from inglenook.messages import Message, ToolCall
from inglenook.run_request import RunRequest
from tests.support import EchoTool, bench, call, replies, say, user

ASKED = say("", ToolCall(id="1", name="echo", arguments={"text": "a"}))
RESULT = Message(role="tool", text="a", call_id="1", tool_name="echo")
VALID = (user("first"), ASKED, RESULT, say("It is a."), user("second"))
BROKEN = (say("Hello!"), user("first"), ASKED, user("second"))


def request(messages: tuple[Message, ...]) -> RunRequest:
    return RunRequest(model="m", messages=messages)


async def test_what_is_valid_is_sent_as_the_objects_that_were_posted(tmp_path: Path):
    provider = replies(say("ok"))
    async with bench(tmp_path, provider) as b:
        run = await b.run(request(VALID))
        events = await b.service.events(run["id"])
    assert tuple(provider.views[0][1:]) == VALID
    [started] = [event for event in events if isinstance(event, RunStarted)]
    folded = RunState(events).messages[1:-1]
    assert all(a is b for a, b in zip(folded, started.request.messages, strict=True))


async def test_what_is_not_is_mended_for_the_model_and_stored_as_it_was(tmp_path: Path):
    provider = replies(say("", call("echo", "2", text="b")), say("ok"))
    async with bench(tmp_path, provider, tools=[EchoTool()]) as b:
        run = await b.run(request(BROKEN))
        events = await b.service.events(run["id"])
        assert await b.replay(run["id"]) == run["answer"] == "ok"
    assert [m.text for m in provider.views[0] if m.role == "tool"] == [NOT_RECORDED]
    [started] = [event for event in events if isinstance(event, RunStarted)]
    assert started.request.messages == BROKEN
    assert RunState(events).messages[: len(provider.views[1])] == provider.views[1]


async def test_a_posted_id_that_repeats_does_not_confuse_the_runs_own_calls(tmp_path: Path):
    history = (*VALID[:-1], user("again"), ASKED, RESULT, user("and now?"))
    provider = replies(say("", call("echo", "2", text="b")), say("ok"))
    async with bench(tmp_path, provider, tools=[EchoTool()]) as b:
        await b.run(request(history))
    ids = [call.id for message in provider.views[1] for call in message.tool_calls]
    assert len(ids) == len(set(ids)) == 3
