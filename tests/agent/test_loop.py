"""The loop's ways through a run: tools, errors, limits, guards."""

import asyncio
from pathlib import Path

from inglenook.events import ModelRequested, ToolFinished
from inglenook.messages import Message
from inglenook.run_request import RequestLimits, RunRequest
from tests.support import EchoTool, FunctionProvider, bench, call, replies, say, types


async def test_a_reply_without_calls_is_the_answer(tmp_path: Path):
    async with bench(tmp_path, replies(say("Forty-two."))) as b:
        run = await b.run(text="what?")
        assert (run["status"], run["reason"], run["answer"]) == ("complete", None, "Forty-two.")
        assert types(await b.service.events(run["id"])) == [
            "run_started",
            "prompt_built",
            "step_started",
            "model_requested",
            "model_replied",
            "run_finished",
        ]


async def test_results_come_back_in_the_models_order(tmp_path: Path):
    fast_has_run = asyncio.Event()

    def answer(text: str) -> str:
        fast_has_run.set()
        return text

    slow, fast = EchoTool("slow", go=fast_has_run), EchoTool("fast", answer=answer)
    provider = replies(
        say("", call("slow", "1", text="a"), call("fast", "2", text="b")), say("done")
    )
    async with bench(tmp_path, provider, tools=[slow, fast]) as b:
        await b.run()
        shown = [m.text for m in provider.views[1] if m.role == "tool"]
        assert shown == ["a", "b"]


async def test_a_failed_tool_is_a_result_and_the_run_goes_on(tmp_path: Path):
    def crash(_: str) -> str:
        raise ValueError("boom")

    provider = replies(say("", call("bad", text="x")), say("I could not."))
    async with bench(tmp_path, provider, tools=[EchoTool("bad", answer=crash)]) as b:
        run = await b.run()
        assert run["status"] == "complete"
        finished = [e for e in await b.service.events(run["id"]) if isinstance(e, ToolFinished)]
        assert finished[0].is_error
        assert "boom" not in finished[0].result  # the log has it; the model gets a plain sentence


async def test_wrong_arguments_name_the_field(tmp_path: Path):
    provider = replies(say("", call("echo", text=["no", "no"], more=1)), say("ok"))
    async with bench(tmp_path, provider, tools=[EchoTool()]) as b:
        run = await b.run()
        [finished] = [e for e in await b.service.events(run["id"]) if isinstance(e, ToolFinished)]
        assert finished.is_error
        assert "text:" in finished.result
        assert "['no', 'no']" in finished.result


async def test_the_step_limit_ends_with_the_last_words_and_says_so(tmp_path: Path):
    n = iter(range(100))
    provider = FunctionProvider(
        lambda _: say(f"thought {next(n)}", call("echo", f"c{next(n)}", text=str(next(n))))
    )
    async with bench(tmp_path, provider, tools=[EchoTool()]) as b:
        run = await b.run(limits=RequestLimits(steps=3))
        assert (run["status"], run["reason"]) == ("incomplete", "step_limit")
        assert run["answer"].startswith("thought")
        assert "3 steps" in run["explanation"]
        assert len(provider.views) == 3
        assert "one step is left" in provider.views[2][-1].text


async def test_the_time_limit_ends_a_hanging_model(tmp_path: Path):
    provider = FunctionProvider(lambda _: say("late"), delay_s=60)
    async with bench(tmp_path, provider) as b:
        run = await b.run(limits=RequestLimits(seconds=0.1))
        assert (run["status"], run["reason"]) == ("incomplete", "time_limit")


async def test_posted_system_messages_join_the_one_system_message(tmp_path: Path):
    provider = replies(say("ok"))
    async with bench(tmp_path, provider) as b:
        await b.run(
            RunRequest(
                model="m",
                messages=(
                    Message(role="system", text="Speak French."),
                    Message(role="user", text="hi"),
                ),
            )
        )
        view = provider.views[0]
        assert [m.role for m in view] == ["system", "user"]
        assert view[0].text.endswith("Speak French.")


async def test_view_digests_differ_by_content_and_hold_for_equal_views(tmp_path: Path):
    async def digests(folder: str, result: str) -> list[str]:
        provider = replies(say("", call("echo", text="x")), say("done"))
        tool = EchoTool(answer=lambda _: result)
        async with bench(tmp_path / folder, provider, tools=[tool]) as b:
            run = await b.run()
            events = await b.service.events(run["id"])
            return [e.view_digest for e in events if isinstance(e, ModelRequested)]

    one, same, other = [await digests(*pair) for pair in (("a", "1"), ("b", "1"), ("c", "2"))]
    assert one == same
    assert one[0] == other[0]
    assert one[1] != other[1]
