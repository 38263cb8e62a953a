"""A call that nobody can read: one request to write it again, then the run ends and says why."""

from pathlib import Path

from inglenook.events import GuardrailObjected, ModelReplied, ToolFinished, ToolStarted
from inglenook.messages import Message, ToolCall
from inglenook.providers.base import ModelReply
from inglenook.providers.calls import MALFORMED_ARGUMENTS
from inglenook.providers.scripted import ScriptedProvider
from tests.support import EchoTool, bench, call, say

WHY = "the JSON of the call of 'echo' ends too early"


def broken(text: str = "", finish: str = "stop") -> ModelReply:
    return ModelReply(message=say(text), finish_reason=finish, malformed_call=WHY)


def cut(*calls: ToolCall, recovered_from: str | None = None) -> ModelReply:
    return ModelReply(
        message=say("", *calls), finish_reason="length", recovered_from=recovered_from
    )


async def test_the_model_is_told_once_what_was_wrong_and_goes_on(tmp_path: Path):
    provider = ScriptedProvider([broken(), say("", call("echo", text="x")), say("done")])
    async with bench(tmp_path, provider, tools=[EchoTool()]) as b:
        run = await b.run()
        events = await b.service.events(run["id"])
        assert (run["status"], run["answer"]) == ("complete", "done")
        (objected,) = [e for e in events if isinstance(e, GuardrailObjected)]
        assert objected.guardrail == "unreadable_call"
        assert WHY in objected.text
        told = provider.seen[1].messages[-1]
        assert (told.role, told.text) == ("system", objected.text)
        assert [e.malformed_call for e in events if isinstance(e, ModelReplied)] == [
            WHY,
            None,
            None,
        ]
        assert await b.replay(run["id"]) == "done"


async def test_the_second_one_in_a_row_ends_the_run_visibly(tmp_path: Path):
    provider = ScriptedProvider([broken("Let me see."), broken(), say("never asked for")])
    async with bench(tmp_path, provider, tools=[EchoTool()]) as b:
        run = await b.run()
        assert (run["status"], run["reason"]) == ("incomplete", "empty_model_reply")
        assert WHY in run["explanation"]
        assert run["answer"] == "Let me see.", "what the model said, never the broken call"
        assert await b.replay(run["id"]) == "Let me see."


async def test_a_good_reply_between_two_broken_ones_starts_the_count_again(tmp_path: Path):
    provider = ScriptedProvider(
        [broken(), say("", call("echo", "1", text="x")), broken(), say("done")]
    )
    async with bench(tmp_path, provider, tools=[EchoTool()]) as b:
        assert (await b.run())["status"] == "complete"


async def test_an_unreadable_call_is_no_empty_reply(tmp_path: Path):
    async with bench(tmp_path, ScriptedProvider([broken(), say(""), say("done")])) as b:
        run = await b.run()
        events = await b.service.events(run["id"])
        assert run["answer"] == "done"
        names = [e.guardrail for e in events if isinstance(e, GuardrailObjected)]
        assert names == ["unreadable_call", "empty_reply"]


async def test_a_cut_call_of_a_tool_with_an_effect_is_not_run(tmp_path: Path):
    for tool in (EchoTool(effect="write"), EchoTool("web_search", open_world=True)):
        whole = say("", call(tool.name, "2", text="all"))
        provider = ScriptedProvider([cut(call(tool.name, text="half")), whole, say("done")])
        home = tmp_path / tool.effect
        web = [tool] if tool.open_world else []
        async with bench(home, provider, tools=[] if web else [tool], web=web) as b:
            run = await b.run(web=tool.open_world)
            events = await b.service.events(run["id"])
            assert run["answer"] == "done"
            assert tool.calls == ["all"]
            replied = next(e for e in events if isinstance(e, ModelReplied))
            assert replied.malformed_call is not None
            assert f"{tool.name!r} was cut off" in replied.malformed_call
            assert '"half"' in replied.repairs[-1], "what came is kept"
            told = provider.seen[1].messages[-1].text
            assert "shorter" in told
            assert await b.replay(run["id"]) == "done"


async def test_calls_cut_off_again_end_the_run_and_say_what_helps(tmp_path: Path):
    tool = EchoTool(effect="write")
    calls = [cut(call("echo", str(n), text="half")) for n in range(2)]
    async with bench(tmp_path, ScriptedProvider(calls), tools=[tool]) as b:
        run = await b.run()
        assert (run["status"], run["reason"]) == ("incomplete", "empty_model_reply")
        assert "raise the run's output tokens" in run["explanation"]
        assert tool.calls == []


async def test_a_cut_call_of_a_tool_that_reads_here_runs(tmp_path: Path):
    tool = EchoTool()
    provider = ScriptedProvider([cut(call("echo", text="half")), say("done")])
    async with bench(tmp_path, provider, tools=[tool]) as b:
        assert (await b.run())["answer"] == "done"
        assert tool.calls == ["half"]


async def test_a_call_read_whole_from_text_runs_though_the_reply_was_cut_behind_it(tmp_path: Path):
    tool = EchoTool(effect="write")
    provider = ScriptedProvider(
        [cut(call("echo", text="all"), recovered_from="content"), say("done")]
    )
    async with bench(tmp_path, provider, tools=[tool]) as b:
        assert (await b.run())["answer"] == "done"
        assert tool.calls == ["all"]


async def test_cut_arguments_that_are_no_json_take_the_same_way(tmp_path: Path):
    half = ToolCall(id="c", name="echo", arguments={MALFORMED_ARGUMENTS: '{"text": "ha'})
    provider = ScriptedProvider([cut(half), say("done")])
    async with bench(tmp_path, provider, tools=[EchoTool()]) as b:
        run = await b.run()
        events = await b.service.events(run["id"])
    assert run["answer"] == "done"
    assert not [e for e in events if isinstance(e, (ToolStarted, ToolFinished))]
    assert isinstance(provider.seen[1].messages[-1], Message)
    assert "was cut off" in provider.seen[1].messages[-1].text
